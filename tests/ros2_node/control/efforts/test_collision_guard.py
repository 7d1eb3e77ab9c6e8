"""Collision thresholds by joint, raised by speed."""

from __future__ import annotations

import numpy as np
import pytest
from fleets import panda_settings

from ros2_node.control.efforts.collision_guard import CollisionGuard

JOINTS, COLUMNS = ("a", "b", "c"), [2, 0, 1]
KNOWN = np.ones(4, dtype=bool)


def guard(**values):
    return CollisionGuard(JOINTS, COLUMNS, panda_settings(effort_source="message", **values))


def test_without_thresholds_no_collision_is_detected():
    assert guard().collision(np.full(4, 1e9), np.zeros(4), KNOWN) == "" and not guard().watching


def test_the_joint_farthest_beyond_its_threshold_is_named():
    """The ratio to the threshold counts, not the torque. A threshold of zero is none."""
    one = guard(collision_threshold=[1.0, 10.0, 0.0])
    assert one.collision(np.array([9.0, 500.0, 0.9, 0.0]), np.zeros(4), KNOWN) == ""
    said = one.collision(np.array([12.0, 500.0, -3.0, 0.0]), np.zeros(4), KNOWN)
    assert said == "collision: external torque of a is -3 N·m, more than its threshold 1"


def test_speed_raises_only_the_threshold_of_its_joint():
    """A joint whose torque is unknown has no collision."""
    one = guard(collision_threshold=1.0, collision_speed_factor=2.0)
    felt, v = np.array([2.5, 0.0, 2.5, 0.0]), np.array([-1.0, 0.0, 0.0, 0.0])
    assert one.collision(felt, v, KNOWN).startswith("collision: external torque of a ")
    v[2] = 1.0
    assert one.collision(felt, v, KNOWN) == ""
    assert one.collision(felt * [np.nan, 1, 99, 1], v, KNOWN & (felt > 9)) == ""


def test_joints_with_thresholds_but_no_effort_are_named():
    """One joint with a threshold and a known torque is enough to watch."""
    one, none = guard(collision_threshold=[1.0, 10.0, 0.0]), np.zeros(4, dtype=bool)
    assert (
        one.unguarded_joints(none) == ["a", "b"]
        and not one.watches(none)
        and one.unguarded_joints(KNOWN) == []
    )
    known = np.array([True, False, False, False])
    assert one.unguarded_joints(known) == ["a"] and one.watches(known)
    known = np.array([False, True, False, True])
    assert not one.watches(known), "the one that is known has no threshold"


def test_a_list_must_fit():
    with pytest.raises(ValueError, match="collision_threshold has 2 numbers"):
        guard(collision_threshold=[1.0, 1.0])


def test_a_torque_at_its_threshold_is_no_collision():
    """This holds at rest and in motion."""
    one = guard(collision_threshold=1.0, collision_speed_factor=2.0)
    v = np.array([0.5, 0.0, 0.0, 0.0])
    for size, hit in ((2.0, False), (2.0625, True)):
        said = one.collision(np.array([-size, 1.0, 1.0, 9.0]), v, KNOWN)
        assert said == (
            "collision: external torque of b is -2.06 N·m, more than its threshold 2" if hit else ""
        )
