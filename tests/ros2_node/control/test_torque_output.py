"""From torques to commands and back to silence."""

from __future__ import annotations

import numpy as np
import pytest
from fleets import MODEL, NAMES, wheel_text
from hypothesis import given
from hypothesis import strategies as st

import warpdyn as wd
from ros2_node.control.settings import Settings
from ros2_node.control.torque_output import (
    LAST_COMMANDS,
    STOP_TIME,
    TorqueOutput,
    finite,
    per_joint,
)

LIMIT = MODEL.effort_limit


@given(
    st.lists(st.floats(-1e3, 1e3), min_size=8, max_size=8),
    st.lists(st.floats(0.0, 1.5), min_size=8, max_size=8),
    st.floats(0.0, 1.0),
    st.floats(0.0, 1e4),
    st.lists(st.floats(0.0, 0.05), min_size=5, max_size=20),
)
def test_commands_are_finite_limited_and_no_faster_than_told(torque, scale, share, rate, steps):
    values = {
        "torque_scale": scale,
        "effort_limit_scale": share,
        "max_torque_rate": rate,
        "ramp_time": 0.1,
    }
    output = TorqueOutput(MODEL, NAMES, Settings.of(values))
    output.start(0.0)
    now, before = 0.0, np.zeros(8)
    for k, step in enumerate(steps):
        now += step
        command = output.compute(np.array(torque) * (-1) ** k, now).copy()
        assert np.isfinite(command).all() and (np.abs(command) <= LIMIT * share + 1e-12).all()
        if rate > 0.0:
            assert (np.abs(command - before) <= rate * step * (1 + 1e-9) + 1e-9).all()
        before = command


@given(st.floats(0.0, 2.0), st.sampled_from(["ramp_down", "zero", "hold"]))
def test_a_stop_sequence_never_grows_and_always_ends(when, action):
    output = TorqueOutput(
        MODEL, NAMES, Settings.of({"stale_action": action, "max_torque_rate": 1.0})
    )
    output.start(0.0)
    before = np.abs(output.compute(np.full(8, 50.0), when)).copy()
    output.stop(when)
    number = 0
    while (command := output.stop_step(when + 0.01 * number)) is not None:
        assert (np.abs(command) <= before + 1e-12).all()
        before = np.abs(command).copy()
        number += 1
    assert LAST_COMMANDS <= number <= LAST_COMMANDS + STOP_TIME / 0.01 + 2
    assert action == "hold" or not before.any()


@given(st.permutations(range(8)), st.lists(st.floats(-10.0, 10.0), min_size=8, max_size=8))
def test_commands_come_in_the_order_of_the_command_joints(order, torque):
    """Permuting the command joints permutes the commands, limits and scales included."""
    scale = np.linspace(0.1, 1.5, 8)
    plain = TorqueOutput(MODEL, NAMES, Settings.of({"torque_scale": list(scale), "ramp_time": 0.0}))
    names = [NAMES[i] for i in order]
    values = {"torque_scale": [float(scale[i]) for i in order], "ramp_time": 0.0}
    mixed = TorqueOutput(MODEL, names, Settings.of(values))
    for output in (plain, mixed):
        output.start(0.0)
    expected = plain.compute(np.array(torque), 0.0)[list(order)]
    np.testing.assert_allclose(mixed.compute(np.array(torque), 0.0), expected, atol=1e-15)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_no_number_that_is_not_finite_becomes_a_command(bad):
    """One such torque refuses the whole command, and the last one is untouched."""
    output = TorqueOutput(MODEL, NAMES, Settings.of({"ramp_time": 0.0}))
    output.start(0.0)
    last = output.compute(np.ones(8), 0.0).copy()
    torque = np.ones(8)
    torque[3] = bad
    assert output.compute(torque, 0.1) is None
    np.testing.assert_array_equal(output.command, last)


def test_a_joint_without_an_effort_limit_is_named_and_not_clamped():
    model = wd.load_urdf(wheel_text("revolute"))
    output = TorqueOutput(model, ["spin"], Settings.of({"ramp_time": 0.0}))
    output.start(0.0)
    assert output.unlimited == ("spin",)
    assert output.compute(np.array([1e9]), 0.0) == 1e9 and not output.clamped


def test_blending_goes_from_the_present_command_to_the_wanted_one():
    """Linear in time, over the ramp time, without a step at either end."""
    output = TorqueOutput(MODEL, NAMES, Settings.of({"ramp_time": 1.0}))
    output.start(-10.0)
    output.compute(np.ones(8), 0.0)
    output.blend(0.0)
    for t, share in ((0.0, 0.0), (0.25, 0.25), (1.0, 1.0), (3.0, 1.0)):
        np.testing.assert_allclose(output.compute(np.full(8, 5.0), t), 1.0 + 4.0 * share)


@given(st.lists(st.floats(), min_size=1, max_size=8))
def test_finite_is_what_numpy_says(numbers):
    """Whatever overflows in the sum of squares."""
    assert finite(np.array(numbers)) == bool(np.isfinite(numbers).all())


def test_one_number_serves_all_joints_and_a_list_must_fit():
    np.testing.assert_array_equal(per_joint("kp", 3.0, 2), [3.0, 3.0])
    np.testing.assert_array_equal(per_joint("kp", (1.0, 2.0), 2), [1.0, 2.0])
    with pytest.raises(ValueError, match=r"kp has 2 numbers but there are 3 command joints"):
        per_joint("kp", (1.0, 2.0), 3)
