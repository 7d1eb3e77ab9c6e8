"""The same robot in Pinocchio, in warpdyn's coordinates. Pinocchio ignores mimic joints, so G
reduces them here."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import pytest
from robots import Robot
from states import q_order, reduction, without_mimic

import warpdyn as wd
from warpdyn.model.joints import KINDS

pin = pytest.importorskip("pinocchio")


def in_pinocchio(robot: Robot) -> Peer:
    """The robot's peer. The test is skipped if Pinocchio reads the URDF as another robot."""
    for joint in robot.model.joints:
        if joint.kind is KINDS["planar"] and joint.axis != (0.0, 0.0, 1.0):
            pytest.skip("Pinocchio's planar joints lie in the xy plane whatever their axis")
    return Peer(robot)


def build_pinocchio(model: wd.Model) -> pin.Model:
    """The robot assembled in Pinocchio, for joint kinds that URDF has no word for. Mimic joints are
    free."""
    robot = pin.Model()
    carrier, place = {model.root: 0}, {model.root: pin.SE3.Identity()}
    if model.floating_base:
        carrier[model.root] = robot.addJoint(
            0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "root_joint"
        )
    for joint in model.joints:
        X = place[joint.parent] * pin.SE3(
            np.array(joint.pose.rotation), np.array(joint.pose.position)
        )
        number = carrier[joint.parent]
        if joint.kind.nv:
            number, X = (
                robot.addJoint(number, joint_model(joint), X, joint.name),
                pin.SE3.Identity(),
            )
        carrier[joint.child], place[joint.child] = number, X
    for link in model.links:
        inertia = pin.Inertia(link.mass, np.array(link.com), np.array(link.inertia))
        robot.appendBodyToJoint(carrier[link.name], inertia, place[link.name])
        robot.addBodyFrame(link.name, carrier[link.name], place[link.name], 0)
    return robot


def joint_model(joint: wd.Joint) -> pin.JointModel:
    axes = [np.array(axis) for axis in joint.axes]
    if joint.kind is KINDS["ball"]:
        return pin.JointModelSpherical()
    if joint.kind is KINDS["screw"]:
        return pin.JointModelHelicalUnaligned(axes[0], joint.pitch)
    if joint.kind is KINDS["prismatic"]:
        return pin.JointModelPrismaticUnaligned(axes[0])
    if joint.kind is KINDS["universal"]:
        return pin.JointModelUniversal(*axes)
    composite = pin.JointModelComposite()
    for axis in axes:
        composite.addJoint(pin.JointModelRevoluteUnaligned(axis))
    return composite


class Peer:
    """Pinocchio's answers for rows of warpdyn's q, v, a, tau."""

    def __init__(self, robot: Robot):
        self.robot, self.model = robot, robot.model
        root = (pin.JointModelFreeFlyer(),) if robot.floating else ()
        self.pin = (
            build_pinocchio(self.model)
            if robot.remade
            else pin.buildModelFromXML(robot.text, *root)
        )
        self.full = without_mimic(self.model)
        self.Gq, self.Gv, self.g = reduction(self.model)

    @cached_property
    def _columns(self) -> list[int]:
        """Column of the full model's v for each of Pinocchio's velocities."""
        columns = np.zeros(self.pin.nv, dtype=int)
        for joint in self.full.moving_joints:
            own = self.full.coordinates[joint.name].v
            start = self.pin.joints[self._id(joint)].idx_v
            columns[start : start + joint.kind.nv] = range(own.start, own.stop)
        return columns.tolist()

    def _id(self, joint) -> int:
        name = "root_joint" if joint.name == self.full.base_joint else joint.name
        number = self.pin.getJointId(name)
        assert number < self.pin.njoints, f"Pinocchio has no joint {name}"
        return number

    def q(self, q: np.ndarray) -> np.ndarray:
        full = self.Gq @ q + self.g
        result = np.zeros(self.pin.nq)
        for joint in self.full.moving_joints:
            own = full[self.full.coordinates[joint.name].q][q_order(self.full, joint)]
            theirs = self.pin.joints[self._id(joint)]
            if joint.kind is KINDS["planar"]:
                own = np.array([own[0], own[1], np.cos(own[2]), np.sin(own[2])])
            elif joint.kind.single and theirs.nq == 2:
                own = np.array([np.cos(own[0]), np.sin(own[0])])
            result[theirs.idx_q : theirs.idx_q + theirs.nq] = own
        return result

    def v(self, v: np.ndarray) -> np.ndarray:
        return (self.Gv @ v)[self._columns]

    def back(self, tau: np.ndarray) -> np.ndarray:
        """Forces on Pinocchio's joints as forces on warpdyn's coordinates."""
        full = np.zeros(self.full.nv)
        full[self._columns] = tau
        return self.Gv.T @ full

    def rnea(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        data = self.pin.createData()
        return np.array([
            self.back(pin.rnea(self.pin, data, self.q(q[e]), self.v(v[e]), self.v(a[e]))) for e in range(len(q))
        ])  # fmt: skip

    def crba(self, q: np.ndarray) -> np.ndarray:
        data, results = self.pin.createData(), []
        for e in range(len(q)):
            M = pin.crba(self.pin, data, self.q(q[e]))
            results.append(self.square(np.triu(M) + np.triu(M, 1).T))
        return np.array(results)

    def square(self, matrix: np.ndarray) -> np.ndarray:
        """Gᵀ A G for a matrix A over Pinocchio's velocities."""
        full = np.zeros((self.full.nv, self.full.nv))
        full[np.ix_(self._columns, self._columns)] = matrix
        return self.Gv.T @ full @ self.Gv

    def aba(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
        """Pinocchio's own ABA, only for robots without mimic joints."""
        assert not self.robot.has_mimic
        data, results = self.pin.createData(), []
        for e in range(len(q)):
            found = pin.aba(self.pin, data, self.q(q[e]), self.v(v[e]), tau[e][self._columns])
            results.append(self.back(found))
        return np.array(results)

    def fk(self, q: np.ndarray) -> np.ndarray:
        data, results = self.pin.createData(), []
        for e in range(len(q)):
            pin.framesForwardKinematics(self.pin, data, self.q(q[e]))
            results.append(
                [data.oMf[self._frame(name)].homogeneous for name in self.model.link_names]
            )
        return np.array(results)

    def _frame(self, link: str) -> int:
        return self.pin.getFrameId(link, pin.BODY)

    def jacobian(self, q: np.ndarray, frame: str, reference: str) -> np.ndarray:
        data, results = self.pin.createData(), []
        kind = {
            "local": pin.LOCAL,
            "world": pin.WORLD,
            "local_world_aligned": pin.LOCAL_WORLD_ALIGNED,
        }[reference]
        for e in range(len(q)):
            pin.computeJointJacobians(self.pin, data, self.q(q[e]))
            pin.updateFramePlacements(self.pin, data)
            J = pin.getFrameJacobian(self.pin, data, self._frame(frame), kind)
            full = np.zeros((6, self.full.nv))
            full[:, self._columns] = np.reshape(J, (6, -1))
            results.append(full @ self.Gv)
        return np.array(results)
