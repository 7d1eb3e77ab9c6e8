"""Parameters of joint states."""

from __future__ import annotations

from dataclasses import fields

import pytest

from ros2_node.control.settings.node_settings import BY_NAME, DEFAULTS, Settings
from ros2_node.control.settings.state_settings import StateSettings


def test_state_parameters_belong_to_the_node_and_have_bounds():
    assert {field.name for field in fields(StateSettings)} <= {p.field for p in BY_NAME.values()}
    assert DEFAULTS.max_state_age == 0.5 and DEFAULTS.position_limit_margin == 0.1
    for name, value, said in (
        ("state_timeout", 0.0, "must lie in 0.01 .. 60 s"),
        ("max_state_age", -1.0, "must lie in 0 .. 3600 s"),
        ("position_limit_margin", float("nan"), "must lie in 0 .. 10000 rad or m"),
        ("velocity_source", "guess", "must be one of message, zero, finite_difference"),
        ("missing_joint_policy", True, "must be a text"),
    ):
        with pytest.raises(ValueError, match=f"{name} {said}"):
            Settings.of({name: value})
