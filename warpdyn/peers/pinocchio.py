"""Pinocchio on the same robot, with results in warpdyn's coordinates.

tests/pinocchio_peer.py adapts Pinocchio a second time, independently and on purpose. It uses
the test models and knows kinds of joint that URDF does not have, and a mistake in one adapter is
not repeated in the other.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..model import Model
from ..model.joints import FLOATING
from .peer import NotComparable, driven_joints, first_line, refuse_mimic_joints, xyzw_columns


class Pinocchio:
    """Pinocchio through `pin`: buildModelFromXML, rnea, crba, frame placements and Jacobians."""

    def __init__(self, model: Model, urdf: str) -> None:
        """Read the URDF. Raises NotComparable if Pinocchio reads another robot or none."""
        import pinocchio as pin

        self.pin, self.model = pin, model
        self.name = f"Pinocchio {pin.__version__}"
        for joint in model.joints:
            if joint.kind.has_axis and joint.kind.nv == 3 and joint.axis != (0.0, 0.0, 1.0):
                raise NotComparable(
                    f'Pinocchio lays planar joint "{joint.name}" in the xy plane, whatever its axis'
                )
        try:
            root = (pin.JointModelFreeFlyer(),) if model.floating_base else ()
            self.robot = pin.buildModelFromXML(urdf, *root)
        except Exception as error:
            raise NotComparable(f"Pinocchio does not read it: {first_line(error)}") from error
        self.data = self.robot.createData()
        self.places = []
        self.G = np.zeros((self.robot.nv, model.nv))
        # Pinocchio orders joints alphabetically among siblings, so that rows of G are placed by
        # name.
        for d in driven_joints(model):
            name = "root_joint" if d.joint.name == model.base_joint else d.joint.name
            number = self.robot.getJointId(name)
            if number >= self.robot.njoints:
                raise NotComparable(f'Pinocchio has no joint "{d.joint.name}"')
            place = self.robot.joints[number]
            self.places.append((d, place))
            self.G[place.idx_v : place.idx_v + place.nv, d.v] = d.multiplier * np.eye(place.nv)
        if sum(place.nv for _, place in self.places) != self.robot.nv:
            raise NotComparable("Pinocchio has joints that are not in the model")

    @property
    def links(self) -> tuple[str, ...]:
        """All links of the model."""
        return self.model.link_names

    def configuration(self, q: np.ndarray) -> np.ndarray:
        """Pinocchio's q: cosine and sine for a joint without limits and for a plane's angle."""
        full = np.empty(self.robot.nq)
        for d, place in self.places:
            position = q[d.q]
            if d.joint.kind is FLOATING:
                position = position[[0, 1, 2, *xyzw_columns(self.model)]]
            if d.joint.kind.single:
                position = d.multiplier * position + d.offset
            if d.joint.kind is not FLOATING and place.nq > d.joint.kind.nq:
                angle = position[-1]
                position = np.array([*position[:-1], np.cos(angle), np.sin(angle)])
            full[place.idx_q : place.idx_q + place.nq] = position
        return full

    def call(
        self, algorithm: str, q: np.ndarray, *others: np.ndarray, frame: str = ""
    ) -> Callable[[], Any]:
        """Pinocchio's function on its arrays. For M it computes the upper triangle only."""
        pin = self.pin
        arrays = (self.configuration(q), *(self.G @ x for x in others))
        if algorithm == "jacobian":
            arrays = (*arrays, self._frame(frame), pin.LOCAL_WORLD_ALIGNED)
        functions = {
            "fk": pin.framesForwardKinematics,
            "jacobian": pin.computeFrameJacobian,
            "crba": pin.crba,
            "rnea": pin.rnea,
            "aba": pin.aba,
        }
        return partial(functions[algorithm], self.robot, self.data, *arrays)

    def fk(self, q: np.ndarray) -> np.ndarray:
        self.call("fk", q)()
        return np.array(
            [self.data.oMf[self._frame(name)].homogeneous for name in self.model.link_names]
        )

    def jacobian(self, q: np.ndarray, frame: str) -> np.ndarray:
        """(6, nv) Jacobian of a link, in world axes at its origin."""
        return self.call("jacobian", q, frame=frame)().reshape(6, -1) @ self.G

    def crba(self, q: np.ndarray) -> np.ndarray:
        """(nv, nv) mass matrix."""
        upper = np.triu(self.call("crba", q)())
        return self.G.T @ (upper + np.triu(upper, 1).T) @ self.G

    def rnea(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        return self.G.T @ self.call("rnea", q, v, a)()

    def aba(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
        """(nv,) accelerations. Without mimic joints G only orders them."""
        refuse_mimic_joints(self.model)
        return self.G.T @ self.call("aba", q, v, tau)()

    def _frame(self, link: str) -> int:
        return self.robot.getFrameId(link, self.pin.BODY)
