"""Motions over time, from arrays and from joints by name, and invalid motions."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import warpdyn as wd

viewer = pytest.importorskip("warpdyn.viewer")
Trajectory = viewer.Trajectory
ARM = wd.load_robot("ur5e")


def test_a_motion_is_interpolated_along_the_shortest_way() -> None:
    """`wd.interpolate` does the same, with quaternions too. Beyond its ends the motion is
    constant."""
    model = wd.load_robot("quadruped", floating_base=True)
    q = np.asarray(wd.random_configuration(model, 3, seed=1))
    motion = Trajectory.of(model, q, [1.0, 2.0, 4.0])
    assert motion.seconds == 3.0
    assert np.allclose(motion.at(2.5)[0], wd.interpolate(model, q[1:2], q[2:3], 0.25)[0])
    assert np.array_equal(motion.at(0.0)[0], q[0]) and np.array_equal(motion.at(9.0)[0], q[2])
    assert np.array_equal(motion.at(2.0)[0], q[1])


def test_wheels_turn_on_where_their_angles_jump() -> None:
    """The angle of a wheel goes from 3.1 over π to -3.1 rad, an angle with limits goes back."""
    builder = wd.ModelBuilder("cart").add_link("base").add_link("rim", mass=1.0)
    builder.add_link("arm", mass=1.0).add_joint("spin", "continuous", "base", "rim")
    builder.add_joint("bend", "revolute", "base", "arm", lower=-9.0, upper=9.0)
    q = np.array([[[3.1, 3.1], [-3.1, 0.0]], [[-3.1, -3.1], [3.1, 0.2]]])
    motion = Trajectory.of(builder.build(), q, [0.0, 1.0])
    assert np.allclose(motion.at(0.5), [[np.pi, 0.0], [-np.pi, 0.1]])
    assert np.array_equal(motion.at(0.0), q[0]) and np.array_equal(motion.at(1.0), q[1])


def test_wheels_with_long_steps_turn_forward() -> None:
    """Angles that fill more than one turn are not wrapped, so a step of 5 rad is one of 5 rad."""
    builder = wd.ModelBuilder("cart").add_link("base").add_link("rim", mass=1.0)
    model = builder.add_joint("spin", "continuous", "base", "rim").build()
    motion = Trajectory.of(model, {"spin": [0.0, 5.0, 10.0, 15.0]}, [0.0, 1.0, 2.0, 3.0])
    assert np.allclose([motion.at(t) for t in (0.5, 1.2, 2.9)], [[[2.5]], [[6.0]], [[14.5]]])


def test_two_rows_at_one_time_are_a_jump() -> None:
    """The second one counts, from that time on; several robots move together."""
    q = 0.1 * np.arange(48.0).reshape(4, 2, 6) % 1.7
    motion = Trajectory.of(ARM, q, [0.0, 1.0, 1.0, 3.0])
    assert motion.q.shape == (4, 2, 6) and motion.seconds == 3.0
    np.testing.assert_allclose(motion.at(0.75), 0.25 * q[0] + 0.75 * q[1])
    np.testing.assert_array_equal(motion.at(1.0), q[2])
    np.testing.assert_allclose(motion.at(1.5), 0.75 * q[2] + 0.25 * q[3])


def test_a_joint_of_several_coordinates_by_name() -> None:
    model = wd.load_robot("quadruped", floating_base=True)
    base = model.base_joint
    rows = np.tile([0.1, 0.2, 0.3, 0.0, 0.0, 0.6, 0.8], (3, 1))
    motion = Trajectory.of(model, {base: rows})
    np.testing.assert_array_equal(motion.q[:, 0, :7], rows)
    assert motion.still == tuple(name for name in model.joint_names if name != base)
    with pytest.raises(viewer.ViewerError, match=re.escape(f'"{base}" must be (3, 7), got (3, 6)')):
        Trajectory.of(model, {base: rows[:, :6]})


def test_joints_by_name_leave_the_others_at_home() -> None:
    joint = ARM.joint_names[2]
    motion = Trajectory.of(ARM, {joint: [0.0, 0.5]})
    home = ARM.configurations["home"]
    assert motion.q.shape == (2, 1, 6) and motion.times.tolist() == [0.0, 0.02]
    assert (
        np.allclose(np.delete(motion.q[1, 0], 2), np.delete(home, 2)) and motion.q[1, 0, 2] == 0.5
    )


@pytest.mark.parametrize(
    ("q", "times", "error"),
    [
        (np.zeros((4, 7)), None, "a trajectory of ur5e is (T, 6) or (T, B, 6), got (4, 7)"),
        (np.zeros((0, 6)), None, "got (0, 6)"),
        (np.zeros((4, 6)), [0, 1, 2], "times must be (4,), one for each row, got (3,)"),
        (np.zeros((3, 6)), [0, np.nan, 1], "not finite in 1 of 3 rows, first in row 1"),
        (np.zeros((3, 6)), [0, 2, 1], "times must increase; row 2 has 1 s after 2 s"),
        (
            np.zeros((3, 6)),
            [0, 10**7, 2 * 10**7],
            "times are in seconds, and rows from 0 s are 1e+07 s",
        ),
        (np.zeros((2, 6)), [0.0, 2e3 + 0.5], "are 2000.5 s apart (median)"),
        (np.zeros((1, 6)), [1_700_000_000_123_456_789], "rows from 1.7e+18 s"),
        (np.array([[0.0] * 6, [np.nan] * 6]), None, "not finite in 1 of 2 rows, first in row 1"),
        ({"wheel": [0.0]}, None, "names wheel, which ur5e does not have; it has shoulder"),
        ({}, None, "names no joint of ur5e"),
        ({ARM.joint_names[0]: np.zeros((4, 2))}, None, "must be (4,), got (4, 2)"),
    ],
)
def test_an_invalid_motion_is_refused(q: Any, times: Any, error: str) -> None:
    with pytest.raises(viewer.ViewerError, match=re.escape(error)):
        Trajectory.of(ARM, q, times)
