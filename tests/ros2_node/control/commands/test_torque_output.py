"""The path from torques to commands: ramps, limits, rates, and stop sequences."""

from __future__ import annotations

import numpy as np
import pytest
from fleets import MODEL, NAMES, N, panda_settings, wheel_text
from hypothesis import given
from hypothesis import strategies as st

import warpdyn as wd
from ros2_node.control.commands.torque_output import (
    LAST_COMMANDS,
    POLICY_RISE_TIME,
    RISE_TIME,
    STOP_TIME,
    TorqueOutput,
    command_joints,
    finite,
)
from ros2_node.control.settings.node_settings import Settings
from ros2_node.control.settings.parameter import per_joint

LIMIT = MODEL.effort_limit


@given(
    st.lists(st.floats(-1e3, 1e3), min_size=8, max_size=8),
    st.lists(st.floats(0.0, 1.5), min_size=8, max_size=8),
    st.floats(0.0, 1.0),
    st.floats(0.0, 1e4),
    st.lists(st.floats(0.0, 0.05), min_size=5, max_size=20),
)
def test_commands_are_finite_and_within_limits_and_rate(torque, scale, share, rate, steps):
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
def test_the_torque_of_a_stop_sequence_never_grows_and_it_always_ends(when, action):
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
    """Permuting the command joints permutes the commands, limits and scales."""
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
def test_a_nonfinite_torque_is_never_sent(bad):
    """One such torque refuses the whole command, and the last command does not change."""
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


def test_blending_moves_linearly_from_the_present_to_the_wanted_command():
    """It takes the ramp time and has no step at either end."""
    output = TorqueOutput(MODEL, NAMES, Settings.of({"ramp_time": 1.0}))
    output.start(-10.0)
    output.compute(np.ones(8), 0.0)
    output.blend()
    for t, share in ((0.0, 0.0), (0.25, 0.25), (1.0, 1.0), (3.0, 1.0)):
        np.testing.assert_allclose(output.compute(np.full(8, 5.0), t), 1.0 + 4.0 * share)


@given(st.lists(st.floats(), min_size=1, max_size=8))
def test_finite_agrees_with_numpy(numbers):
    """Numbers whose sum of squares overflows are finite, too."""
    assert finite(np.array(numbers)) == bool(np.isfinite(numbers).all())


def running(command=80.0, **values):
    """An output that sends 80 N·m to the first four joints of the panda, 10 to the others."""
    output = TorqueOutput(MODEL, NAMES, Settings.of({"ramp_time": 1.0, **values}))
    output.start(-10.0)
    torque = np.array([command] * 4 + [10.0] * 4)
    output.compute(torque, 0.0)
    return output, torque


@pytest.mark.parametrize(
    "change",
    [
        {"torque_scale": 0.2},
        {"effort_limit_scale": 0.1},
        {"effort_limits": 5.0},
        {"effort_limits": 5.0, "max_torque_rate": 1.0},
        {"ramp_time": 0.0, "torque_scale": 0.5},
    ],
)
def test_a_change_of_parameters_makes_no_step_in_the_commands(change):
    """The parameters change and change back, in cycles of 1 ms.

    No step is larger than that of the whole change spread over the longer ramp time. At the end the
    commands have the wanted values.
    """
    output, torque = running()
    before, now = output.command.copy(), 0.0
    for values in (change, {}):
        output.change(Settings.of({"ramp_time": 1.0, **values}))
        for _ in range(1100):
            now += 1e-3
            command = output.compute(torque, now).copy()
            assert (np.abs(command - before) <= 80.0 * 1e-3 + 1e-9).all(), now
            before = command
        scale, share = values.get("torque_scale", 1.0), values.get("effort_limit_scale", 1.0)
        limit = np.minimum(LIMIT, values.get("effort_limits", np.inf)) * share
        expected = np.clip(torque * scale, -limit, limit)
        np.testing.assert_allclose(command, expected, atol=1e-9)


