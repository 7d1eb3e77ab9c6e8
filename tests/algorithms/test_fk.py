"""Forward kinematics: laws on every robot, the oracle, Pinocchio."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from kernels import kernel_error
from pinocchio_peer import in_pinocchio
from robots import ROBOTS, Robot, by_name, random_trees
from states import error, reduction, states, without_mimic

import warpdyn as wd
from warpdyn.functions import kinematics
from warpdyn.model.joints import FLOATING, KINDS, align_axis

ROUND_OFF = {"float64": 1e-13, "float32": 5e-6}
"""Relative to the largest entry of a pose: rotations are products of some ten factors."""


def test_fk_equals_the_oracle(robot: Robot, run, dtype) -> None:
    """The kernel gives the numbers of the same algorithm in float64, for all links."""
    s = states(robot.model).rounded(dtype)
    wanted = wd.oracle(wd.fk, robot.model, s.q)
    assert error(run(wd.fk, robot.model, s.q, dtype=dtype), wanted) <= ROUND_OFF[str(dtype)]


def test_poses_are_rigid_motions(robot: Robot, run) -> None:
    """Every pose is [[R, p], [0, 1]] with R^T R = 1, det R = 1. The last row is exact."""
    T = run(wd.fk, robot.model, states(robot.model).q)
    R = T[..., :3, :3]
    eye = np.broadcast_to(np.eye(3), R.shape)
    assert error(np.swapaxes(R, -1, -2) @ R, eye) <= ROUND_OFF["float64"]
    assert error(np.linalg.det(R), np.ones(R.shape[:2])) <= ROUND_OFF["float64"]
    assert np.array_equal(T[..., 3, :], np.broadcast_to([0.0, 0.0, 0.0, 1.0], (*T.shape[:-2], 4)))


def test_poses_follow_the_description(robot: Robot, run) -> None:
    """T_child = T_parent T_joint(pose) T_axis(q), joint by joint, with matrices written out here."""
    model, s = robot.model, states(robot.model, 5)
    T = run(wd.fk, model, s.q)
    full = without_mimic(model)
    Gq, _, g = reduction(model)
    q = s.q @ Gq.T + g
    for e in range(5):
        for joint in model.joints:
            parent, child = (T[e, model.link_index(name)] for name in (joint.parent, joint.child))
            own = q[e, full.coordinates[joint.name].q] if joint.kind.nq else np.zeros(0)
            assert (
                error(child, parent @ pose(joint.pose) @ motion(model, joint, own))
                <= ROUND_OFF["float64"]
            )
        if not model.floating_base:
            assert np.array_equal(T[e, 0], np.eye(4))


def pose(X) -> np.ndarray:
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = X.rotation, X.position
    return T


def motion(model: wd.Model, joint: wd.Joint, q: np.ndarray) -> np.ndarray:
    """A joint's own displacement by Rodrigues' formula."""
    T, axis = np.eye(4), np.array(joint.axis)
    if joint.kind.series:
        T[:3, :3] = rotation(axis, q[0]) @ rotation(np.array(joint.axis2), q[1])
    elif joint.kind in (KINDS["revolute"], KINDS["continuous"], KINDS["gearbox"], KINDS["screw"]):
        T[:3, :3] = rotation(axis, q[0])
        T[:3, 3] = axis * (joint.pitch * q[0])
    elif joint.kind is KINDS["prismatic"]:
        T[:3, 3] = axis * q[0]
    elif joint.kind is KINDS["planar"]:
        T[:3, :3] = rotation(axis, q[2])
        u, w = plane(axis)
        T[:3, 3] = u * q[0] + w * q[1]
    elif joint.kind.quaternion is not None:
        x, y, z, w = q[-4:] if model.quaternion == "xyzw" else np.roll(q[-4:], -1)
        u = np.array([x, y, z])
        T[:3, :3] = (w * w - u @ u) * np.eye(3) + 2 * np.outer(u, u) + 2 * w * cross(u)
        if joint.kind is FLOATING:
            T[:3, 3] = q[:3]
    return T


def plane(axis: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The directions of a planar joint's first two coordinates, right-handed with the axis.

    See docs/conventions.md.
    """
    k, _, turn = align_axis(KINDS["planar"], axis.tolist())
    R = np.array([list(row) for row in turn.matrix.rows])
    u, w = R[:, (k + 1) % 3], R[:, (k + 2) % 3]
    assert np.allclose(np.cross(u, w), axis, atol=1e-14)
    return u, w


def cross(u: np.ndarray) -> np.ndarray:
    return np.array([[0, -u[2], u[1]], [u[2], 0, -u[0]], [-u[1], u[0], 0]])


def rotation(axis: np.ndarray, angle: float) -> np.ndarray:
    return np.eye(3) + np.sin(angle) * cross(axis) + (1 - np.cos(angle)) * cross(axis) @ cross(axis)


@pytest.mark.parametrize("robot", [r for r in ROBOTS if r.has_mimic], ids=lambda r: r.name)
def test_mimic_joints_equal_the_reduction_of_the_free_robot(robot: Robot, run) -> None:
    """Poses are those of the robot whose mimic joints are free, at G q + g."""
    Gq, _, g = reduction(robot.model)
    q = states(robot.model).q
    wanted = wd.oracle(wd.fk, without_mimic(robot.model), q @ Gq.T + g)
    assert error(run(wd.fk, robot.model, q), wanted) <= ROUND_OFF["float64"]


