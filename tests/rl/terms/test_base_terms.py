"""Quantities of a free base, compared with the oracle's poses."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

import warpdyn as wd

pytest.importorskip("warpdyn.rl")
from warpdyn.rl.terms import (
    base_to_world,
    bounce,
    gravity_in_base,
    heading,
    heading_error,
    heading_quaternion,
    level_velocity,
    roll_and_pitch,
    rotation,
    speed_error,
    tilt,
    turning_error,
    uprightness,
    world_to_base,
)

MODEL = wd.load_robot("quadruped")


def test_rotation_equals_that_of_the_base() -> None:
    for q in wd.random_configuration(MODEL, 3, seed=0):
        R = wd.oracle(wd.fk, MODEL, q, frame=MODEL.root)[:3, :3]
        assert rotation(q) == pytest.approx(R)
        assert gravity_in_base(q) == pytest.approx(R.T @ [0.0, 0.0, -1.0])
        assert world_to_base(q, np.array([1.0, 2.0, 3.0])) == pytest.approx(R.T @ [1, 2, 3])


def test_heading_quaternion_turns_a_level_base() -> None:
    R = rotation(np.array([0, 0, 0, *heading_quaternion(0.7)]))
    assert np.arctan2(R[1, 0], R[0, 0]) == pytest.approx(0.7) and R[2, 2] == 1.0


def test_base_to_world_inverts_world_to_base() -> None:
    (q,), x = wd.random_configuration(MODEL, 1, seed=3), np.array([0.3, -1.0, 2.0])
    assert base_to_world(q, world_to_base(q, x)) == pytest.approx(x)


@pytest.mark.parametrize("yaw", [-3.0, -0.4, 0.0, 1.2, 3.1])
def test_heading_is_the_yaw_of_a_level_base(yaw: float) -> None:
    q = np.array([0, 0, 0, *heading_quaternion(yaw)])
    assert heading(q) == pytest.approx(yaw)
    for off in (-2.0, 0.1, 3.0):
        assert heading_error(q, yaw + off) == pytest.approx(off)
    assert (tilt(q), uprightness(q)) == (pytest.approx(0.0, abs=1e-12), pytest.approx(1.0))
    v = np.array([0.5, -0.2, 0.1, 0, 0, 0])
    assert level_velocity(q, v) == pytest.approx(v[:3])


def test_tilt_is_the_squared_sine_of_the_angle() -> None:
    """30 degrees about x: sin² = 1/4. The velocity is converted to level axes."""
    q = np.array([0, 0, 0, np.sin(np.pi / 12), 0, 0, np.cos(np.pi / 12)])
    assert tilt(q) == pytest.approx(0.25) and uprightness(q) == pytest.approx(np.sqrt(0.75))
    v = np.array([1.0, 0, 1.0, 0, 0, 0])
    assert level_velocity(q, v) == pytest.approx([1.0, -0.5, np.sqrt(0.75)])


def test_errors_of_speeds_are_norms_of_differences() -> None:
    v = np.array([0.5, -0.2, 0.3, 0.1, 0.2, 0.7])
    command = np.array([0.8, 0.2, 0.4])
    assert speed_error(v, command) == pytest.approx(0.5)
    assert turning_error(v, command) == pytest.approx(0.3)
    assert bounce(v) == pytest.approx(0.09) and roll_and_pitch(v) == pytest.approx(0.05)


def of_a_kernel(term: Any, model: wd.Model) -> Any:
    """The result of a term of q and v in a kernel of the model, at its neutral state."""

    @wd.kernel
    def one(robot: Any, q: Any, v: Any) -> Any:
        return np.asarray(term(q, v)) + 0.0

    return wd.oracle(one, model, model.neutral, np.zeros(model.nv))


OF_Q = [
    *(rotation, gravity_in_base, heading, tilt, uprightness),
    *(partial(f, vector=np.ones(3)) for f in (world_to_base, base_to_world)),
    partial(heading_error, wanted=0.0),
]
OF_V = [
    bounce,
    roll_and_pitch,
    *(partial(f, command=np.ones(3)) for f in (speed_error, turning_error)),
]
TERMS = [
    *(lambda q, v, f=f: f(q) for f in OF_Q),
    *(lambda q, v, f=f: f(v) for f in OF_V),
    level_velocity,
]


@pytest.mark.parametrize("term", TERMS)
def test_the_state_of_another_convention_is_refused(term: Any) -> None:
    """A quaternion w, x, y, z or velocities in the world's axes gave other numbers without a
    word."""
    of_q, of_v = (
        term in TERMS[: len(OF_Q)] or term is level_velocity,
        term not in TERMS[: len(OF_Q)],
    )
    of_a_kernel(term, MODEL)
    for model, refused, message in (
        (wd.load_robot("quadruped", quaternion="wxyz"), of_q, "wxyz quaternions.*reads x, y, z, w"),
        (MODEL.with_base_velocity("world"), of_v, "world base velocities, and this term reads"),
        (wd.load_robot("quadruped", floating_base=False), True, "no free base at the beginning"),
    ):
        if refused:
            with pytest.raises(wd.kernels.RecordingError, match=f"test_base_terms.*{message}"):
                of_a_kernel(term, model)
        else:
            assert np.isfinite(of_a_kernel(term, model)).all()


def test_a_heading_quaternion_of_another_order_is_refused() -> None:
    other = wd.load_robot("quadruped", quaternion="wxyz")
    assert of_a_kernel(lambda q, v: heading_quaternion(0.0), MODEL) == pytest.approx([0, 0, 0, 1])
    with pytest.raises(wd.kernels.RecordingError, match="heading_quaternion gives x, y, z, w"):
        of_a_kernel(lambda q, v: heading_quaternion(0.0), other)


def test_seven_numbers_of_a_pose_are_accepted_in_any_kernel() -> None:
    """Such as a base with its quaternion reordered, or the pose of another link."""
    other = wd.load_robot("quadruped", quaternion="wxyz")
    found = of_a_kernel(lambda q, v: uprightness(np.concatenate([q[:3], q[4:7], q[3:4]])), other)
    assert found == 1.0
    panda = wd.load_robot("panda")
    assert of_a_kernel(lambda q, v: uprightness(robot_pose(q)), panda) == 1.0


def robot_pose(q: Any) -> Any:
    return np.concatenate([q[:3], [0.0, 0.0, 0.0, 1.0]])
