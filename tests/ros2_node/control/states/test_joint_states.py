"""Joint states without ROS: names to columns, any order, missing joints, reasons for a refusal."""

from __future__ import annotations

from array import array
from collections import Counter

import numpy as np
import pytest
from fleets import MODEL, NAMES, N, wheel_text
from hypothesis import given, settings
from hypothesis import strategies as st

import warpdyn as wd
from ros2_node.control.settings.node_settings import Settings
from ros2_node.control.states.joint_states import JointStates, within_bound
from ros2_node.control.states.name_maps import MAX_MAPS
from ros2_node.control.states.state import State

NUMBERS = st.lists(st.floats(-3.0, 3.0), min_size=N, max_size=N)


def reader(model=MODEL, **values):
    """A reader whose rows hold no numbers yet."""
    state = State.of_robots(model, 1).row(0)
    state.q[:] = state.v[:] = np.nan
    return JointStates(model, Settings.of(values), state, Counter())


@given(
    st.permutations(range(N)),
    NUMBERS,
    st.lists(st.sampled_from(["wheel", "camera", "lift"]), unique=True),
)
def test_joints_in_any_order_with_unknown_ones_reach_their_columns(order, numbers, strangers):
    """Each number reaches the column of its name."""
    states = reader(mode="inverse_dynamics")
    q = np.array(numbers)
    names = [*strangers, *(NAMES[i] for i in order)]
    position = array("d", [9e9] * len(strangers) + list(q[order]))
    velocity = array("d", [np.nan] * len(strangers) + list(0.1 * q[order]))
    assert states.read(names, position, velocity, 0, 0.0) is None
    np.testing.assert_array_equal(states.q, q)
    np.testing.assert_array_equal(states.v, 0.1 * q)
    assert states.counts["unknown_joint"] == len(strangers)


@given(
    st.lists(st.sampled_from([*NAMES, "panda_finger_joint2", "wheel"]), max_size=14),
    st.lists(st.floats(allow_nan=True, allow_infinity=True), max_size=14),
    st.lists(st.floats(allow_nan=True, allow_infinity=True), max_size=14),
    st.integers(0, 2**62),
    st.sampled_from(["gravity", "inverse_dynamics"]),
    st.sampled_from(["message", "zero", "finite_difference"]),
)
@settings(max_examples=400)
def test_no_message_makes_a_row_nonfinite(names, position, velocity, stamp, mode, source):
    """No message raises an error, rows remain finite and bounded, and a rejection is counted under
    its reason."""
    states = reader(mode=mode, velocity_source=source)
    for k in range(3):
        reason = states.read(names, array("d", position), array("d", velocity), stamp + k, 0.01 * k)
        assert np.isfinite(states.q).all() and (np.abs(states.q) <= 1e4).all()
        assert np.isfinite(states.v).all() and (np.abs(states.v) <= 1e7).all()
        assert reason is None or states.counts[reason] > 0
        if reason is None:
            assert set(NAMES) <= set(names)


@given(st.sets(st.integers(0, N - 1), min_size=1, max_size=N - 1), NUMBERS, st.floats(0.0, 0.3))
def test_two_fresh_publishers_make_a_state_together(first, numbers, gap):
    states, q = reader(state_timeout=0.1), np.array(numbers)
    one, other = sorted(first), sorted(set(range(N)) - first)
    assert states.read([NAMES[i] for i in one], array("d", q[one]), (), 0, 1.0) == "missing_joint"
    reason = states.read([NAMES[i] for i in other], array("d", q[other]), (), 0, 1.0 + gap)
    assert reason == (None if 1.0 + gap - 1.0 <= 0.1 else "missing_joint")
    np.testing.assert_array_equal(states.q, q)


def test_missing_joints_can_be_held():
    """The last position counts if missing_joint_policy is hold, or zero if there was none. The
    joint whose messages have ended is counted, and one that never had any is not."""
    states = reader(missing_joint_policy="hold")
    assert states.read(NAMES[:7], array("d", [0.5] * 7), (), 0, 0.0) is None
    assert states.q[7] == 0.0
    assert states.read(NAMES, array("d", [0.1] * 7 + [0.03]), (), 0, 0.0) is None
    assert states.read(NAMES[:7], array("d", [0.1] * 7), (), 0, 0.05) is None
    assert not states.counts["joint_held"]
    assert states.read(NAMES[:7], array("d", [0.5] * 7), (), 0, 100.0) is None
    assert states.q[7] == 0.03 and states.counts["joint_held"] == 1


