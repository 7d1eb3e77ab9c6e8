"""Position limits by joint name."""

from __future__ import annotations

import numpy as np
from fleets import MODEL, NAMES, wheel_text

import warpdyn as wd
from ros2_node.control.safety.position_limits import position_limits


def test_limits_are_returned_in_the_order_of_the_names():
    names = [NAMES[2], NAMES[0]]
    lower, upper = position_limits(MODEL, names)
    np.testing.assert_array_equal(upper, MODEL.position_upper[[2, 0]])
    np.testing.assert_array_equal(lower, MODEL.position_lower[[2, 0]])
    upper[:] = 0.0  # a copy
    assert (MODEL.position_upper[[2, 0]] != 0.0).all()


def test_a_continuous_joint_has_no_limits():
    model = wd.load_urdf(wheel_text())
    names = [j.name for j in model.moving_joints if j.kind.name == "continuous"]
    lower, upper = position_limits(model, names)
    assert names and (lower == -np.inf).all() and (upper == np.inf).all()


def test_equal_bounds_mean_no_limits():
    """A range from 0 to 0 is one that the description leaves open."""
    model = wd.load_urdf(
        wheel_text("revolute").replace('lower="-1" upper="1"', 'lower="0" upper="0"')
    )
    lower, upper = position_limits(model, ["spin"])
    assert lower == -np.inf and upper == np.inf