@pytest.mark.parametrize("name", ["panda", "rooted", "planar", "mimic_branches"])
def test_a_floating_base_moves_the_fixed_robot(name: str, run) -> None:
    """T_floating(base, q) = T_base T_fixed(q)."""
    fixed = by_name(name)
    floating = replace(fixed, floating=True).model
    q = states(floating).q
    T = run(wd.fk, floating, q)
    assert error(T, T[:, :1] @ wd.oracle(wd.fk, fixed.model, q[:, 7:])) <= ROUND_OFF["float64"]


@settings(max_examples=60)
@given(random_trees())
def test_poses_of_random_trees_follow_the_description(robot: Robot) -> None:
    """The oracle's pose of each link is the one that its joint gives, on any tree."""
    test_poses_follow_the_description(
        robot, lambda function, model, q: wd.oracle(function, model, q)
    )


def test_fk_equals_pinocchios(robot: Robot, run) -> None:
    """Frame placements in float64, for every link."""
    peer, q = in_pinocchio(robot), states(robot.model).q
    assert error(run(wd.fk, robot.model, q), peer.fk(q)) <= ROUND_OFF["float64"]


# Other forms, other frames.


def matrix_of(pose: np.ndarray) -> np.ndarray:
    """Homogeneous matrices of x y z qx qy qz qw, by Rodrigues' formula."""
    T = np.zeros((*pose.shape[:-1], 4, 4))
    u, w = pose[..., 3:6], pose[..., 6]
    U = np.zeros((*pose.shape[:-1], 3, 3))
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        U[..., j, i], U[..., i, j] = u[..., k], -u[..., k]
    T[..., :3, :3] = np.eye(3) + 2 * w[..., None, None] * U + 2 * U @ U
    T[..., :3, 3], T[..., 3, 3] = pose[..., :3], 1.0
    return T


def test_poses_equal_the_matrices(robot: Robot) -> None:
    """form="pose" is the same pose. Its quaternion has unit length and qw >= 0."""
    model, q = robot.model, states(robot.model, 4).q
    pose = wd.oracle(kinematics.fk, model, q, form="pose")
    assert pose.shape == (4, model.nlinks, 7) and np.all(pose[..., 6] >= 0)
    assert (
        error(np.linalg.norm(pose[..., 3:], axis=-1), np.ones(pose.shape[:2]))
        <= ROUND_OFF["float64"]
    )
    assert error(matrix_of(pose), wd.oracle(kinematics.fk, model, q)) <= ROUND_OFF["float64"]


def test_quaternions_are_accurate_for_every_rotation(device: str) -> None:
    """The cases are no rotation, half turns, and rotations near them.

    Each of the four components is the largest once.
    """
    model = by_name("rooted_floating").model
    turns = np.vstack(
        [
            np.eye(4),
            np.eye(4) + 1e-9,
            np.eye(4) - 1e-9,
            *([np.ones(4) - 2 * np.eye(4)[k]] for k in range(4)),
        ]
    )
    turns = np.vstack(
        [turns, [[1, 1, 0, 0], [1, 0, -1, 0], [0, 1, 1, 0], [1, 1, 1, 0], [3e-4, -1, 0, -1e-7]]]
    )
    turns /= np.linalg.norm(turns, axis=1, keepdims=True)
    q = np.zeros((len(turns), model.nq))
    q[:, 3:7] = turns
    pose = kinematics.fk(model, q, frame="pedestal", form="pose")
    same = np.sum(pose[:, 3:] * turns, axis=1, keepdims=True)
    assert error(pose[:, 3:], turns * np.sign(same)) <= 1e-9
    assert error(np.abs(same), np.ones_like(same)) <= ROUND_OFF["float64"] and np.all(
        pose[:, 6] >= 0
    )
    options = {"frame": "pedestal", "form": "pose", "dtype": "float32"}
    assert (
        kernel_error(device, kinematics.fk, model, states(model).q, **options)
        <= ROUND_OFF["float32"]
    )


@pytest.mark.parametrize(
    "name", ["panda", "branches_wxyz", "rooted", "mimic_branches", "free_inside"]
)
def test_relative_poses_equal_the_product_of_poses(name: str) -> None:
    """T_other^-1 T of every link, relative to every second link: a carrier, a carried link, one of
    another branch, itself.
    """
    model = by_name(name).model
    q = states(model, 3).q
    T = wd.oracle(kinematics.fk, model, q)
    for other in model.link_names[::2]:
        found = wd.oracle(kinematics.fk, model, q, relative_to=other)
        assert (
            error(found, np.linalg.inv(T[:, [model.link_index(other)]]) @ T) <= ROUND_OFF["float64"]
        )
        one = wd.oracle(kinematics.fk, model, q, frame=model.link_names[-1], relative_to=other)
        assert error(one, found[:, -1]) <= ROUND_OFF["float64"]


def test_relative_poses_do_not_read_the_base() -> None:
    """The pose of a floating base is not an input of the program."""
    model = by_name("quadruped_floating").model
    q = states(model, 3).q
    frame, other = model.link_names[-1], model.link_names[0]
    here = kinematics.fk(model, q, frame=frame, relative_to=other)
    q[:, :7] = np.nan
    assert np.array_equal(kinematics.fk(model, q, frame=frame, relative_to=other), here)
