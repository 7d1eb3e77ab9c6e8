"""Velocities and accelerations of frames: laws on every robot, kernels and oracle, Pinocchio."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from kernels import kernel_error
from pinocchio_frames import frames_in_pinocchio
from robots import Robot, by_name, random_trees
from states import error, states, step

import warpdyn as wd
from warpdyn.execution.request.evaluate import tree_of
from warpdyn.functions import kinematics

ROUND_OFF = {"float64": 1e-13, "float32": 1e-5}
"""Relative to the largest entry: motions are carried along some ten joints."""

DIFFERENCE = 3e-9
"""Relative; central differences with step 1e-5 lose 1e-10 to curvature and 1e-11 to rounding."""

H = 1e-5
"""Step of central differences [s]."""

REFERENCES = ("local", "world", "local_world_aligned")

MIXED = "local_world_aligned"

KERNELS = (
    ("panda", "float64", "local"),
    ("quadruped_floating", "float32", "world"),
    ("mimic_branches", "float64", "local_world_aligned"),
    ("balls_wxyz", "float32", "local_world_aligned"),
)
"""What is compiled: a chain, a floating tree, mimic joints, quaternions inside and wxyz."""


@pytest.mark.parametrize("name, dtype, reference", KERNELS)
def test_kernels_equal_the_oracle(name: str, dtype: str, reference: str, device: str) -> None:
    """Kernels of all links and of the last link, which is another program, are compared."""
    model, near = by_name(name).model, ROUND_OFF[dtype]
    s = states(model)
    for chosen in ({}, {"frame": model.link_names[-1]}):
        options = {"dtype": dtype, "reference": reference, **chosen}
        assert kernel_error(device, kinematics.frame_velocity, model, s.q, s.v, **options) <= near
        assert (
            kernel_error(device, kinematics.frame_bias_acceleration, model, s.q, s.v, **options)
            <= near
        )
        found = kernel_error(
            device, kinematics.frame_acceleration, model, s.q, s.v, s.a, kind="classical", **options
        )
        assert found <= near


def test_velocity_equals_the_jacobian_times_v(robot: Robot) -> None:
    """v_i = J_i v in every reference, for every link."""
    model, s = robot.model, states(robot.model, 3)
    for reference in REFERENCES:
        J = wd.oracle(kinematics.jacobian, model, s.q, reference=reference)
        found = wd.oracle(kinematics.frame_velocity, model, s.q, s.v, reference=reference)
        assert error(found, np.einsum("elij,ej->eli", J, s.v), np.ones(1)) <= ROUND_OFF["float64"]


def test_acceleration_equals_j_a_plus_the_rate_of_j_times_v(robot: Robot) -> None:
    """The kind that belongs to the reference."""
    model, s = robot.model, states(robot.model, 3)
    for reference in REFERENCES:
        kind = "classical" if reference == MIXED else "spatial"
        J = wd.oracle(kinematics.jacobian, model, s.q, reference=reference)
        bias = wd.oracle(kinematics.frame_bias_acceleration, model, s.q, s.v, reference=reference)
        found = wd.oracle(
            kinematics.frame_acceleration, model, s.q, s.v, s.a, reference=reference, kind=kind
        )
        assert (
            error(found, np.einsum("elij,ej->eli", J, s.a) + bias, np.ones(1))
            <= ROUND_OFF["float64"]
        )


def test_bias_acceleration_equals_the_rate_of_the_jacobian_times_v(robot: Robot) -> None:
    """J' v by the rows of dJ/dt."""
    model, s = robot.model, states(robot.model, 3)
    for reference in REFERENCES:
        dJ = wd.oracle(kinematics.jacobian_derivative, model, s.q, s.v, reference=reference)
        bias = wd.oracle(kinematics.frame_bias_acceleration, model, s.q, s.v, reference=reference)
        assert error(bias, np.einsum("elij,ej->eli", dJ, s.v), np.ones(1)) <= ROUND_OFF["float64"]


@settings(max_examples=30)
@given(random_trees())
def test_acceleration_is_the_rate_of_velocity(robot: Robot) -> None:
    """The rate is the derivative of the velocity's components along the motion (q' = v, v' = a), on
    any tree.
    """
    model, s = robot.model, states(robot.model, 1)
    for reference in REFERENCES:
        kind = "classical" if reference == MIXED else "spatial"
        later, earlier = (
            wd.oracle(
                kinematics.frame_velocity,
                model,
                step(model, s.q, t * s.v + t * t / 2 * s.a),
                s.v + t * s.a,
                reference=reference,
            )
            for t in (H, -H)
        )
        found = wd.oracle(
            kinematics.frame_acceleration, model, s.q, s.v, s.a, reference=reference, kind=kind
        )
        assert error(found, (later - earlier) / (2 * H), np.ones(1)) <= 10 * DIFFERENCE