def test_commands_follow_frequent_scale_changes_one_ramp_time_later():
    """The scale changes ten times in each ramp time. A torque that the state changes is in the next
    command at once."""
    output, torque = running(40.0, torque_scale=1.0)
    now = 0.0
    for k in range(3000):
        now += 1e-3
        if k % 100 == 0:
            scale = 1.0 - 0.5 * min(k / 1000, 1.0) + 1e-3 * (-1) ** (k // 100)
            values = {"ramp_time": 1.0, "torque_scale": scale, "max_torque_rate": 0.0}
            output.change(Settings.of(values))
        command = output.compute(torque, now).copy()
    np.testing.assert_allclose(command[0], 20.0, atol=0.1)
    np.testing.assert_allclose(output.compute(torque + 2.0, now)[0] - command[0], 1.0, atol=0.01)


def test_limits_hold_while_they_change():
    """No command exceeds the old limits, for any torques."""
    output, torque = running()
    output.change(Settings.of({"effort_limit_scale": 0.1}))
    for k in range(1, 1200):
        command = output.compute(torque * (-1) ** k, 1e-3 * k)
        assert (np.abs(command) <= np.maximum(LIMIT * 0.1, 80.0) + 1e-9).all()
    assert (np.abs(command) <= LIMIT * 0.1 + 1e-9).all()


def stop_output(**values):
    output, torque = running(**values)
    output.stop(0.0)
    while output.stop_step(1.0) is not None:
        pass
    return output, torque


def test_commands_after_a_hold_begin_at_the_held_command():
    """They move linearly to the wanted ones. After any other stop they begin at zero."""
    output, torque = stop_output(stale_action="hold")
    held = output.command.copy()
    assert held[0] == 80.0
    output.start(5.0)
    for t, share in ((5.0, 0.0), (5.5, 0.5), (6.0, 1.0), (7.0, 1.0)):
        expected = (1.0 - share) * held + share * 0.5 * torque
        np.testing.assert_allclose(output.compute(0.5 * torque, t), expected, atol=1e-9)
    output, torque = stop_output(stale_action="ramp_down")
    output.start(5.0)
    np.testing.assert_array_equal(output.compute(torque, 5.0), 0.0)


def test_the_held_command_survives_a_change_of_the_model():
    """The next model must have the same command joints."""
    output, torque = stop_output(stale_action="hold")
    following = TorqueOutput(MODEL, NAMES, Settings.of({}))
    following.continue_from(output)
    following.start(5.0)
    np.testing.assert_array_equal(following.compute(torque, 5.0), output.command)
    fewer = TorqueOutput(MODEL, NAMES[:3], Settings.of({}))
    fewer.continue_from(output)
    assert not fewer.command.any()


def test_the_effort_limits_parameter_replaces_missing_limits():
    """The smaller limit counts, times the scale. Zero leaves the limit of the description."""
    for effort in ("0", "-3", "inf"):
        model = wd.load_urdf(wheel_text("revolute").replace('effort="0"', f'effort="{effort}"'))
        values = {"ramp_time": 0.0, "effort_limits": 4.0, "effort_limit_scale": 0.5}
        output = TorqueOutput(model, ["spin"], Settings.of(values))
        output.start(0.0)
        assert output.unlimited == () and output.compute(np.array([1e9]), 0.0) == 2.0
    limits = [0.0, 100.0, 50.0, *[0.0] * 5]
    output = TorqueOutput(MODEL, NAMES, Settings.of({"effort_limits": limits}))
    np.testing.assert_array_equal(output.limit, [87.0, 87.0, 50.0, *LIMIT[3:]])


def test_one_number_applies_to_all_joints_and_a_list_must_fit():
    np.testing.assert_array_equal(per_joint("kp", 3.0, 2), [3.0, 3.0])
    np.testing.assert_array_equal(per_joint("kp", (1.0, 2.0), 2), [1.0, 2.0])
    with pytest.raises(ValueError, match=r"kp has 2 numbers but there are 3 command joints"):
        per_joint("kp", (1.0, 2.0), 3)


def test_the_action_of_a_stop_sequence_is_fixed_when_it_begins():
    """Setting `hold` or a longer ramp during the sequence must not bring the torque back."""
    output = TorqueOutput(MODEL, NAMES, panda_settings(ramp_time=0.2))
    output.start(-10.0)
    full = output.compute(0.5 * LIMIT, 0.0).copy()
    output.stop(0.0)
    sizes = [np.abs(output.stop_step(0.03)).max()]
    output.change(panda_settings(ramp_time=60.0, stale_action="hold"))
    for k in range(4, 40):
        command = output.stop_step(0.01 * k)
        if command is not None:
            sizes.append(np.abs(command).max())
    assert (np.diff(sizes) <= 0.0).all() and sizes[0] < np.abs(full).max() and sizes[-1] == 0.0
    assert not output.stopping
    output.start(1.0)
    output.stop(1.0)
    assert output.stop_step(1.1) is not None and output._stop_action == "hold", "the next one holds"


def test_joints_with_lasting_saturation_are_named():
    """A joint is named once it has been at its limit for more than 0.2 s."""
    output = TorqueOutput(MODEL, NAMES, panda_settings(ramp_time=0.0))
    output.start(0.0)
    much = np.zeros(N)
    much[1] = 1e3
    for now in (0.0, 0.1, 0.2, 0.25):
        assert output.saturated_joints(now) == ("" if now <= 0.2 else "panda_joint2")
        output.compute(much, now)
    output.compute(np.zeros(N), 0.3)
    assert output.saturated_joints(9.0) == ""


@pytest.mark.parametrize("period", [0.001, 0.005])
def test_the_default_rate_is_the_effort_limit_per_rise_time(period):
    """It bounds each joint's change when one message makes the torque jump. The next command
    returns."""
    output = TorqueOutput(MODEL, NAMES, Settings.of({"ramp_time": 0.0}))
    output.start(0.0)
    before = output.compute(0.1 * LIMIT, 0.0).copy()
    step = output.compute(-5.0 * LIMIT, period) - before
    np.testing.assert_allclose(step, -LIMIT * period / RISE_TIME)
    assert output.rate_limited == 1
    np.testing.assert_allclose(output.compute(0.1 * LIMIT, 2 * period), before)
    assert output.rate_limited == 1


def test_the_default_rate_follows_the_smaller_limit():
    """The first command after a ramp of zero time is not limited. effort_limit_scale is not a limit
    of the motors and does not change the rate. A rate of 0 means no limit, and a list may mix
    both."""
    for values, rate in (
        ({"effort_limits": 5.0}, np.minimum(LIMIT, 5.0) / RISE_TIME),
        ({"effort_limit_scale": 0.5}, LIMIT / RISE_TIME),
        ({"policy": "any"}, LIMIT / POLICY_RISE_TIME),
        ({"max_torque_rate": [-1.0, 0.0, 70.0, *[-1.0] * 5]}, None),
    ):
        output = TorqueOutput(MODEL, NAMES, Settings.of({"ramp_time": 0.0, **values}))
        if rate is None:
            rate = LIMIT / RISE_TIME
            rate[1:3] = np.inf, 70.0
        np.testing.assert_allclose(output._rate + output._unbounded, rate)
        output.start(0.0)
        first = output.compute(LIMIT, 0.0)
        stepped = np.where(rate == 70.0, 0.0, output.limit)
        np.testing.assert_allclose(first, stepped)
    model = wd.load_urdf(wheel_text("revolute"))
    free = TorqueOutput(model, ["spin"], Settings.of({"ramp_time": 0.0}))
    free.start(0.0)
    free.compute(np.zeros(1), 0.0)
    assert free.compute(np.array([1e9]), 0.001) == 1e9, "no effort limit, no rate of its own"


def test_a_narrowed_limit_takes_precedence_over_the_rate():
    """Limits that are narrowed to nothing take the torque away within the ramp time."""
    output, torque = running(effort_limits=0.0)
    output.change(Settings.of({"ramp_time": 1.0, "effort_limits": 1e-6}))
    for k in range(1, 1100):
        command = output.compute(torque, 1e-3 * k)
    assert (np.abs(command) <= 1e-6).all()


def test_a_second_stop_does_not_restart_the_stop_sequence():
    """The sequence keeps its time and its command."""
    output = TorqueOutput(
        MODEL, NAMES, Settings.of({"stale_action": "ramp_down", "ramp_time": 0.2})
    )
    output.start(0.0)
    output.compute(np.ones(N), 1.0)
    output.stop(1.0)
    half = output.stop_step(1.05).copy()
    output.stop(1.05)
    np.testing.assert_array_equal(output.stop_step(1.05), half)
    assert output.stopping and np.abs(half).max() > 0.0


def test_commands_at_a_bound_are_neither_clamped_nor_rate_limited():
    """The bounds are the effort limits and the rate."""
    output = TorqueOutput(MODEL, NAMES, Settings.of({"ramp_time": 0.0, "max_torque_rate": 0.0}))
    output.start(0.0)
    np.testing.assert_array_equal(output.compute(LIMIT, 0.0), LIMIT)
    assert output.clamped == 0 and output.saturated_joints(9.0) == ""
    assert output.compute(1.0625 * LIMIT, 0.0)[0] == LIMIT[0] and output.clamped == 1
    output = TorqueOutput(MODEL, NAMES, Settings.of({"ramp_time": 0.0, "max_torque_rate": 8.0}))
    output.start(0.0)
    for now, torque, limited in ((0.0625, 0.5, 0), (0.125, 1.0, 0), (0.1875, 2.0, 1)):
        command = output.compute(np.full(N, torque), now)
        np.testing.assert_array_equal(command, min(torque, 1.5))
        assert output.rate_limited == limited


def test_the_rate_limit_counts_a_pause_as_a_tenth_of_a_second():
    """A command that comes after ten seconds changes by no more."""
    output = TorqueOutput(MODEL, NAMES, Settings.of({"ramp_time": 0.0, "max_torque_rate": 8.0}))
    output.start(0.0)
    np.testing.assert_allclose(output.compute(np.full(N, 9.0), 10.0), 0.8)


def test_stop_ramp_and_rise_times_have_the_documented_values():
    """A stop ramp takes at most 0.2 s, and five equal commands follow it. The effort limit is
    reached in 20 ms, or in 5 ms for a policy."""
    output, _ = running(ramp_time=1.0)
    output.stop(0.0)
    assert output.stop_step(0.05)[0] == 60.0 and output.stop_step(0.15)[0] == pytest.approx(20.0)
    left = [output.stop_step(0.2) for _ in range(6)]
    assert [None if c is None else float(c[0]) for c in left] == [0.0] * 5 + [None]
    for policy, change in (("", 0.05), ("any", 0.2)):
        output = TorqueOutput(MODEL, NAMES, Settings.of({"ramp_time": 0.0, "policy": policy}))
        output.start(0.0)
        output.compute(np.zeros(N), 0.0)
        np.testing.assert_allclose(output.compute(LIMIT, 0.001), change * LIMIT)


def test_a_blend_takes_the_ramp_time_or_less():
    """`blend_again` discards a blend that has not ended."""
    for begin, half in (
        (lambda output: output.blend(), 0.5),
        (lambda output: output.blend(0.5), 0.25),
        (lambda output: output.blend_again(0.5), 0.25),
        (lambda output: output.blend_again(9.0), 0.5),
    ):
        output = TorqueOutput(MODEL, NAMES, Settings.of({"max_torque_rate": 0.0}))
        output.start(-10.0)
        output.compute(np.ones(N), 0.0)
        begin(output)
        output.compute(np.full(N, 5.0), 0.0)
        np.testing.assert_allclose(output.compute(np.full(N, 5.0), half), 3.0)
        output.blend_again(0.25)
        output.compute(np.full(N, 5.0), half)
        np.testing.assert_allclose(output.compute(np.full(N, 5.0), half + 0.25), 5.0)


def test_command_joints_must_be_among_the_read_joints():
    read = ("a", "b", "c")
    assert command_joints(Settings.of(), read) == read
    assert command_joints(Settings.of({"command_joints": ["c", "a"]}), read) == ("c", "a")
    with pytest.raises(ValueError) as error:
        command_joints(Settings.of({"command_joints": ["a", "d"]}), read)
    assert str(error.value) == (
        "command_joints names 'd', which is not among the joints read: a, b, c"
    )
