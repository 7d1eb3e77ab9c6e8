"""The setpoint of ~/reference: which points are used, and which are refused."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from fleets import MODEL, NAMES, N, wheel_text
from hypothesis import given
from hypothesis import strategies as st

import warpdyn as wd
from ros2_node.control.references.setpoint import Setpoint
from ros2_node.control.settings.node_settings import Settings
from ros2_node.control.states.state import State


@pytest.fixture
def setpoint():
    return Setpoint(MODEL, NAMES, NAMES, Counter())


@given(st.permutations(range(N)), st.integers(1, N))
def test_each_value_reaches_its_joint(order, number):
    """The message may have any joints in any order. The other joints keep their positions and get
    zero velocity and acceleration."""
    setpoint = Setpoint(MODEL, NAMES, NAMES, Counter())
    before, chosen = setpoint.q.copy(), list(order[:number])
    x = np.arange(1.0, number + 1.0)
    assert setpoint.read([NAMES[i] for i in chosen], (x, 0.02 * x, 3 * x), 1.0) is None
    rest = [i for i in range(N) if i not in chosen]
    for row, value in ((setpoint.q, x), (setpoint.v, 0.02 * x), (setpoint.a, 3 * x)):
        np.testing.assert_array_equal(row[chosen], value)
    np.testing.assert_array_equal(setpoint.q[rest], before[rest])
    assert not setpoint.v[rest].any() and not setpoint.a[rest].any()
    assert setpoint.arrived == 1.0


@pytest.mark.parametrize(
    "names, point, reason",
    [
        ([], ((), (), ()), "reference_wrong_length"),
        (NAMES, ((0.0,), (), ()), "reference_wrong_length"),
        ([NAMES[0]] * 2, ((0.0, 0.0), (), ()), "reference_duplicate_name"),
        (["nose"], ((0.0,), (), ()), "reference_unknown_joint"),
        ([NAMES[0]], ((np.nan,), (), ()), "reference_nonfinite"),
        ([NAMES[0]], ((), (), (np.inf,)), "reference_nonfinite"),
    ],
)
def test_a_bad_reference_is_refused_and_counted(setpoint, names, point, reason):
    before = setpoint.q.copy()
    assert setpoint.read(names, point, 0.0) == reason
    assert setpoint._counts == {reason: 1} and not setpoint._placed.any()
    np.testing.assert_array_equal(setpoint.q, before)


def test_only_positions_and_stay_give_a_position_to_track(setpoint):
    """An acceleration without a position gives none."""
    setpoint.read(NAMES[:1], ((), (), (1.0,)), 0.0)
    assert not setpoint._placed.any()
    setpoint.read(NAMES[:1], ((0.5,), (), ()), 0.0)
    assert setpoint._placed.any()
    other = Setpoint(MODEL, NAMES, NAMES, Counter())
    other.stay(np.full(N, 0.3))
    assert other._placed.any() and (other.q == 0.3).all() and other.arrived == -np.inf


def test_an_expired_reference_keeps_only_its_position(setpoint):
    """It expires once, when it is older than the timeout. A timeout of 0 means never."""
    setpoint.read(NAMES, (np.ones(N), 0.1 * np.ones(N), np.ones(N)), 0.0)
    assert not setpoint.ends(0.5, 0.5) and not setpoint.ends(9.0, 0.0) and setpoint.v.all()
    assert setpoint.ends(0.6, 0.5) and not setpoint.ends(0.7, 0.5)
    assert (setpoint.q == 1.0).all() and not setpoint.v.any() and not setpoint.a.any()


def tracking(**values):
    """A setpoint of a robot that tracks, with the panda's joints."""
    setpoint = Setpoint(MODEL, NAMES, NAMES, Counter())
    setpoint.change(Settings.of({"mode": "computed_torque", "kp": 1.0, "kd": 0.0, **values}))
    return setpoint


def wanted_acceleration(setpoint, q):
    a = np.zeros(N)
    setpoint.track(q, np.zeros(N), a)
    return a


