"""Torques and poses by Pinocchio, by joint name."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pinocchio as pin

ROBOTS = Path(__file__).resolve().parents[2] / "warpdyn" / "robots"


class Oracle:
    """A bundled robot in Pinocchio. Its mimic joints follow their source, as in warpdyn."""

    def __init__(self, robot: str = "panda") -> None:
        text = (ROBOTS / f"{robot}.urdf").read_text()
        self.text = text
        self.model = pin.buildModelFromXML(text, mimic=True)
        self.data = self.model.createData()

    def vector(self, values: Mapping[str, float], joints: str = "v") -> np.ndarray:
        result = pin.neutral(self.model) if joints == "q" else np.zeros(self.model.nv)
        for name, value in values.items():
            joint = self.model.joints[self.model.getJointId(name)]
            result[joint.idx_q if joints == "q" else joint.idx_v] = value
        return result

    def by_name(self, names: list[str], tau: np.ndarray) -> np.ndarray:
        return np.array([tau[self.model.joints[self.model.getJointId(n)].idx_v] for n in names])

    def torque(
        self,
        names: list[str],
        q: np.ndarray,
        v: np.ndarray | None = None,
        a: np.ndarray | None = None,
    ) -> np.ndarray:
        zero = np.zeros(len(names))
        full_q = self.vector(dict(zip(names, q, strict=True)), "q")
        full_v, full_a = (
            self.vector(dict(zip(names, zero if x is None else x, strict=True))) for x in (v, a)
        )
        return self.by_name(names, pin.rnea(self.model, self.data, full_q, full_v, full_a))

    def push(self, names: list[str], q: np.ndarray, link: str, wrench: np.ndarray) -> np.ndarray:
        """Joint torques of a wrench on a link, in the frame of the link."""
        full_q = self.vector(dict(zip(names, q, strict=True)), "q")
        frame = self.model.getFrameId(link)
        J = pin.computeFrameJacobian(self.model, self.data, full_q, frame, pin.LOCAL)
        return self.by_name(names, J.T @ wrench)

    def add_load(self, link: str, mass: float, com: np.ndarray) -> None:
        frame = self.model.frames[self.model.getFrameId(link)]
        load = pin.Inertia(mass, com, np.zeros((3, 3)))
        self.model.inertias[frame.parentJoint] += frame.placement.act(load)
        self.data = self.model.createData()

    def pose(self, names: list[str], q: np.ndarray, link: str) -> np.ndarray:
        pin.framesForwardKinematics(
            self.model, self.data, self.vector(dict(zip(names, q, strict=True)), "q")
        )
        return self.data.oMf[self.model.getFrameId(link)].homogeneous

    def mass_matrix(self, names: list[str], q: np.ndarray) -> np.ndarray:
        M = pin.crba(self.model, self.data, self.vector(dict(zip(names, q, strict=True)), "q"))
        M = np.triu(M) + np.triu(M, 1).T
        columns = [self.model.joints[self.model.getJointId(n)].idx_v for n in names]
        return M[np.ix_(columns, columns)]

    def jacobian(self, names: list[str], q: np.ndarray, link: str) -> np.ndarray:
        full_q = self.vector(dict(zip(names, q, strict=True)), "q")
        J = pin.computeFrameJacobian(
            self.model, self.data, full_q, self.model.getFrameId(link), pin.LOCAL_WORLD_ALIGNED
        )
        return J[:, [self.model.joints[self.model.getJointId(n)].idx_v for n in names]]
