"""The same robot in Pinocchio and in MuJoCo, answering in warpdyn's coordinates.

Each peer reads the description by itself. Joints and links are found by name; mimic joints, which both ignore, are
reduced here: q_full = G q + offset, v_full = G v.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np
from lxml import etree

from ..description import Joint
from ..joints import FLOATING, quaternion_rotation
from ..model import BASE_JOINT, Model


class NotComparable(Exception):  # noqa: N818
    """The peer cannot read this robot, or reads another robot than the one described."""


class Peer(Protocol):
    """float64 answers for one state; arrays as in warpdyn, without the batch dimension."""

    name: str

    def fk(self, q: np.ndarray) -> np.ndarray: ...
    def jacobian(self, q: np.ndarray, frame: str) -> np.ndarray: ...
    def crba(self, q: np.ndarray) -> np.ndarray: ...
    def rnea(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray: ...
    def aba(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray: ...

    def call(self, algorithm: str, q: np.ndarray, *others: np.ndarray, frame: str = "") -> Callable[[], Any]:
        """The library's own call for a state, which is converted beforehand: what may be timed."""
        ...


@dataclass(frozen=True)
class Driven:
    """A joint of the description and the coordinates that move it: position = multiplier * q + offset."""

    joint: Joint
    q: slice
    v: slice
    multiplier: float
    offset: float


def driven_joints(model: Model) -> Iterator[Driven]:
    """Every joint that moves, mimic joints included, a free base first."""
    base = model.moving_joints[:1] if model.floating_base else ()
    for joint in (*base, *(j for j in model.joints if j.kind.nv)):
        leader, multiplier, offset = joint, 1.0, 0.0
        while leader.mimic is not None:
            offset += multiplier * leader.mimic.offset
            multiplier *= leader.mimic.multiplier
            leader = model.joint(leader.mimic.joint)
        columns = model.coordinates[leader.name]
        yield Driven(joint, columns.q, columns.v, multiplier, offset)


def refuse_mimic_joints(model: Model) -> None:
    """Of forward dynamics: a peer to which every joint is free computes another motion."""
    for joint in model.joints:
        if joint.kind.nv and joint.mimic is not None:
            raise NotComparable(f'mimic joint "{joint.name}" moves by itself there: other accelerations')


class Pinocchio:
    """Pinocchio through `pin`: buildModelFromXML, rnea, crba, frame placements and Jacobians."""

    def __init__(self, model: Model, urdf: str):
        import pinocchio as pin

        self.pin, self.model = pin, model
        self.name = f"Pinocchio {pin.__version__}"
        for joint in model.joints:
            if joint.kind.has_axis and joint.kind.nv == 3 and joint.axis != (0.0, 0.0, 1.0):
                raise NotComparable(f'Pinocchio lays planar joint "{joint.name}" in the xy plane, whatever its axis')
        try:
            root = (pin.JointModelFreeFlyer(),) if model.floating_base else ()
            self.robot = pin.buildModelFromXML(urdf, *root)
        except Exception as error:
            raise NotComparable(f"Pinocchio does not read it: {first_line(error)}") from error
        self.data = self.robot.createData()
        self.places = []
        self.G = np.zeros((self.robot.nv, model.nv))
        for d in driven_joints(model):
            number = self.robot.getJointId("root_joint" if d.joint.name == BASE_JOINT else d.joint.name)
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

    def call(self, algorithm: str, q: np.ndarray, *others: np.ndarray, frame: str = "") -> Callable[[], Any]:
        pin, given = self.pin, (self.robot, self.data, self.configuration(q), *(self.G @ x for x in others))
        if algorithm == "jacobian":
            return partial(pin.computeFrameJacobian, *given, self._frame(frame), pin.LOCAL_WORLD_ALIGNED)
        functions = {"fk": pin.framesForwardKinematics, "crba": pin.crba, "rnea": pin.rnea, "aba": pin.aba}
        return partial(functions[algorithm], *given)

    def fk(self, q: np.ndarray) -> np.ndarray:
        self.call("fk", q)()
        return np.array([self.data.oMf[self._frame(name)].homogeneous for name in self.model.link_names])

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