def test_classical_acceleration_is_spatial_plus_omega_cross_v(robot: Robot) -> None:
    """The relation holds in every reference."""
    model, s = robot.model, states(robot.model, 3)
    for reference in REFERENCES:
        V = wd.oracle(kinematics.frame_velocity, model, s.q, s.v, reference=reference)
        spatial, classical = (
            wd.oracle(
                kinematics.frame_acceleration, model, s.q, s.v, s.a, reference=reference, kind=kind
            )
            for kind in ("spatial", "classical")
        )
        turning = np.concatenate([np.cross(V[..., 3:], V[..., :3]), 0 * V[..., 3:]], axis=-1)
        assert error(classical, spatial + turning, np.ones(1)) <= ROUND_OFF["float64"]


def test_rotating_accelerations_at_the_end_gives_the_same_result(robot: Robot) -> None:
    """The second algorithm, of which a kernel takes the shorter one."""
    model, s = robot.model, states(robot.model, 2)
    for reference in ("world", MIXED):
        kind = "classical" if reference == MIXED else "spatial"
        for function, arrays, options in (
            (kinematics.frame_acceleration, (s.q, s.v, s.a), {"kind": kind}),
            (kinematics.frame_bias_acceleration, (s.q, s.v), {}),
        ):
            call = function.describe(model, *arrays, reference=reference, **options)
            tree = tree_of(model)
            first, second = (
                np.array(
                    [text(tree, *(x[e] for x in arrays), **dict(call.options)) for e in range(2)],
                    dtype=float,
                )
                for text in call.algorithms
            )
            assert error(second, first, np.ones(1)) <= ROUND_OFF["float64"]


@pytest.mark.parametrize("name", ["panda", "branches_wxyz", "mimic_branches", "rooted", "two_axes"])
def test_relative_velocity_is_the_difference_of_velocities(name: str) -> None:
    """v_i - v_other as vectors in space, expressed in the other's frame.

    Relative to itself it is zero.
    """
    model, other = by_name(name).model, by_name(name).model.link_names[2]
    s = states(model, 3)
    V = wd.oracle(kinematics.frame_velocity, model, s.q, s.v, reference="world")
    difference = V - V[:, [model.link_index(other)]]
    X = wd.oracle(kinematics.fk, model, s.q, frame=other)
    R, p = X[:, None, :3, :3], X[:, None, :3, 3]
    angular = (np.swapaxes(R, -1, -2) @ difference[..., 3:, None])[..., 0]
    linear = (
        np.swapaxes(R, -1, -2) @ (difference[..., :3] + np.cross(difference[..., 3:], p))[..., None]
    )[..., 0]
    found = wd.oracle(
        kinematics.frame_velocity, model, s.q, s.v, reference="world", relative_to=other
    )
    assert (
        error(found, np.concatenate([linear, angular], axis=-1), np.ones(1)) <= ROUND_OFF["float64"]
    )
    assert not np.any(found[:, model.link_index(other)])


def test_local_motion_does_not_depend_on_the_pose_of_the_base() -> None:
    """Moving and rotating a floating robot changes neither local velocities nor accelerations."""
    model = by_name("quadruped_floating").model
    s = states(model, 3)
    moved = s.q.copy()
    moved[:, :7] = states(model, 3, seed=1).q[:, :7]
    for function, arrays in (
        (kinematics.frame_velocity, (s.v,)),
        (kinematics.frame_acceleration, (s.v, s.a)),
        (kinematics.frame_bias_acceleration, (s.v,)),
    ):
        here, there = (
            wd.oracle(function, model, q, *arrays, reference="local") for q in (s.q, moved)
        )
        assert error(there, here) <= ROUND_OFF["float64"]


def test_velocities_equal_pinocchios(robot: Robot) -> None:
    """getFrameVelocity in every reference for every link."""
    peer, s = frames_in_pinocchio(robot), states(robot.model, 3)
    for reference in REFERENCES:
        found = wd.oracle(kinematics.frame_velocity, robot.model, s.q, s.v, reference=reference)
        assert error(found, peer.velocity(s.q, s.v, reference)) <= ROUND_OFF["float64"]


def test_accelerations_equal_pinocchios(robot: Robot) -> None:
    """getFrameAcceleration and getFrameClassicalAcceleration in every reference for every link."""
    peer, s = frames_in_pinocchio(robot), states(robot.model, 3)
    for reference in REFERENCES:
        for kind in ("spatial", "classical"):
            found = wd.oracle(
                kinematics.frame_acceleration,
                robot.model,
                s.q,
                s.v,
                s.a,
                reference=reference,
                kind=kind,
            )
            assert (
                error(found, peer.acceleration(s.q, s.v, s.a, reference, kind))
                <= ROUND_OFF["float64"]
            )
