"""The bundled panda driven by a law in simulated time: no ROS, no wall clock."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from fleets import MODEL

import warpdyn as wd

HAND = "panda_hand"
READY = np.array([0.0, -0.785398, 0.0, -2.356194, 0.0, 1.570796, 0.785398, 0.02])
GRAVITY = (0.0, 0.0, -9.81)


class DrivenArm:
    """Robots of one model driven by a law's kernel.

    `inputs` are its arrays by name, (B, ...). The integration is semi-implicit Euler. The torques
    of a step belong to the state at its beginning.
    """

    def __init__(self, law: Any, q: np.ndarray, model: wd.Model = MODEL, **inputs: Any) -> None:
        self.model = model
        self.q = np.atleast_2d(np.array(q, dtype=float))
        B = len(self.q)
        self.v, self.push = np.zeros((B, model.nv)), np.zeros((B, model.nv))
        self.tau, self.total, self.a = (np.zeros((B, model.nv)) for _ in range(3))
        options = {n: inputs.pop(n) for n in law.signature.defaults if n in inputs}
        known = {
            "q": self.q,
            "v": self.v,
            "q_desired": self.q.copy(),
            "q_posture": self.q.copy(),
            "v_desired": np.zeros_like(self.v),
            "a_desired": np.zeros_like(self.v),
            "f_ext": np.zeros((B, model.nlinks, 6)),
            "gravity": np.tile(GRAVITY, (B, 1)),
        }
        if "frame" in options:
            known["pose_desired"] = wd.fk(model, self.q, frame=options["frame"], form="pose")
        self.inputs = {}
        for name, each in law.signature.arrays.items():
            value = inputs.get(name, known.get(name))
            value = each.default[0] if value is None else value
            if name in ("q", "v"):
                self.inputs[name] = known[name]
            else:
                shape = (B, *each.sizes(model))
                self.inputs[name] = np.array(np.broadcast_to(value, shape), dtype=float)
        assert not inputs.keys() - self.inputs.keys(), "an input that the law lacks"
        self._law = wd.bind(law, model, **self.inputs, **options, out=self.tau)
        self._forward = wd.bind(wd.aba, model, self.q, self.v, self.total, out=self.a)

    def torques(self) -> np.ndarray:
        """The law's torques at the present state (B, nv)."""
        self._law()
        return self.tau

    def run(
        self,
        seconds: float,
        dt: float = 1e-3,
        seen: Callable[[], Any] | None = None,
        resistance: Callable[[np.ndarray], np.ndarray] | None = None,
    ) -> np.ndarray:
        """Simulate, and return the values of `seen` after each step. resistance: viscous friction
        of the joints."""
        record = []
        for _ in range(round(seconds / dt)):
            self._law()
            self.total[:] = self.tau + self.push
            if resistance is not None:
                self.total -= resistance(self.v)
            self._forward()
            self.v += dt * self.a
            self.q += dt * self.v
            if seen is not None:
                record.append(seen())
        return np.array(record)
