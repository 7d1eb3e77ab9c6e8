"""MuJoCo on the same robot, answering in warpdyn's coordinates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from lxml import etree

from ..algebra.quaternions import quaternion_rotation
from ..model import BASE_JOINT, Model
from ..model.joints import FLOATING
from .peer import (
    NotComparable,
    bare,
    driven_joints,
    first_line,
    refuse_mimic_joints,
    xyzw_columns,
)


class MuJoCo:
    """MuJoCo's kinematics, mj_crb and mj_rne on the URDF without its shapes.

    `fused`: links on fixed joints are made one body, as MuJoCo does by default; it then
    has no poses of theirs.
    """

    def __init__(self, model: Model, urdf: str, fused: bool = False) -> None:
        """Read the URDF; NotComparable where MuJoCo reads another robot or none."""
        import mujoco

        self.mujoco, self.model = mujoco, model
        self.name = f"MuJoCo {mujoco.__version__}"
        for joint in model.joints:
            if joint.kind.nv and not joint.kind.single:
                raise NotComparable(
                    f'MuJoCo has no {joint.kind.name} joint in URDF ("{joint.name}")'
                )
        try:
            spec = mujoco.MjSpec.from_string(_for_mujoco(urdf, fused))
            if model.floating_base:
                spec.worldbody.first_body().add_freejoint().name = BASE_JOINT
            self.robot = spec.compile()
        except Exception as error:
            raise NotComparable(f"MuJoCo does not read it: {first_line(error)}") from error
        # The model alone is compared: nothing that MuJoCo adds to M q'' + h = tau.
        self.robot.opt.gravity[:] = (0.0, 0.0, -9.81)
        self.robot.opt.disableflags |= (
            mujoco.mjtDisableBit.mjDSBL_CONSTRAINT | mujoco.mjtDisableBit.mjDSBL_CONTACT
        )
        self.robot.dof_armature[:] = 0.0
        self.data = mujoco.MjData(self.robot)
        self.places, self.G = [], np.zeros((self.robot.nv, model.nv))
        for d in driven_joints(model):
            number = mujoco.mj_name2id(self.robot, mujoco.mjtObj.mjOBJ_JOINT, d.joint.name)
            if number < 0:
                raise NotComparable(f'MuJoCo has no joint "{d.joint.name}"')
            q, v = self.robot.jnt_qposadr[number], self.robot.jnt_dofadr[number]
            self.places.append((d, q))
            self.G[v : v + d.joint.kind.nv, d.v] = d.multiplier * np.eye(d.joint.kind.nv)
        missing = [n for n in model.link_names[1:] if self._body(n) < 0]
        if missing and not fused:
            raise NotComparable(f'MuJoCo has no body "{missing[0]}"')

    def _converted(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """MuJoCo's q, and T of its v = T v: a free base's linear part is in world axes there."""
        qpos, T = np.zeros(self.robot.nq), self.G.copy()
        for d, start in self.places:
            if d.joint.kind is FLOATING:  # always MuJoCo's first joint
                x, y, z, w = (q[d.q][k] for k in xyzw_columns(self.model))
                qpos[start : start + 7] = [*q[d.q][:3], w, x, y, z]
                R = [[*row] for row in quaternion_rotation([x, y, z, w]).matrix.rows]
                T[:3, d.v.start : d.v.start + 3] = R
            else:
                qpos[start] = d.multiplier * q[d.q][0] + d.offset
        return qpos, T

    def _rotation_term(self, T: np.ndarray, v: np.ndarray) -> np.ndarray:
        """R (w x v) of a free base, whose linear velocity there is R v: (R v)' = R (a + w x v)."""
        added = np.zeros(self.robot.nv)
        for d, _ in self.places:
            if d.joint.kind is FLOATING:
                linear, angular = v[d.v][:3], v[d.v][3:]
                added[:3] = T[:3, d.v.start : d.v.start + 3] @ np.cross(angular, linear)
        return added

    def call(
        self, algorithm: str, q: np.ndarray, *others: np.ndarray, frame: str = ""
    ) -> Callable[[], Any]:
        """MuJoCo's stages that the algorithm needs, and no others."""
        mujoco, robot, data = self.mujoco, self.robot, self.data
        qpos, T = self._converted(q)
        vectors = [T @ x for x in others]
        if algorithm == "rnea":
            vectors[1] += self._rotation_term(T, others[0])
        J, tau, body = np.zeros((6, robot.nv)), np.zeros(robot.nv), max(self._body(frame), 0)

        def fk() -> None:
            data.qpos = qpos
            mujoco.mj_kinematics(robot, data)

        def jacobian() -> np.ndarray:
            fk()
            mujoco.mj_comPos(robot, data)
            mujoco.mj_jacBody(robot, data, J[:3], J[3:], body)
            return J

        def crba() -> None:
            fk()
            mujoco.mj_comPos(robot, data)
            mujoco.mj_makeM(robot, data)

        def rnea() -> np.ndarray:
            fk()
            data.qvel, data.qacc = vectors
            mujoco.mj_comPos(robot, data)
            mujoco.mj_comVel(robot, data)
            mujoco.mj_rne(robot, data, 1, tau)
            return tau

        def aba() -> Any:
            data.qpos = qpos
            data.qvel, data.qfrc_applied = vectors
            mujoco.mj_forward(robot, data)
            return data.qacc

        calls: dict[str, Callable[[], Any]] = {
            "fk": fk,
            "jacobian": jacobian,
            "crba": crba,
            "rnea": rnea,
            "aba": aba,
        }
        return calls[algorithm]

    def fk(self, q: np.ndarray) -> np.ndarray:
        """(nlinks, 4, 4) poses of all links."""
        self.call("fk", q)()
        poses = np.tile(np.eye(4), (self.model.nlinks, 1, 1))
        for k, name in enumerate(self.model.link_names):
            body = max(self._body(name), 0)
            poses[k, :3, :3] = self.data.xmat[body].reshape(3, 3)
            poses[k, :3, 3] = self.data.xpos[body]
        return poses

    def jacobian(self, q: np.ndarray, frame: str) -> np.ndarray:
        """(6, nv) Jacobian of a link, in world axes at its origin."""
        return self.call("jacobian", q, frame=frame)() @ self._converted(q)[1]

    def crba(self, q: np.ndarray) -> np.ndarray:
        """(nv, nv) mass matrix."""
        T, M = self._converted(q)[1], np.zeros((self.robot.nv, self.robot.nv))
        self.call("crba", q)()
        self.mujoco.mj_fullM(self.robot, self.data, M)
        return T.T @ M @ T

    def rnea(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        """(nv,) joint forces."""
        return self._converted(q)[1].T @ self.call("rnea", q, v, a)()

    def aba(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
        """(nv,) accelerations; T is a rotation where there are no mimic joints."""
        refuse_mimic_joints(self.model)
        T = self._converted(q)[1]
        return T.T @ (self.call("aba", q, v, tau)() - self._rotation_term(T, v))

    def _body(self, link: str) -> int:
        return self.mujoco.mj_name2id(self.robot, self.mujoco.mjtObj.mjOBJ_BODY, link)


def _for_mujoco(urdf: str, fused: bool = False) -> str:
    """The bare text with what MuJoCo would change left out."""
    root = bare(urdf)
    options = etree.SubElement(etree.SubElement(root, "mujoco"), "compiler")
    for name in ("fusestatic", "balanceinertia", "inertiafromgeom"):
        options.set(name, "true" if fused and name == "fusestatic" else "false")
    return etree.tostring(root, encoding="unicode")