def test_only_the_chosen_joints_are_needed():
    states = reader(joints=NAMES[:7])
    assert states.read(NAMES[:7], array("d", [0.5] * 7), (), 0, 0.0) is None
    for wrong in ("panda_finger_joint2", "nose"):
        with pytest.raises(ValueError, match=wrong):
            reader(joints=[wrong])


@pytest.mark.parametrize(
    "reason, names, position, velocity",
    [
        ("empty_message", [], [], []),
        ("wrong_length", NAMES, [0.0] * 7, []),
        ("wrong_length", NAMES, [], []),
        ("wrong_length", NAMES, [0.0] * 8, [0.0]),
        ("duplicate_name", [*NAMES[:7], NAMES[0]], [0.0] * 8, []),
        ("no_known_joint", ["a"], [0.0], []),
        ("nonfinite_position", NAMES, [float("nan"), *[0.0] * 7], []),
        ("nonfinite_position", NAMES, [float("-inf"), *[0.0] * 7], []),
        ("position_out_of_range", NAMES, [1.1e4, *[0.0] * 7], []),
        ("missing_velocity", NAMES, [0.0] * 8, []),
        ("nonfinite_velocity", NAMES, [0.0] * 8, [float("nan")] * 8),
    ],
)
def test_a_rejected_message_is_counted_under_its_reason(reason, names, position, velocity):
    states = reader(mode="computed_torque")
    assert states.read(names, array("d", position), array("d", velocity), 0, 0.0) == reason
    assert states.counts == {reason: 1} and states.age(1.0) == np.inf


def test_gravity_mode_needs_no_velocities():
    states = reader()
    for velocity in ([], [float("nan")] * 8, [5.0] * 8):
        assert states.read(NAMES, array("d", [0.0] * 8), array("d", velocity), 0, 0.0) is None
        assert not states.v.any()


def test_finite_differences_use_stamps_or_else_arrivals():
    states = reader(mode="inverse_dynamics", velocity_source="finite_difference", state_timeout=0.1)
    step = array("d", [0.01] * 8)
    states.read(NAMES, array("d", [0.0] * 8), (), 1_000_000_000, 5.0)
    assert not states.v.any()
    states.read(NAMES, step, (), 1_020_000_000, 5.001)
    np.testing.assert_allclose(states.v[:7], 0.5)
    assert states.v[7] == 2.0 * 0.2, "twice the velocity limit is the most that is believed"
    states.read(NAMES, array("d", [0.0] * 8), (), 1_010_000_000, 5.002)
    assert (states.v[:7] < 0.0).all(), "stamps backwards: the arrivals count"
    states.forget()
    states.read(NAMES, step, (), 0, 5.003)
    assert not states.v.any(), "a jump of the clock: no velocity"
    states.read(NAMES, array("d", [0.02] * 8), (), 0, 5.013)
    np.testing.assert_allclose(states.v[:7], 1.0)


def test_a_continuous_joint_turns_past_pi():
    """The step from 3.1 to -3.1 is small and not a jump of 6.2."""
    model = wd.load_urdf(wheel_text())
    states = reader(model, mode="inverse_dynamics", velocity_source="finite_difference")
    states.read(["spin"], array("d", [3.1]), (), 0, 0.0)
    states.read(["spin"], array("d", [-3.1]), (), 0, 0.01)
    np.testing.assert_allclose(states.v, (2 * np.pi - 6.2) / 0.01)
    assert not states.counts["position_jump"]


def test_odd_but_usable_messages_are_counted():
    states = reader()
    zero = [0.0] * 8
    second = 1_000_000_000
    states.read([*NAMES, "panda_finger_joint2"], array("d", [*zero, 0.04]), (), second, 0.0)
    states.read(NAMES, array("d", zero), (), 10 * second, 0.01, ros_now=second)
    states.read(NAMES, array("d", zero), (), 10 * second, 0.02, ros_now=20 * second)
    states.read(NAMES, array("d", zero), (), 5 * second, 0.03, ros_now=20 * second)
    states.read(NAMES, array("d", [1.0] * 8), (), 6 * second, 0.04, ros_now=20 * second)
    assert states.counts.pop("stamp_old") == 3 and states.lag == 14.0
    assert states.counts.pop("position_beyond_limit") == 1
    expected = {
        "mimic_mismatch",
        "stamp_future",
        "repeated_message",
        "stamp_backwards",
        "position_jump",
    }
    assert {k: n for k, n in states.counts.items() if n} == dict.fromkeys(expected, 1)


