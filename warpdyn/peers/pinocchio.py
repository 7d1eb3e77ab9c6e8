"""Pinocchio on the same robot, answering in warpdyn's coordinates."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..model import BASE_JOINT, Model
from ..model.joints import FLOATING
from .peer import NotComparable, driven_joints, first_line, refuse_mimic_joints


class Pinocchio:
    """Pinocchio through `pin`: buildModelFromXML, rnea, crba, frame placements and Jacobians."""

    def __init__(self, model: Model, urdf: str):
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
        for d in driven_joints(model):
            number = self.robot.getJointId(
                "root_joint" if d.joint.name == BASE_JOINT else d.joint.name
            )
            if number >= self.robot.njoints:
                raise NotComparable(f'Pinocchio has no joint "{d.joint.name}"')
            place = self.robot.joints[number]
            self.places.append((d, place))
            self.G[place.idx_v : place.idx_v + place.nv, d.v] = d.multiplier * np.eye(place.nv)
        if sum(place.nv for _, place in self.places) != self.robot.nv:
            raise NotComparable("Pinocchio has joints that are not in the model")

    def configuration(self, q: np.ndarray) -> np.ndarray:
        """Pinocchio's q: a joint without limits is a cosine and a sine there, a plane's angle too."""
        full = np.empty(self.robot.nq)
        for d, place in self.places:
            own = q[d.q]
            if d.joint.kind.single:
                own = d.multiplier * own + d.offset
            if d.joint.kind is not FLOATING and place.nq > d.joint.kind.nq:
                own = np.array([*own[:-1], np.cos(own[-1]), np.sin(own[-1])])
            full[place.idx_q : place.idx_q + place.nq] = own
        return full

    def call(
        self, algorithm: str, q: np.ndarray, *others: np.ndarray, frame: str = ""
    ) -> Callable[[], Any]:
        pin, given = (
            self.pin,
            (self.robot, self.data, self.configuration(q), *(self.G @ x for x in others)),
        )
        if algorithm == "jacobian":
            return partial(
                pin.computeFrameJacobian, *given, self._frame(frame), pin.LOCAL_WORLD_ALIGNED
            )
        functions = {
            "fk": pin.framesForwardKinematics,
            "crba": pin.crba,
            "rnea": pin.rnea,
            "aba": pin.aba,
        }
        return partial(functions[algorithm], *given)

    def fk(self, q: np.ndarray) -> np.ndarray:
        self.call("fk", q)()
        return np.array(
            [self.data.oMf[self._frame(name)].homogeneous for name in self.model.link_names]
        )

    def jacobian(self, q: np.ndarray, frame: str) -> np.ndarray:
        return self.call("jacobian", q, frame=frame)().reshape(6, -1) @ self.G

    def crba(self, q: np.ndarray) -> np.ndarray:
        upper = np.triu(self.call("crba", q)())
        return self.G.T @ (upper + np.triu(upper, 1).T) @ self.G

    def rnea(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        return self.G.T @ self.call("rnea", q, v, a)()

    def aba(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
        refuse_mimic_joints(self.model)
        return self.G.T @ self.call("aba", q, v, tau)()

    def _frame(self, link: str) -> int:
        return self.robot.getFrameId(link, self.pin.BODY)