class MuJoCo:
    """MuJoCo's kinematics, mj_crb and mj_rne on the URDF without its shapes.

    `fused`: links on fixed joints are made one body, as MuJoCo does by default; poses are then not to be had.
    """

    def __init__(self, model: Model, urdf: str, fused: bool = False):
        import mujoco

        self.mujoco, self.model = mujoco, model
        self.name = f"MuJoCo {mujoco.__version__}"
        for joint in model.joints:
            if joint.kind.nv and not joint.kind.single:
                raise NotComparable(f'MuJoCo has no {joint.kind.name} joint in URDF ("{joint.name}")')
        try:
            spec = mujoco.MjSpec.from_string(_for_mujoco(urdf, fused))
            if model.floating_base:
                spec.worldbody.first_body().add_freejoint().name = BASE_JOINT
            self.robot = spec.compile()
        except Exception as error:
            raise NotComparable(f"MuJoCo does not read it: {first_line(error)}") from error
        self.robot.opt.gravity[:] = (0.0, 0.0, -9.81)
        self.robot.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT | mujoco.mjtDisableBit.mjDSBL_CONTACT
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
        """MuJoCo's q, and T of MuJoCo's v = T v: a free base's linear part is in world axes there."""
        qpos, T = np.zeros(self.robot.nq), self.G.copy()
        for d, start in self.places:
            if d.joint.kind is FLOATING:
                x, y, z, w = (q[d.q][k] for k in self._xyzw)
                qpos[start : start + 7] = [*q[d.q][:3], w, x, y, z]
                T[:3, d.v.start : d.v.start + 3] = [[*row] for row in quaternion_rotation([x, y, z, w]).matrix.rows]
            else:
                qpos[start] = d.multiplier * q[d.q][0] + d.offset
        return qpos, T

    def _turning(self, T: np.ndarray, v: np.ndarray) -> np.ndarray:
        """What the free base's turning axes add to accelerations: d/dt (R v) = R (a + w x v)."""
        added = np.zeros(self.robot.nv)
        for d, _ in self.places:
            if d.joint.kind is FLOATING:
                linear, angular = v[d.v][:3], v[d.v][3:]
                added[:3] = T[:3, d.v.start : d.v.start + 3] @ np.cross(angular, linear)
        return added

    @property
    def _xyzw(self) -> tuple[int, int, int, int]:
        return (3, 4, 5, 6) if self.model.quaternion == "xyzw" else (4, 5, 6, 3)

    def call(self, algorithm: str, q: np.ndarray, *others: np.ndarray, frame: str = "") -> Callable[[], Any]:
        mujoco, robot, data = self.mujoco, self.robot, self.data
        qpos, T = self._converted(q)
        given = [T @ x for x in others]
        if algorithm == "rnea":
            given[1] += self._turning(T, others[0])
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
            data.qvel, data.qacc = given
            mujoco.mj_comPos(robot, data)
            mujoco.mj_comVel(robot, data)
            mujoco.mj_rne(robot, data, 1, tau)
            return tau

        def aba() -> np.ndarray:
            data.qpos = qpos
            data.qvel, data.qfrc_applied = given
            mujoco.mj_forward(robot, data)
            return data.qacc

        return {"fk": fk, "jacobian": jacobian, "crba": crba, "rnea": rnea, "aba": aba}[algorithm]

    def fk(self, q: np.ndarray) -> np.ndarray:
        self.call("fk", q)()
        poses = np.tile(np.eye(4), (self.model.nlinks, 1, 1))
        for k, name in enumerate(self.model.link_names):
            body = max(self._body(name), 0)
            poses[k, :3, :3] = self.data.xmat[body].reshape(3, 3)
            poses[k, :3, 3] = self.data.xpos[body]
        return poses

    def jacobian(self, q: np.ndarray, frame: str) -> np.ndarray:
        return self.call("jacobian", q, frame=frame)() @ self._converted(q)[1]

    def crba(self, q: np.ndarray) -> np.ndarray:
        T, M = self._converted(q)[1], np.zeros((self.robot.nv, self.robot.nv))
        self.call("crba", q)()
        self.mujoco.mj_fullM(self.robot, self.data, M)
        return T.T @ M @ T

    def rnea(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        return self._converted(q)[1].T @ self.call("rnea", q, v, a)()

    def aba(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
        refuse_mimic_joints(self.model)
        T = self._converted(q)[1]
        return T.T @ (self.call("aba", q, v, tau)() - self._turning(T, v))

    def _body(self, link: str) -> int:
        return self.mujoco.mj_name2id(self.robot, self.mujoco.mjtObj.mjOBJ_BODY, link)


def bare(urdf: str) -> etree._Element:
    """Links and joints alone, without shapes and what else a library would look for on disk or add to the dynamics."""
    parser = etree.XMLParser(recover=True, resolve_entities=False, no_network=True, remove_comments=True)
    root = etree.fromstring(urdf.encode(), parser)
    for element in list(root):
        if element.tag not in ("link", "joint"):
            root.remove(element)
    for tag in ("visual", "collision", "mimic", "dynamics", "safety_controller", "calibration"):
        for element in list(root.iter(tag)):
            element.getparent().remove(element)
    for inertial in root.iter("inertial"):
        if inertial.find("origin") is None:  # MuJoCo would place it by the shapes
            etree.SubElement(inertial, "origin", xyz="0 0 0", rpy="0 0 0")
    return root


def _for_mujoco(urdf: str, fused: bool = False) -> str:
    """The bare text with what MuJoCo would change left out."""
    root = bare(urdf)
    options = etree.SubElement(etree.SubElement(root, "mujoco"), "compiler")
    for name in ("fusestatic", "balanceinertia", "inertiafromgeom"):
        options.set(name, "true" if fused and name == "fusestatic" else "false")
    return etree.tostring(root, encoding="unicode")


def first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
