"""External joint torques and wrench of one robot, by the library's momentum observer."""

from __future__ import annotations

import numpy as np

from warpdyn.execution.batched import bind
from warpdyn.functions.dynamics import gravity_torques
from warpdyn.functions.identification.observers import momentum_observer
from warpdyn.functions.kinematics import jacobian
from warpdyn.model import Model

from ..settings.node_settings import Settings
from ..states.state import State
from ..torques.payload import Payload

SMALLEST_SINGULAR_VALUE = 0.02
"""Smallest singular value of the Jacobian at which a direction of the wrench is exact [m, 1]."""


class ExternalTorques:
    """The momentum observer of one robot. Its inputs are `q`, `v` and `tau`; its results are
    `external` (1, nv), and `wrench` (1, 6) on `external_wrench_link`, about its origin and in its
    axes.

    It always runs on the CPU, whatever `device` is, because it serves one robot at a time.
    """

    def __init__(
        self,
        model: Model,
        state: State,
        gravity: np.ndarray,
        payload: Payload,
        settings: Settings,
        index: int,
    ) -> None:
        """state, gravity: arrays of all robots. payload: their payload, until `rebase` sets
        another. index: the number of this robot."""
        nv, row = model.nv, slice(index, index + 1)
        self.link = settings.external_wrench_link
        check_wrench_link(model, settings)
        self.model, self.payload = model, payload
        self.q, self._gravity, self._wrench = state.q[row], gravity[row], state.wrench[row]
        self.v, self.tau, self.external = (np.zeros((1, nv)) for _ in range(3))
        self.momentum, self.rate = np.zeros((1, nv)), np.zeros((1, nv))
        self.wrench = np.zeros((1, 6))
        self._J = np.zeros((1, 6, nv))
        self._dt, self._gain = np.zeros(1), np.full(1, settings.observer_gain)
        self._known = np.zeros(nv, dtype=bool)
        """Joints whose torques were known at the last update."""
        self.floating = np.zeros((1, nv))
        """(1, nv), torques against gravity alone, after `gravity_torques`."""
        self._moves = model.v_indices(joints_that_move(model, self.link))
        """Columns of the joints that move the link."""

    def warm(self) -> None:
        """Compile the kernels and start at the present state."""
        self._bind()
        self.update(0.0, self._known)
        self.gravity_torques()

    def _bind(self) -> None:
        model, gravity, params = self.model, self._gravity, self.payload.params
        # A bound call keeps the arrays that it was bound to, so another payload needs other calls.
        self._observe = bind(
            momentum_observer,
            model,
            q=self.q,
            v=self.v,
            tau=self.tau,
            momentum=self.momentum,
            rate=self.rate,
            external=self.external,
            dt=self._dt,
            gain=self._gain,
            gravity=gravity,
            f_ext=self._wrench,
            params=params,
            out=(self.momentum, self.rate, self.external),
        )
        self._compute_gravity = bind(
            gravity_torques, model, q=self.q, gravity=gravity, params=params, out=self.floating
        )
        self._jacobian = None
        if self.link:
            self._jacobian = bind(
                jacobian, model, q=self.q, frame=self.link, reference="local", out=self._J
            )

    def change(self, settings: Settings) -> None:
        """Use another gain."""
        self._gain[:] = settings.observer_gain

    def rebase(self, payload: Payload) -> None:
        """Continue from the last state with another payload. The estimate stays: the change of momentum
        comes from the payload, not from a push."""
        felt = self.external.copy()
        if self.payload is not payload:  # its kernels are warm
            self.payload = payload
            self._bind()
        self._observe()  # dt changes only the estimate, which is restored here
        self.external[:] = felt

    def update(self, dt: float, known: np.ndarray) -> None:
        """Advance the observer by dt [s]; 0 starts it at this state.

        known (nv,): joints whose torque in `tau` is known. The estimate of a joint starts when its
        torque becomes known. The wrench is NaN while the torque of a joint that moves its link is
        unknown.
        """
        self._dt[:] = dt
        self._observe()
        self.external[0, ~(known & self._known)] = 0.0
        self._known[:] = known
        if self._jacobian is not None:
            self._jacobian()
            self.wrench[0] = fitted_wrench(self._J[0], self.external[0])
            if not known[self._moves].all():
                self.wrench[:] = np.nan

    def gravity_torques(self) -> np.ndarray:
        """Torques (nv,) that hold the robot and its payload against gravity."""
        self._compute_gravity()
        return self.floating[0]


def fitted_wrench(J: np.ndarray, external: np.ndarray) -> np.ndarray:
    """Wrench (6,) that best explains external joint torques (nv,) [N, N·m]: the least-squares
    solution of Jᵀ wrench = external, J (6, nv).

    It is exact in directions whose singular value of J is at least SMALLEST_SINGULAR_VALUE. Smaller
    singular values are replaced by this one, so that noise grows by at most 1 /
    SMALLEST_SINGULAR_VALUE. In directions that the joints do not feel, the wrench is 0.
    """
    squares, axes = np.linalg.eigh(J @ J.T)
    felt = axes.T @ (J @ external)
    return np.asarray(axes @ (felt / np.maximum(squares, SMALLEST_SINGULAR_VALUE**2)))


def check_wrench_link(model: Model, settings: Settings) -> None:
    """Raise ValueError if the model lacks the link."""
    link = settings.external_wrench_link
    if link and link not in model.link_names:
        raise ValueError(
            f"external_wrench_link {link!r} is not a link of {model.name}, which has "
            f"{', '.join(model.link_names[:40])}"
        )


def joints_that_move(model: Model, link: str) -> list[str]:
    """The joints that move a link, with the leading joint in place of a mimic joint."""
    if not link:
        return []
    carries = model.supports[model.link_index(link)][1:]  # joint k carries link k + 1
    joints = [x for x, on in zip(model.joints, carries, strict=True) if on and x.kind.nv]
    return list(dict.fromkeys(x.name if x.mimic is None else x.mimic.joint for x in joints))
