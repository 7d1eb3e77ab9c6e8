"""Checks of parameter values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ros2_node.control.settings.node_settings import PARAMETERS, Settings
from ros2_node.control.settings.parameter import per_joint


@pytest.mark.parametrize(
    "name, value, said",
    [
        ("torque_scale", float("nan"), "0 .. 1.5"),
        ("torque_scale", -0.1, "0 .. 1.5"),
        ("torque_scale", [], "empty list"),
        ("torque_scale", [1.0, float("inf")], "0 .. 1.5"),
        ("torque_scale", True, "number"),
        ("state_timeout", "0.1", "number"),
        ("mode", "fly", "gravity, inverse_dynamics, computed_torque"),
        ("mode", 1, "text"),
        ("gravity", 9.81, "list"),
        ("gravity", [0, 0], "3 numbers, got 2"),
        ("joints", "panda_joint1", "list"),
        ("joints", [1], "names"),
        ("joints", ["a", "a"], "twice"),
        ("start_enabled", 1, "true or false"),
        ("payload.mass", 1.0, "payload.link"),
        ("wings", 2, "no parameter"),
    ],
)
def test_refusals_of_bad_values_say_what_is_needed(name, value, said):
    with pytest.raises(ValueError, match=said) as error:
        Settings.of({name: value})
    assert name in str(error.value)


def test_integers_and_lists_with_empty_strings_are_accepted():
    settings = Settings.of({"kp": 5, "gravity": [0, 0, -9], "joints": [""], "torque_scale": [1, 0]})
    assert settings.kp == 5.0 and settings.gravity == (0.0, 0.0, -9.0) and settings.joints == ()
    assert settings.torque_scale == (1.0, 0.0)


def test_one_number_counts_for_each_joint():
    """A list has a number for each joint, also if it is as long as one."""
    np.testing.assert_array_equal(per_joint("kp", 2.0, 3), [2.0, 2.0, 2.0])
    np.testing.assert_array_equal(per_joint("kp", (1.0, 2.0, 3.0), 3), [1.0, 2.0, 3.0])
    for numbers in ((1.0,), (1.0, 2.0), (1.0, 2.0, 3.0, 4.0)):
        said = f"kp has {len(numbers)} numbers but there are 3 command joints: give one, or 3"
        with pytest.raises(ValueError, match=said):
            per_joint("kp", numbers, 3)


@given(
    st.sampled_from(PARAMETERS),
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.lists(st.floats())
    ),
)
def test_any_value_is_accepted_or_refused_with_the_parameters_name(parameter, value):
    try:
        Settings.of({parameter.name: value})
    except ValueError as error:
        assert parameter.name in str(error)
