"""Torques of all robots of one model, in one launch: inverse dynamics, a user's law, a policy."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import warp as wp

from warpdyn.execution.compile.kernel_cache import start_kernel_cache
from warpdyn.functions.dynamics import rnea
from warpdyn.model import Model

from ..settings.node_settings import Settings
from ..states.state import State
from .device_launch import bound_on
from .friction_compensation import FrictionCompensation
from .law import Law
from .payload import Payload, remark_on_mass
from .policy_law import PolicyLaw


class FleetDynamics:
    """Torques of some robots of one model: fill the rows of `state`, call `compute`, and read the
    rows of its torque.

    The arrays are float64 on the host; with a CUDA device they are copied there and back in every
    call. The constructor checks the settings; the first `compute` compiles the kernels.
    """

    def __init__(self, model: Model, settings: Settings, robots: int) -> None:
        self.model = model
        self.device = settings.device
        self.state = State.of_robots(model, robots)
        self.gravity = np.tile(np.array(settings.gravity), (robots, 1))
        """One row for each robot, read anew at every launch."""
        self.payload = Payload(model, settings)
        self.law: Law | PolicyLaw | None = None
        if settings.law:
            self.law = Law(model, settings, self.state, self.gravity, self.payload)
        elif settings.policy:
            self.law = PolicyLaw(model, settings, self.state)
        holds = self.law is not None and (
            self.law.tracks or isinstance(self.law, PolicyLaw) or self.law.frame is not None
        )
        self.friction = FrictionCompensation(model, settings, self.state, holds)
        self._launch: Callable[[], object] = self._first_launch

    def compute(self) -> None:
        """Compute the torques of the present rows."""
        self._launch()
        if self.friction.active:
            self.friction.add()

    def change_gravity(self, gravity: tuple[float, ...]) -> None:
        """Use this gravity from the next launch on."""
        self.gravity[:] = gravity

    @property
    def total_mass(self) -> float:
        """Mass of the model and its payload [kg]."""
        return self.model.total_mass + self.payload.mass

    def carry(self, payload: Payload) -> None:
        """Continue with a payload on another link, whose kernels are warm."""
        self.payload = payload
        self._launch = self._bind()

    def check(self, settings: Settings) -> None:
        """Raise ValueError if torques are not finite, and a joint moves no mass. Other laws may have
        no torques in the neutral position."""
        for torque in self.state.torque:
            if not np.isfinite(torque).all() and remark_on_mass(self.model, self.payload):
                raise ValueError(self.failure(torque, settings))

    def failure(self, torque: np.ndarray, settings: Settings) -> str:
        """The joints whose torques (nv,) are not finite, and the cause."""
        joints = [self.model.v_names[k] for k in np.flatnonzero(~np.isfinite(torque))]
        return (
            f"the computed torque of {', '.join(joints)} is not finite: {settings.law_name} has no "
            f"number for this state and these inputs{remark_on_mass(self.model, self.payload)}"
        )

    def _first_launch(self) -> None:
        self._launch = self._bind()
        self._launch()

    def _bind(self) -> Callable[[], object]:
        if self.law is not None:
            return self.law.bind(self.payload)
        state, params = self.state, self.payload.params
        inputs = {
            "q": state.q,
            "v": state.v,
            "a": state.a,
            "f_ext": state.wrench,
            "gravity": self.gravity,
        }
        fresh, single = tuple(inputs), len(state.q) == 1
        return bound_on(
            self.device, rnea, self.model, inputs, state.torque, fresh, params, single=single
        )


def check_device(device: str) -> None:
    """Raise ValueError if kernels cannot run on the device."""
    start_kernel_cache()
    known = [d.alias for d in wp.get_devices()]
    try:
        wp.get_device(device)
    except Exception as error:
        raise ValueError(
            f"device {device!r} is not there; this machine has {', '.join(known)}"
        ) from error