def test_joints_without_a_reference_are_held_from_enable_on():
    """Nothing pulls at them before ~/enable.

    From then on they are held at their present position, not at the model's neutral one.
    """
    setpoint, q = tracking(), np.linspace(-1.0, 1.0, N)
    setpoint.read(NAMES[:2], (q[:2] + 0.1, (), ()), 9.99)
    expected = np.array([0.1, 0.1, *[0.0] * (N - 2)])
    np.testing.assert_allclose(wanted_acceleration(setpoint, q), expected, atol=1e-12)
    setpoint.stay(q, since=9.9)
    np.testing.assert_allclose(wanted_acceleration(setpoint, q), expected, atol=1e-12)
    np.testing.assert_allclose(setpoint.q[2:], q[2:])
    setpoint.stay(q, since=10.5)
    np.testing.assert_allclose(wanted_acceleration(setpoint, q), 0.0, atol=1e-12)


def test_a_reference_jump_is_refused_with_the_joints_name():
    """The reference is far both from the robot and from the point before. A robot that lags behind
    its path is reported by `astray`."""
    setpoint, q = tracking(max_tracking_error=0.3), np.array([0.0, 0.0, 0.5, -0.1] + [0.0] * 4)
    setpoint.stay(q)
    assert setpoint.read(NAMES, (q + 0.31 * (np.arange(N) == 2), (), ()), 0.0, q) == (
        "reference_too_far"
    )
    assert setpoint._counts == {"reference_too_far": 1} and (setpoint.q == q).all()
    assert setpoint.refusal == (
        "panda_joint3 is 0.31 from its reference, more than max_tracking_error 0.3"
    )
    for step in (0.2, 0.4):
        assert setpoint.read(NAMES[2:3], ([0.5 + step], (), ()), 0.0, q) is None
        wanted_acceleration(setpoint, q)
        assert bool(setpoint.astray()) == (step > 0.3)
    assert setpoint.astray().startswith("panda_joint3 is 0.4 from its reference")


def test_values_at_a_bound_are_accepted():
    """The bounds are those of a step, a deviation, a velocity, and a joint's range."""
    setpoint, q = tracking(max_tracking_error=0.25), np.zeros(N)
    q[3], q[5] = -1.5, 1.5
    setpoint.stay(q)
    step = 0.25 * (np.arange(N) == 2)
    assert setpoint.read(NAMES, (q + step, (), ()), 0.0, q) is None and not setpoint.refusal
    wanted_acceleration(setpoint, q)
    assert not setpoint.astray()
    fastest = MODEL.velocity_limit
    assert setpoint.read(NAMES, ((), fastest, ()), 0.0, q) is None
    assert setpoint.read(NAMES, ((), -fastest, ()), 0.0, q) is None
    assert not setpoint._counts


def test_the_tolerance_is_per_joint_and_zero_is_no_bound():
    """It applies in mode computed_torque only. Other modes track no reference."""
    far = [0.0, 0.1, *[1.0] * (N - 2)]
    setpoint, q = tracking(max_tracking_error=far), np.full(N, 0.5)
    setpoint.stay(np.zeros(N))
    assert setpoint.astray(q).startswith("panda_joint2 ") and "joint1" not in setpoint.astray(q)
    for values in ({"max_tracking_error": 0.0}, {"mode": "inverse_dynamics"}):
        other = tracking(**values)
        other.stay(np.zeros(N))
        assert not other.astray(q) and other.read(NAMES, (9 * q, (), ()), 0.0, q) is None
    with pytest.raises(ValueError, match="max_tracking_error has 2 numbers"):
        tracking(max_tracking_error=[1.0, 1.0])


def test_a_continuous_joint_is_tracked_the_short_way_round():
    """The step from 3.1 to -3.1 is 0.08 and not 6.2."""
    model = wd.load_urdf(wheel_text())
    setpoint = Setpoint(model, ["spin"], ["spin"], Counter())
    setpoint.change(Settings.of({"mode": "computed_torque", "kp": 1.0}))
    setpoint.stay(np.array([3.1]))
    assert setpoint.read(["spin"], ([-3.1], (), ()), 0.0, np.array([3.1])) is None
    a = np.zeros(1)
    setpoint.track(np.array([3.1]), np.zeros(1), a)
    np.testing.assert_allclose(a, 2 * np.pi - 6.2)


