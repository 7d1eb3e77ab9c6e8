"""Pinocchio's velocities, accelerations and Jacobian derivatives of frames, and its centre of mass."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from pinocchio_peer import Peer, in_pinocchio, pin
from robots import Robot

REFERENCES = {
    "local": pin.LOCAL,
    "world": pin.WORLD,
    "local_world_aligned": pin.LOCAL_WORLD_ALIGNED,
}


def frames_in_pinocchio(robot: Robot) -> FramesPeer:
    in_pinocchio(robot)  # skips robots that Pinocchio reads differently
    return FramesPeer(robot)


class FramesPeer(Peer):
    """Pinocchio's results for rows of warpdyn's q, v, a, for all links unless one is named."""

    def _columns_of(self, J: np.ndarray) -> np.ndarray:
        """A Jacobian with the columns of warpdyn's velocities instead of Pinocchio's."""
        J = np.reshape(J, (-1, self.pin.nv))
        full = np.zeros((len(J), self.full.nv))
        full[:, self._columns] = J
        return full @ self.Gv

    def _each(
        self, q: np.ndarray, v: np.ndarray, a: np.ndarray, read: Callable, frames: tuple[str, ...]
    ) -> np.ndarray:
        data, results = self.pin.createData(), []
        for e in range(len(q)):
            pin.forwardKinematics(self.pin, data, self.q(q[e]), self.v(v[e]), self.v(a[e]))
            pin.updateFramePlacements(self.pin, data)
            results.append([np.array(read(data, self._frame(name))) for name in frames])
        return np.array(results)

    def velocity(self, q: np.ndarray, v: np.ndarray, reference: str) -> np.ndarray:
        kind = REFERENCES[reference]
        return self._each(
            q,
            v,
            v,
            lambda data, i: pin.getFrameVelocity(self.pin, data, i, kind).vector,
            self.model.link_names,
        )

    def acceleration(
        self, q: np.ndarray, v: np.ndarray, a: np.ndarray, reference: str, kind: str
    ) -> np.ndarray:
        get = {"spatial": pin.getFrameAcceleration, "classical": pin.getFrameClassicalAcceleration}[
            kind
        ]
        where = REFERENCES[reference]
        return self._each(
            q, v, a, lambda data, i: get(self.pin, data, i, where).vector, self.model.link_names
        )

    def jacobian_derivative(
        self, q: np.ndarray, v: np.ndarray, frame: str, reference: str
    ) -> np.ndarray:
        data, results = self.pin.createData(), []
        for e in range(len(q)):
            pin.computeJointJacobiansTimeVariation(self.pin, data, self.q(q[e]), self.v(v[e]))
            pin.updateFramePlacements(self.pin, data)
            dJ = pin.getFrameJacobianTimeVariation(
                self.pin, data, self._frame(frame), REFERENCES[reference]
            )
            results.append(self._columns_of(dJ))
        return np.array(results)

    def moving_com(
        self, q: np.ndarray, v: np.ndarray, a: np.ndarray
    ) -> tuple[float, np.ndarray, np.ndarray]:
        """The mass of the moving links, which is all that Pinocchio counts; its position, velocity,
        acceleration and Jacobian."""
        data, points, jacobians = self.pin.createData(), [], []
        for e in range(len(q)):
            pin.centerOfMass(self.pin, data, self.q(q[e]), self.v(v[e]), self.v(a[e]))
            points.append([np.array(x[0]) for x in (data.com, data.vcom, data.acom)])
            jacobians.append(
                self._columns_of(pin.jacobianCenterOfMass(self.pin, data, self.q(q[e])))
            )
        return (
            pin.computeTotalMass(self.pin),
            np.moveaxis(np.array(points), 1, 0),
            np.array(jacobians),
        )
