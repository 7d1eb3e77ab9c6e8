"""Position limits by the names of joints."""

from __future__ import annotations

import numpy as np
from fleets import MODEL, NAMES, wheel_text

import warpdyn as wd
from ros2_node.control.safety.position_limits import position_limits


def test_the_limits_are_those_of_the_named_joints_in_their_order():
    names = [NAMES[2], NAMES[0]]
    lower, upper = position_limits(MODEL, names)
    np.testing.assert_array_equal(upper, MODEL.position_upper[[2, 0]])
    np.testing.assert_array_equal(lower, MODEL.position_lower[[2, 0]])
    upper[:] = 0.0  # a copy
    assert (MODEL.position_upper[[2, 0]] != 0.0).all()


def test_a_joint_without_an_end_has_none():
    model = wd.load_urdf(wheel_text())
    names = [j.name for j in model.moving_joints if j.kind.name == "continuous"]
    lower, upper = position_limits(model, names)
    assert names and (lower == -np.inf).all() and (upper == np.inf).all()


def test_equal_bounds_are_no_limits():
    """A range from 0 to 0 is one that the description leaves open."""
    model = wd.load_urdf(
        wheel_text("revolute").replace('lower="-1" upper="1"', 'lower="0" upper="0"')
    )
    lower, upper = position_limits(model, ["spin"])
    assert lower == -np.inf and upper == np.inf
