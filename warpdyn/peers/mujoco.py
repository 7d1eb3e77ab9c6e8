"""MuJoCo on the same robot, with results in warpdyn's coordinates."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from lxml import etree

from ..algebra.quaternions import quaternion_rotation
from ..model import Model
from ..model.joints import FLOATING
from .mujoco_mjcf import bare_spec, frame_numbers, held_positions, joint_numbers
from .peer import NotComparable, bare, driven_joints, first_line, refuse_mimic_joints


class MuJoCo:
    """MuJoCo's kinematics, mj_crb and mj_rne on the URDF without its shapes, or on an MJCF file.

    `fused`: links of the URDF on fixed joints are merged into one body, as MuJoCo does by default;
    it then has no poses of these links. `whole`: an MJCF file with all its contents.
    """

    def __init__(
        self, model: Model, source: str | Path, fused: bool = False, whole: bool = False
    ) -> None:
        """Read the text of a URDF or an MJCF file. Raises NotComparable if MuJoCo reads another
        robot or none."""
        import mujoco

        self.mujoco, self.model = mujoco, model
        self.name = f"MuJoCo {mujoco.__version__}"
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # for words in the file that MuJoCo will drop
                if isinstance(source, Path) and whole:
                    self.robot = mujoco.MjModel.from_xml_path(str(source))
                elif isinstance(source, Path):
                    self.robot = bare_spec(mujoco, source, model).compile()
                else:
                    self.robot = urdf_spec(mujoco, for_mujoco(source, fused), model).compile()
        except NotComparable:
            raise
        except Exception as error:
            raise NotComparable(f"MuJoCo does not read it: {first_line(error)}") from error
        # Only the model is compared: everything that MuJoCo adds to M q'' + h = tau is switched
        # off.
        self.robot.opt.gravity[:] = (0.0, 0.0, -9.81)
        others = ("CONSTRAINT", "CONTACT", "SPRING", "DAMPER", "ACTUATION")
        bits = (int(getattr(mujoco.mjtDisableBit, f"mjDSBL_{word}")) for word in others)
        self.robot.opt.disableflags = sum(bits)
        self.robot.opt.density = self.robot.opt.viscosity = 0.0
        self.robot.body_gravcomp[:] = 0.0
        self.data = mujoco.MjData(self.robot)
        self.qpos, self.held = np.zeros(self.robot.nq), list[str]()
        if isinstance(source, Path):
            numbers = joint_numbers(self.robot, model)
            self.frames = frame_numbers(self.robot, model)
            for name, place, value in held_positions(self.robot, numbers, model):
                self.qpos[place] = value
                self.held.append(name)
        else:
            self.robot.dof_armature[:] = 0.0
            numbers = self._numbers(mujoco.mjtObj.mjOBJ_JOINT, [j.name for j in model.joints])
            if model.floating_base:
                numbers[model.base_joint] = 0
            bodies = self._numbers(mujoco.mjtObj.mjOBJ_BODY, model.link_names)
            self.frames = {name: (False, number) for name, number in bodies.items()}
            self.frames.setdefault(model.root, (False, 0))
        self.places, self.G = [], np.zeros((self.robot.nv, model.nv))
        for d in driven_joints(model):
            if d.joint.name not in numbers:
                raise NotComparable(f'MuJoCo has no joint "{d.joint.name}"')
            number = numbers[d.joint.name]
            q, v = self.robot.jnt_qposadr[number], self.robot.jnt_dofadr[number]
            self.places.append((d, q, v))
            self.G[v : v + d.joint.kind.nv, d.v] = d.multiplier * np.eye(d.joint.kind.nv)
        missing = [name for name in model.link_names if name not in self.frames]
        if missing and not fused and not isinstance(source, Path):
            raise NotComparable(f'MuJoCo has no body "{missing[0]}"')

    @property
    def links(self) -> tuple[str, ...]:
        """The links whose poses MuJoCo has."""
        return tuple(name for name in self.model.link_names if name in self.frames)

    def _numbers(self, kind: Any, names: Sequence[str]) -> dict[str, int]:
        """MuJoCo's indices of the names that it has."""
        numbers = {name: self.mujoco.mj_name2id(self.robot, kind, name) for name in names}
        return {name: number for name, number in numbers.items() if number >= 0}

    def _convert(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """MuJoCo's q, and T of its v = T v: there the linear part of a free base is in world
        axes."""
        qpos, T = self.qpos.copy(), self.G.copy()
        for d, start, v in self.places:
            kind = d.joint.kind
            if kind.single:
                qpos[start] = d.multiplier * q[d.q][0] + d.offset
                continue
            *place, x, y, z, w = kind.scalar_last(list(q[d.q]), self.model.quaternion)
            qpos[start : start + kind.nq] = [*place, w, x, y, z]
            if kind is FLOATING:
                R = [[*row] for row in quaternion_rotation([x, y, z, w]).matrix.rows]
                T[v : v + 3, d.v.start : d.v.start + 3] = R
        return qpos, T

    def _rotation_term(self, T: np.ndarray, v: np.ndarray) -> np.ndarray:
        """R (w x v) of a free base, whose linear velocity there is R v: (R v)' = R (a + w x v)."""
        added = np.zeros(self.robot.nv)
        for d, _, start in self.places:
            if d.joint.kind is FLOATING:
                linear, angular = v[d.v][:3], v[d.v][3:]
                R = T[start : start + 3, d.v.start : d.v.start + 3]
                added[start : start + 3] = R @ np.cross(angular, linear)
        return added

    def call(
        self, algorithm: str, q: np.ndarray, *others: np.ndarray, frame: str = ""
    ) -> Callable[[], Any]:
        """The MuJoCo stages that the algorithm needs, and no others."""
        mujoco, robot, data = self.mujoco, self.robot, self.data
        qpos, T = self._convert(q)
        vectors = [T @ x for x in others]
        if algorithm == "rnea":
            vectors[1] += self._rotation_term(T, others[0])
        J, tau = np.zeros((6, robot.nv)), np.zeros(robot.nv)
        if algorithm == "jacobian" and frame not in self.frames:
            raise NotComparable(f'MuJoCo has no body or site "{frame}"')
        site, number = self.frames.get(frame, (False, 0))
        frame_jacobian = mujoco.mj_jacSite if site else mujoco.mj_jacBody

        def fk() -> None:
            data.qpos = qpos
            mujoco.mj_kinematics(robot, data)

        def jacobian() -> np.ndarray:
            fk()
            mujoco.mj_comPos(robot, data)
            frame_jacobian(robot, data, J[:3], J[3:], number)
            return J

        def crba() -> None:
            fk()
            mujoco.mj_comPos(robot, data)
            if robot.ntendon:
                mujoco.mj_tendon(robot, data)
            mujoco.mj_makeM(robot, data)

        def rnea() -> np.ndarray:
            if robot.ntendon and robot.tendon_armature.any():
                data.qpos = qpos
                data.qvel, data.qacc = vectors
                mujoco.mj_inverse(robot, data)
                return np.array(data.qfrc_inverse)
            fk()
            data.qvel, data.qacc = vectors
            mujoco.mj_comPos(robot, data)
            mujoco.mj_comVel(robot, data)
            mujoco.mj_rne(robot, data, 1, tau)  # without rotors, which mj_inverse adds
            return tau + robot.dof_armature * vectors[1]

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
        """(nlinks, 4, 4) poses of all links; the identity for links that it does not have, see
        `links`."""
        self.call("fk", q)()
        poses = np.tile(np.eye(4), (self.model.nlinks, 1, 1))
        for name, (site, number) in self.frames.items():
            k, data = self.model.link_index(name), self.data
            R, p = (data.site_xmat, data.site_xpos) if site else (data.xmat, data.xpos)
            poses[k, :3, :3] = R[number].reshape(3, 3)
            poses[k, :3, 3] = p[number]
        return poses

    def jacobian(self, q: np.ndarray, frame: str) -> np.ndarray:
        """(6, nv) Jacobian of a link, in world axes at its origin."""
        return self.call("jacobian", q, frame=frame)() @ self._convert(q)[1]

    def crba(self, q: np.ndarray) -> np.ndarray:
        """(nv, nv) mass matrix."""
        T, M = self._convert(q)[1], np.zeros((self.robot.nv, self.robot.nv))
        self.call("crba", q)()
        self.mujoco.mj_fullM(self.robot, self.data, M)
        return T.T @ M @ T

    def rnea(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        return self._convert(q)[1].T @ self.call("rnea", q, v, a)()

    def aba(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
        """(nv,) accelerations; T is a rotation if there are no mimic joints."""
        refuse_mimic_joints(self.model)
        for name in self.held:
            raise NotComparable(f'joint "{name}" is held by a constraint: other accelerations')
        T = self._convert(q)[1]
        return T.T @ (self.call("aba", q, v, tau)() - self._rotation_term(T, v))


def urdf_spec(mujoco: Any, root: etree._Element, model: Model, free: Collection[str] = ()) -> Any:
    """MuJoCo's specification of a URDF (`for_mujoco`), with the model's base.

    free: names of floating joints on links that are fused with the world.
    """
    for joint in model.joints:
        if joint.kind.nv and not joint.kind.single and joint.name not in free:
            raise NotComparable(f'MuJoCo has no {joint.kind.name} joint in URDF ("{joint.name}")')
    spec = mujoco.MjSpec.from_string(etree.tostring(root, encoding="unicode"))
    if model.floating_base:
        spec.worldbody.first_body().add_freejoint().name = model.base_joint
    return spec


def for_mujoco(urdf: str, fused: bool = False) -> etree._Element:
    """The bare URDF without the parts that MuJoCo would change. `fused`: links on fixed joints
    become one body."""
    root = bare(urdf)
    options = etree.SubElement(etree.SubElement(root, "mujoco"), "compiler")
    for name in ("fusestatic", "balanceinertia", "inertiafromgeom"):
        options.set(name, "true" if fused and name == "fusestatic" else "false")
    return root
