"""Gravity torques of a payload, compared with the limits of the joints."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from fleets import MODEL, NAMES, Q, feed, panda_fleet, panda_settings

import warpdyn as wd
from ros2_node.control.safety.payload_limits import overload, payload_torques

HAND = {"payload__link": "panda_hand", "payload__com": (0.02, -0.03, 0.1)}


def test_payload_torques_are_the_increase_of_the_gravity_torques():
    """This holds in any pose and gravity. Without a link or a mass they are zero."""
    gravity = (1.0, -2.0, -9.0)
    settings = panda_settings(**HAND, payload__mass=3.0, gravity=gravity)
    heavy = MODEL.with_payload("panda_hand", 3.0, (0.02, -0.03, 0.1))
    for q in (Q, wd.random_configuration(MODEL, 1, seed=1)[0]):
        added = wd.oracle(wd.gravity_torques, heavy, q, gravity=gravity) - wd.oracle(
            wd.gravity_torques, MODEL, q, gravity=gravity
        )
        np.testing.assert_allclose(payload_torques(MODEL, settings, q), added, atol=1e-9)
    assert not payload_torques(MODEL, panda_settings(), Q).any()
    assert not payload_torques(MODEL, panda_settings(payload__link="panda_hand"), Q).any()


@pytest.mark.parametrize(
    ("values", "heavy"),
    [
        ({"payload__mass": 5.0}, False),
        ({"payload__mass": 50.0}, True),
        ({"payload__mass": 5.0, "effort_limits": 1.0}, True),
        ({"payload__mass": 5.0, "effort_limit_scale": 0.01}, True),
        ({"payload__mass": 50.0, "effort_limit_scale": 0.0}, False),
        ({"payload__mass": 50.0, "torque_scale": 0.05}, False),
        ({"payload__mass": 50.0, "gravity": (0.0, 0.0, 0.0)}, False),
    ],
    ids=str,
)
def test_the_overload_check_uses_the_scaled_command_limits(values, heavy):
    """Joints that may send no torque do not count."""
    fleet = panda_fleet(**HAND, **values)
    (robot,) = fleet.robots
    assert overload(MODEL, fleet.settings, robot.states, robot.output) == "", "no state yet"
    feed(robot, 0.0)
    said = overload(MODEL, fleet.settings, robot.states, robot.output)
    assert bool(said) == heavy
    if heavy:
        limit = robot.output.limit[1]
        torque = abs(payload_torques(MODEL, fleet.settings, Q)[1])
        assert f"panda_joint2 {torque:.4g} of {limit:.4g}" in said and " kg alone exceeds" in said


def test_a_load_that_needs_exactly_the_limit_is_accepted():
    """The text has each overloaded joint with its torque and limit, and what to do."""
    settings = panda_settings(**HAND, payload__mass=5.0)
    torque = np.abs(payload_torques(MODEL, settings, Q))
    states = SimpleNamespace(arrived=0.0, q=Q)
    limit = torque.copy()
    output = SimpleNamespace(joints=NAMES, limits_for=lambda settings: (limit, limit))
    assert overload(MODEL, settings, states, output) == ""
    limit[[1, 3]] *= 0.5
    assert overload(MODEL, settings, states, output) == (
        "the weight of payload.mass 5 kg alone exceeds effort limits where the robot is now: "
        f"panda_joint2 {torque[1]:.4g} of {0.5 * torque[1]:.4g}, "
        f"panda_joint4 {torque[3]:.4g} of {0.5 * torque[3]:.4g} N*m. "
        "Check payload.mass and payload.com"
    )
    assert overload(MODEL, replace(settings, policy="walk"), states, output) == ""