@pytest.mark.parametrize(
    "point, words",
    [
        (((), (0.0, 100.0), ()), "panda_joint2 is to reach 100, more than its velocity limit"),
        (
            ((), (), (-5000.0, 0.0)),
            "panda_joint1 is to reach -5000, more than its max_reference_acc",
        ),
    ],
)
def test_references_faster_than_a_joint_are_refused_or_clipped(point, words):
    """The refusal names the joint and its limit. `reference_violation` selects clipping."""
    names = NAMES[:2]
    setpoint = tracking()
    assert setpoint.read(names, point, 0.0) == "reference_too_fast"
    assert words in setpoint.refusal and "reference_violation" in setpoint.refusal
    assert not setpoint.v.any() and not setpoint.a.any() and setpoint.arrived == -np.inf
    clipping = tracking(reference_violation="clip")
    assert clipping.read(names, point, 0.0) is None
    assert clipping._counts == {"reference_clipped": 1}
    assert np.abs(clipping.v).max() in (0.0, MODEL.velocity_limit[1])
    assert np.abs(clipping.a).max() in (0.0, 50.0)
    free = tracking(max_reference_acceleration=0.0)
    assert free.read(names, ((), (), (5000.0, 0.0)), 0.0) is None, "0 is not a bound"


def test_references_of_a_joint_without_velocity_limit_are_unbounded():
    """The wheel's description says 0, which is no limit."""
    model = wd.load_urdf(wheel_text())
    setpoint = Setpoint(model, ["spin"], ["spin"], Counter())
    assert setpoint.read(["spin"], ((), (500.0,), ()), 0.0) is None


def test_a_position_beyond_ten_thousand_is_refused(setpoint):
    for value, reason in ((1e4, None), (-1e4, None), (1.0001e4, "reference_nonfinite")):
        assert setpoint.read(NAMES[:1], ((value,), (), ()), 0.0) == reason


def test_rounding_makes_no_reference_too_fast():
    """A reference may exceed a velocity limit by a part in 1e9."""
    for share, reason in ((1.0 + 9e-10, None), (1.0 + 1.2e-9, "reference_too_fast")):
        assert tracking().read(NAMES, ((), share * MODEL.velocity_limit, ()), 0.0) == reason


LOW, HIGH = MODEL.position_lower[0], MODEL.position_upper[0]


@pytest.mark.parametrize(
    ("at", "rate", "beyond", "kept"),
    [
        (HIGH, 0.5, False, 0.0),
        (HIGH, -0.5, False, -0.5),
        (LOW, 0.5, False, 0.5),
        (LOW, -0.5, False, 0.0),
        (HIGH + 0.25, 0.5, True, 0.0),
        (HIGH + 0.25, -0.5, True, 0.0),
        (LOW - 0.25, 0.5, True, 0.0),
        (0.0, 0.5, False, 0.5),
    ],
)
def test_a_reference_at_a_limit_may_only_move_away_from_it(at, rate, beyond, kept):
    """A reference beyond the limit rests at it, and this is reported. The next one within the
    limits clears the report."""
    setpoint = tracking(max_tracking_error=0.0)
    point = ((at, 0.25), (rate, 0.125), (rate, 0.125))
    assert setpoint.read([NAMES[0], NAMES[2]], point, 0.0) is None
    np.testing.assert_array_equal(setpoint.q[[0, 2]], [np.clip(at, LOW, HIGH), 0.25])
    for row in (setpoint.v, setpoint.a):
        np.testing.assert_array_equal(row[[0, 2]], [kept, 0.125])
    assert setpoint._counts["reference_beyond_limit"] == beyond
    assert setpoint.at_limits == ({"panda_joint1"} if beyond else frozenset())
    assert setpoint.clipped == (
        f"panda_joint1 is to be at {at:.4g}, beyond its limits {LOW:.4g} to {HIGH:.4g}: "
        "its reference stays within them"
        if beyond
        else ""
    )
    setpoint.read(NAMES[:1], ((0.0,), (), ()), 0.0)
    assert not setpoint.at_limits


def test_without_repulsion_a_reference_may_exceed_the_limits():
    setpoint = tracking(max_tracking_error=0.0, joint_limit_repulsion="never")
    assert setpoint.read(NAMES[:1], ((HIGH + 1.0,), (), ()), 0.0) is None
    assert setpoint.q[0] == HIGH + 1.0 and not setpoint.at_limits and not setpoint._counts


