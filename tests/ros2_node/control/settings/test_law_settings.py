"""Parameters of tracking and friction."""

from __future__ import annotations

from dataclasses import fields

import pytest

from ros2_node.control.settings.law_settings import LawSettings
from ros2_node.control.settings.node_settings import BY_NAME, DEFAULTS, Settings


def test_law_parameters_belong_to_the_node_and_have_bounds():
    assert {field.name for field in fields(LawSettings)} <= {p.field for p in BY_NAME.values()}
    assert DEFAULTS.friction_scale == 0.0 and DEFAULTS.max_pose_error == (0.2, 0.5)
    for name, value, said in (
        ("max_pose_error", [0.1], "must be 2 numbers, got 1"),
        ("max_pose_error", [0.1, -1.0], "must lie in 0 .. 1000 m and rad"),
        ("friction.scale", 1.01, "must lie in 0 .. 1, got 1.01"),
        ("friction.coulomb", [1.0, -1.0], "must lie in 0 .. 10000"),
        ("friction.speed", 0.0, "must lie in 0.001 .. 10 rad/s"),
        ("friction.viscous", float("nan"), "must lie in"),
    ):
        with pytest.raises(ValueError, match=f"{name} {said}"):
            Settings.of({"law": "teaching", name: value})
