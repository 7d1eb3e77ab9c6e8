"""A robot and its states in MuJoCo's conventions: quaternions wxyz, base velocity in world axes."""

from __future__ import annotations

from collections.abc import Mapping

import mujoco
import numpy as np

from warpdyn.peers.mujoco import MuJoCo
from warpdyn.peers.peer import NotComparable

from ..robots import Robot
from . import CannotDo

POSES = ("fk", "fk_frame", "jacobian", "jacobian_derivative")
"""Algorithms that need every link. For all others MuJoCo merges fixed links, its default."""


class InMuJoCo:
    """MuJoCo's v is T v. T (B, nv, nv) rotates the linear velocity of a free base into world axes."""

    def __init__(self, robot: Robot, algorithm: str, states: Mapping[str, np.ndarray]):
        if robot.model.quaternion != "xyzw":
            raise CannotDo("wxyz is not converted here")
        try:
            self.peer = MuJoCo(robot.model, robot.urdf, fused=algorithm not in POSES)
        except NotComparable as reason:
            raise CannotDo(str(reason)) from reason
        self.own, self.robot = robot, self.peer.robot
        self.robot.opt.disableflags |= (
            mujoco.mjtDisableBit.mjDSBL_CONSTRAINT | mujoco.mjtDisableBit.mjDSBL_CONTACT
        )
        q, v = states["q"], states["v"]
        count = len(q)
        self.qpos = np.zeros((count, self.robot.nq))
        self.T = np.repeat(self.peer.G[None], count, axis=0)
        self.drift = np.zeros((count, self.robot.nv))
        for d, start, _ in self.peer.places:
            if d.joint.kind.nq == 7:
                base = q[:, d.q]
                self.qpos[:, start : start + 7] = base[:, [0, 1, 2, 6, 3, 4, 5]]
                R = rotations(base[:, 3:])
                row = np.flatnonzero(self.peer.G[:, d.v.start])[0]
                self.T[:, row : row + 3, d.v.start : d.v.start + 3] = R
                linear, angular = v[:, d.v][:, :3], v[:, d.v][:, 3:]
                self.drift[:, row : row + 3] = np.einsum("eij,ej->ei", R, np.cross(angular, linear))
            else:
                self.qpos[:, start] = d.multiplier * q[:, d.q.start] + d.offset
        self.qvel = self.velocities(v)
        self.qacc = self.velocities(states["a"]) + self.drift
        self.force = self.velocities(states["tau"])
        """T is orthogonal, so it also rotates forces."""

    def velocities(self, v: np.ndarray) -> np.ndarray:
        return np.einsum("eij,ej->ei", self.T, v)

    def forces(self, found: np.ndarray) -> np.ndarray:
        """MuJoCo's joint forces in warpdyn's coordinates."""
        return np.einsum("eji,ej->ei", self.T[: len(found)], found)

    def accelerations(self, found: np.ndarray) -> np.ndarray:
        return self.forces(found - self.drift[: len(found)])

    def square(self, M: np.ndarray) -> np.ndarray:
        T = self.T[: len(M)]
        return np.einsum("eji,ejk,ekl->eil", T, M, T)

    def columns(self, J: np.ndarray) -> np.ndarray:
        return J @ self.T[: len(J)]

    def poses(self, position: np.ndarray, rotation: np.ndarray, names: list[str]) -> np.ndarray:
        """Poses (B, links, 4, 4) from positions and rotation matrices of MuJoCo's bodies."""
        bodies = [self.body(name) for name in names]
        found = np.tile(np.eye(4), (len(position), len(names), 1, 1))
        found[..., :3, 3] = position[:, bodies]
        found[..., :3, :3] = rotation.reshape(len(position), -1, 3, 3)[:, bodies]
        return found

    def body(self, name: str) -> int:
        """Index of a link's body; the world for a fixed root."""
        return max(mujoco.mj_name2id(self.robot, mujoco.mjtObj.mjOBJ_BODY, name), 0)


def rotations(quaternions: np.ndarray) -> np.ndarray:
    """Rotation matrices (B, 3, 3) of quaternions (B, 4), xyzw."""
    x, y, z, w = quaternions.T
    rows = (
        (1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)),
        (2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)),
        (2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)),
    )
    return np.moveaxis(np.array(rows), 2, 0)
