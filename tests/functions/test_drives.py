"""Drives, and the stops and speeds that a description gives."""

from __future__ import annotations

import math

import numpy as np
import pytest

import warpdyn as wd
from warpdyn.functions.drives import drive_arrays, speed_limits, stops_of

PANDA, QUADRUPED = wd.load_robot("panda"), wd.load_robot("quadruped")


def test_a_drive_is_bounded_by_the_efforts_of_the_description() -> None:
    targets = np.zeros((2, 12))
    arrays = drive_arrays(QUADRUPED, wd.PD(20.0, 0.5), targets)
    assert arrays["targets"] == (targets, (12,))
    assert arrays["kp"] == ((20.0,) * 12, (12,)) and arrays["kd"] == ((0.5,) * 12, (12,))
    effort, shape = arrays["effort"]
    assert shape == (12,) and list(effort) == list(QUADRUPED.effort_limit[6:])
    assert drive_arrays(QUADRUPED, None, None) == {}


def test_stops_and_speed_limits_are_those_of_the_joints() -> None:
    stops, speeds = stops_of(QUADRUPED, None), speed_limits(QUADRUPED)
    joint = QUADRUPED.joint("FL_hip_joint")
    (first,) = (s for s in stops if s.v_index == QUADRUPED.coordinates[joint.name].v.start)
    (limits,) = joint.v_limits
    assert (first.lower, first.upper) == (limits.lower, limits.upper)
    assert first.stiffness * 0.01 == pytest.approx(limits.effort)
    assert first.q_index == first.v_index + 1
    assert all(math.isfinite(x) and x > 0 for _, x in speeds)
    assert {k for k, _ in speeds} == set(range(6, 18))


def test_joints_with_springs_of_their_own_have_no_stops() -> None:
    sprung = PANDA.with_limit_springs(stiffness=100.0)
    assert stops_of(PANDA, None) and not stops_of(sprung, None)


def test_what_is_no_drive_is_refused() -> None:
    targets = np.zeros((2, 7))
    with pytest.raises(ValueError, match="control= needs targets="):
        drive_arrays(PANDA, wd.PD(1.0, 1.0), None)
    with pytest.raises(ValueError, match="targets= are of drives"):
        drive_arrays(PANDA, None, targets)
    with pytest.raises(TypeError, match=r"control must be wd\.PD\(kp, kd\), got float"):
        drive_arrays(PANDA, 20.0, targets)
    with pytest.raises(ValueError, match="kd must be at least 0"):
        drive_arrays(PANDA, wd.PD(1.0, -1.0), targets)
