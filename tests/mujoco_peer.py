"""The same MJCF in MuJoCo, in warpdyn's coordinates."""

from __future__ import annotations

import re

import numpy as np
import pytest

import warpdyn as wd
from warpdyn.model import BASE_JOINT
from warpdyn.model.joints import FLOATING, KINDS

mujoco = pytest.importorskip("mujoco")


class Peer:
    """MuJoCo's mass matrix, bias and poses for one q and v of ours.

    MuJoCo's free joints have their linear velocity in the world's axes, T v = [R v, ω]; quaternions are w x y z.
    """

    def __init__(self, text: str, model: wd.Model):
        self.ours = model
        total = re.search(
            r'settotalmass="(.+?)"', text
        )  # MuJoCo writes a log file of warnings about that word
        self.model = mujoco.MjModel.from_xml_string(text.replace(total[0], "") if total else text)
        if total:
            mujoco.mj_setTotalmass(self.model, float(total[1]))
            mujoco.mj_setConst(self.model, mujoco.MjData(self.model))
        self.data = mujoco.MjData(self.model)
        self.model.opt.gravity[:] = (0, 0, -9.81)
        self.model.opt.disableflags |= (
            mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
        )

    def id(self, joint: wd.Joint) -> int:
        name = joint.name
        if name == BASE_JOINT:
            (number,) = np.flatnonzero(self.model.jnt_type == mujoco.mjtJoint.mjJNT_FREE)
            return int(number)
        number = mujoco.mj_name2id(self.model, mujoco.mjtObj.mjOBJ_JOINT, name)
        assert number >= 0, f"MuJoCo has no joint {name}"
        return number

    def set(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Run MuJoCo's position and velocity stages. Returns T, which maps our velocities to
        MuJoCo's: v_theirs = T v."""
        T = np.zeros((self.model.nv, self.ours.nv))
        self.dT_v = np.zeros(self.model.nv)
        for joint in self.ours.moving_joints:
            columns, own, rates = self.ours.coordinates[joint.name], None, None
            own, rates = q[columns.q], v[columns.v]
            at, start = (
                self.model.jnt_qposadr[self.id(joint)],
                self.model.jnt_dofadr[self.id(joint)],
            )
            block = np.eye(joint.kind.nv)
            if joint.kind in (FLOATING, KINDS["ball"]):
                own = np.concatenate([own[:-4], [own[-1]], own[-4:-1]])
            self.data.qpos[at : at + joint.kind.nq] = own
            if joint.kind is FLOATING:
                R = np.empty(9)
                mujoco.mju_quat2Mat(R, own[3:])
                block[:3, :3] = R.reshape(3, 3)
                self.dT_v[start : start + 3] = block[:3, :3] @ np.cross(rates[3:], rates[:3])
            T[start : start + joint.kind.nv, columns.v] = block
        self.data.qvel[:] = T @ v
        mujoco.mj_forward(self.model, self.data)
        return T

    def mass_matrix(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        T = self.set(q, v)
        return T.T @ self._full() @ T

    def bias(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        T = self.set(q, v)
        return T.T @ (self.data.qfrc_bias + self._full() @ self.dT_v)

    def _full(self) -> np.ndarray:
        M = np.zeros((self.model.nv, self.model.nv))
        try:
            mujoco.mj_fullM(self.model, self.data, M)
        except TypeError:  # before MuJoCo 3.9
            mujoco.mj_fullM(self.model, M, self.data.qM)
        return M

    def pose(self, q: np.ndarray, body: str) -> np.ndarray:
        self.set(q, np.zeros(self.ours.nv))
        frame = (
            self.data.body(body)
            if mujoco.mj_name2id(self.model, 1, body) >= 0
            else self.data.site(body)
        )
        T = np.eye(4)
        T[:3, :3], T[:3, 3] = frame.xmat.reshape(3, 3), frame.xpos
        return T