def test_unknown_joints_may_share_a_name():
    """Only a joint of the model that is named twice is ambiguous."""
    states = reader()
    names, zero = [*NAMES, "wheel", "wheel"], array("d", [0.0] * (N + 2))
    assert states.read(names, zero, (), 0, 0.0) is None
    assert states.counts == {"unknown_joint": 2}
    assert states.read([*NAMES, NAMES[2]], zero[: N + 1], (), 0, 0.0) == "duplicate_name"


def test_a_repeated_message_does_not_feed_the_watchdog():
    states = reader()
    for k in range(5):
        assert states.read(NAMES, array("d", [0.0] * 8), (), 7, 0.1 * k) is None
    assert states.age(0.4) == 0.4
    for k in range(5):
        states.read(NAMES, array("d", [0.0] * 8), (), 0, 0.5 + 0.1 * k)
    assert states.age(0.9) == 0.0, "a stamp of zero says nothing"


def test_new_names_in_each_message_do_not_fill_the_memory():
    states = reader()
    for k in range(1000):
        states.read([*NAMES, f"x{k}"], array("d", [0.0] * 9), (), 0, 0.0)
    assert len(states._maps) <= MAX_MAPS


def test_take_and_note_together_equal_read():
    """`take` makes q valid and counts nothing.

    `note` counts once. A second `take` notes the first message.
    """
    states = reader()
    names, position = [*NAMES, "panda_finger_joint2"], array("d", [0.1] * 9)
    assert states.take(names, position, (), 0, 0.0) is None
    np.testing.assert_array_equal(states.q, 0.1)
    assert not states.counts
    states.note()
    odd = array("d", [0.1] * 8 + [0.5])
    states.take(names, odd, (), 0, 0.01)
    assert not states.counts["mimic_mismatch"]
    states.take(names, position, (), 0, 0.02)
    assert states.counts["mimic_mismatch"] == 1, "noted before the next is read"
    states.note()
    states.note()
    assert states.counts["mimic_mismatch"] == 1, "noted once"


def test_read_gives_the_same_counts_as_take_and_note():
    """The rows are equal, too."""
    at_once, in_halves = reader(), reader()
    for k, position in enumerate(([0.0] * 8, [1.0] * 8, [1.0] * 8)):
        message = (NAMES, array("d", position), (), 5 + k, 0.01 * k)
        at_once.read(*message, ros_now=1)
        in_halves.take(*message)
        in_halves.note(1)
    assert at_once.counts == in_halves.counts and at_once.counts["position_jump"] == 1
    np.testing.assert_array_equal(at_once.q, in_halves.q)


ZERO = array("d", [0.0] * N)


@pytest.mark.parametrize("policy", ["reject", "hold"])
@pytest.mark.parametrize(("gap", "fresh"), [(0.125, True), (0.1875, False)])
def test_a_part_as_old_as_the_timeout_is_fresh(policy, gap, fresh):
    """A later state is rejected, or its old joints are held at rest."""
    states = reader(mode="computed_torque", state_timeout=0.125, missing_joint_policy=policy)
    speed = array("d", [0.25] * N)
    assert states.read(NAMES, ZERO, speed, 0, 1.0) is None
    reason = states.read(NAMES[:7], ZERO[:7], speed[:7], 0, 1.0 + gap)
    assert reason == (None if fresh or policy == "hold" else "missing_joint")
    assert states.v[7] == (0.0 if policy == "hold" and not fresh else 0.25)
    assert (states.v[:7] == 0.25).all()


def test_values_at_a_bound_are_accepted():
    """The bounds are positions of ten thousand, speeds of twice the limit, or of 100 without a
    limit, and ten millimetres between a mimic joint and its source."""
    names, limit = NAMES, MODEL.velocity_limit
    for factor, reason in ((2.0, None), (2.0 * (1 + 1e-9), "velocity_out_of_range")):
        states = reader(mode="computed_torque")
        assert states.read(names, ZERO, array("d", -factor * limit), 0, 0.0) == reason
    wheel = wd.load_urdf(wheel_text())
    for speed, reason in ((100.0, None), (-100.0, None), (100.01, "velocity_out_of_range")):
        states = reader(wheel, mode="computed_torque")
        assert states.read(["spin"], ZERO[:1], array("d", [speed]), 0, 0.0) == reason
    for place, reason in ((1e4, None), (-1e4, None), (1.0001e4, "position_out_of_range")):
        assert reader(wheel).read(["spin"], array("d", [place]), (), 0, 0.0) == reason
        assert within_bound(np.array([place, -1e4]), 1e4) == (reason is None)
    for error, odd in ((0.01, 0), (-0.01, 0), (0.010001, 1)):
        states = reader()
        states.read([*NAMES, "panda_finger_joint2"], array("d", [*ZERO, error]), (), 0, 0.0)
        assert states.counts["mimic_mismatch"] == odd