def test_a_reference_at_the_time_of_enable_is_kept():
    """An older one is replaced by the present position."""
    for arrived, kept in ((2.0, True), (1.9375, False)):
        setpoint = tracking()
        setpoint.read(NAMES[:1], ((0.5,), (0.25,), ()), arrived)
        setpoint.stay(np.zeros(N), since=2.0)
        assert (setpoint.q[0], setpoint.v[0]) == ((0.5, 0.25) if kept else (0.0, 0.0))
        assert setpoint.arrived == (2.0 if kept else -np.inf)


def test_refusals_have_the_documented_text():
    setpoint = tracking(max_tracking_error=0.25)
    setpoint.read(NAMES[:2], ((), (0.5, 5.0), ()), 0.0)
    assert setpoint.refusal == (
        "panda_joint2 is to reach 5, more than its velocity limit 2.175: send a slower reference, "
        "or set reference_violation to clip"
    )
    setpoint.read(NAMES[6:], ((), (5.0, -1.0), ()), 0.0)
    assert (
        "panda_finger_joint1 is to reach -1, more than its velocity limit 0.2" in setpoint.refusal
    )
    setpoint.read(NAMES[:2], ((), (), (75.0, -100.0)), 0.0)
    assert setpoint.refusal == (
        "panda_joint2 is to reach -100, more than its max_reference_acceleration 50: send a slower "
        "reference, or set reference_violation to clip"
    )
    setpoint.stay(np.zeros(N))
    assert setpoint.read(NAMES[:2], ((0.5, -0.75), (), ()), 0.0, np.zeros(N)) == "reference_too_far"
    assert setpoint.refusal == (
        "panda_joint1 is 0.5 from its reference, more than max_tracking_error 0.25; "
        "panda_joint2 is 0.75 from its reference, more than max_tracking_error 0.25"
    )


def test_a_law_gets_the_short_way_of_a_continuous_joint():
    """The wanted position of a joint without a reference is its present one."""
    model = wd.load_urdf(wheel_text())
    setpoint = Setpoint(model, ["spin"], ["spin"], Counter())
    setpoint.change(Settings.of({"mode": "computed_torque"}))
    state = State.of_robots(model, 1).row(0)
    state.q[:] = 3.0
    setpoint.write(state)
    assert state.q_desired[0] == 3.0
    setpoint.read(["spin"], ([-3.0], [0.5], [0.25]), 0.0)
    setpoint.write(state)
    np.testing.assert_allclose(state.q_desired, 2 * np.pi - 3.0)
    assert state.v_desired[0] == 0.5 and state.a_desired[0] == 0.25


def test_a_motion_moves_only_its_joints():
    setpoint = tracking()
    setpoint.read(NAMES, (np.zeros(N), np.full(N, 0.02), np.ones(N)), 0.0)
    joints = setpoint.limits_of(NAMES[1:3])
    before = setpoint.q.copy()
    setpoint.move(joints, np.array([[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]]), 7.0)
    rows = ([0.1, 0.2], [0.3, 0.4], [0.5, 0.6])
    for found, row in zip(setpoint.point(joints), rows, strict=True):
        np.testing.assert_array_equal(found, row)
    np.testing.assert_array_equal(np.delete(setpoint.q, [1, 2]), np.delete(before, [1, 2]))
    assert not np.delete(setpoint.v, [1, 2]).any() and not np.delete(setpoint.a, [1, 2]).any()
    assert setpoint.arrived == 7.0 and not setpoint.ends(7.5, 0.5) and setpoint.ends(7.5625, 0.5)
    setpoint.move(joints, np.array(rows), 8.0)
    setpoint.move(setpoint.limits_of(NAMES[:1]), np.array([[0.7], [0.8], [0.9]]), 8.0, False)
    np.testing.assert_array_equal(setpoint.v, [0.8, 0.3, 0.4] + [0.0] * 5)
    np.testing.assert_array_equal(setpoint.a, [0.9, 0.5, 0.6] + [0.0] * 5)


def test_tracking_adds_the_errors_times_the_gains():
    setpoint = tracking(kp=3.0, kd=2.0)
    q = np.array([0.3] * 3 + [-0.3] + [0.3] * 3 + [0.02])
    setpoint.read(NAMES, (q, np.full(N, 0.125), ()), 0.0)
    a = np.full(N, 0.5)
    setpoint.track(q - 0.1, np.full(N, 0.0625), a)
    np.testing.assert_allclose(a, 0.5 + 3.0 * 0.1 + 2.0 * 0.0625, rtol=1e-12)