@pytest.mark.parametrize("first", [0.0, 0.25])
def test_a_mimic_joint_is_compared_with_its_source(first):
    """They may differ by ten millimetres, after multiplier and offset. Without the source in the
    message there is no comparison."""
    for error, odd in ((0.0099, 0), (0.0101, 1), (-0.0101, 1)):
        states = reader()
        position = array("d", [*[0.0] * 7, first, first + error])
        states.read([*NAMES, "panda_finger_joint2"], position, (), 0, 0.0)
        assert states.counts["mimic_mismatch"] == odd
        states.read(["panda_finger_joint2", *NAMES[:7]], array("d", [9.0, *[0.0] * 7]), (), 0, 0.0)
        assert states.counts["mimic_mismatch"] == odd


def test_joints_beyond_their_limits_are_named_with_the_limits():
    """They are beyond by more than the margin. Without a margin no joint is named, nor is a
    continuous one."""
    high, low = MODEL.position_upper[0], MODEL.position_lower[2]
    for beyond, odd in ((0.125, 0), (0.25, 1)):
        states = reader(position_limit_margin=0.125)
        q = np.array([*[0.0] * 3, -1.0, 0.0, 1.0, *[0.0] * 2])
        q[0], q[2] = high + beyond, low - beyond
        states.read(NAMES, array("d", q), (), 0, 0.0)
        assert states.counts["position_beyond_limit"] == odd
        assert bool(states.beyond_limits()) == bool(odd)
    assert states.beyond_limits() == (
        f"panda_joint1 is at {q[0]:.4g}, beyond its limits {MODEL.position_lower[0]:.4g} to {high:.4g}; "
        f"panda_joint3 is at {q[2]:.4g}, beyond its limits {low:.4g} to {MODEL.position_upper[2]:.4g} "
        "by more than position_limit_margin 0.125: are joint_states in radians and metres, and are the "
        "encoders referenced?"
    )
    states.change(Settings.of({"position_limit_margin": 0.0}))
    assert not states.beyond_limits()
    wheel = reader(wd.load_urdf(wheel_text()), position_limit_margin=0.125)
    wheel.read(["spin"], array("d", [50.0]), (), 0, 0.0)
    assert not wheel.beyond_limits()


def test_velocities_for_the_observer_are_kept_in_gravity_mode():
    """A message without good velocities gives none, and its positions are used."""
    states = reader(effort_source="message")
    assert not states.observer_v.any()
    speed = array("d", np.full(N, 0.25))
    assert states.read(NAMES, ZERO, speed, 0, 0.0) is None
    assert (states.observer_v == 0.25).all() and not states.v.any()
    assert states.read(NAMES, ZERO, (), 0, 0.1) is None
    assert np.isnan(states.observer_v).all()
    plain = reader()
    plain.read(NAMES, ZERO, speed, 0, 0.0)
    assert not plain.observer_v.any()


def test_after_a_new_start_all_joints_and_any_stamp_are_new():
    """A part of the joints is no state, and a smaller stamp is not a step back."""
    states = reader(mode="computed_torque")
    assert states.read(NAMES, ZERO, ZERO, 10, 1.0) is None
    states.forget()
    assert states.read(NAMES[1:], ZERO[1:], ZERO[1:], 11, 1.01) == "missing_joint"
    assert states.read(NAMES, ZERO, ZERO, 5, 1.02) is None
    assert not states.counts["stamp_backwards"]


def test_velocities_are_zero_in_a_mode_without_any():
    states = reader(mode="computed_torque")
    assert states.read(NAMES, ZERO, array("d", [0.25] * N), 0, 1.0) is None
    states.change(Settings.of({"mode": "computed_torque"}))
    assert (states.v == 0.25).all()
    states.change(Settings.of({}))
    assert not states.v.any()
