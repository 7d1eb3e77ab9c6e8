"""The gate, the commands and the watchdog of one robot, without ROS."""

from __future__ import annotations

from array import array
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

import warpdyn as wd
from ros2_node.control.clock import WatchClock
from ros2_node.control.fleet import Fleet
from ros2_node.control.robot import State
from ros2_node.control.settings import Settings
from ros2_node.control.torque_output import LAST_COMMANDS, STOP_TIME, TorqueOutput

MODEL = wd.load_robot("panda")
NAMES = list(MODEL.joint_names)
Q = np.array([0.3, -0.7, 0.2, -2.0, 0.4, 1.5, 0.1, 0.02])
LIMIT = MODEL.effort_limit


def fleet(robots=1, **values):
    values = {name.replace("__", "."): x for name, x in values.items()}
    return Fleet(
        Settings.of({"robot_description_file": "panda", **values}),
        "",
        [Counter() for _ in range(robots)],
    )


def feed(robot, now, q=Q, v=()):
    return robot.read(NAMES, array("d", q), array("d", v), int(now * 1e9) + 1, now)


def run(fleet, robot, now):
    fleet.compute()
    return robot.command(now, now)


@pytest.fixture(scope="module")
def shared():
    return fleet(ramp_time=1.0)


@pytest.fixture
def robot(shared):
    robot = shared.robots[0]
    robot.disable(0.0)
    while robot.output.stop_step(1e9) is not None:
        pass
    robot.reset()
    robot.counts.clear()
    robot.states.arrived = -np.inf
    robot.states.forget()
    shared.change(Settings.of({"robot_description_file": "panda", "ramp_time": 1.0}))
    return robot


def test_the_torque_of_a_state(shared, robot):
    assert feed(robot, 0.0)
    assert run(shared, robot, 0.0) == (True, None)
    np.testing.assert_allclose(robot.torque, wd.rnea(MODEL, Q, 0 * Q, 0 * Q), atol=1e-12)


def test_enable_asks_for_a_fresh_state(robot):
    good, text = robot.enable(5.0, 5.0)
    assert not good and "no fresh joint_states" in text
    feed(robot, 5.0)
    assert robot.state(5.0) is State.READY
    assert robot.enable(5.05, 5.05) == (True, "enabled")
    assert robot.state(5.05) is State.ENABLED


def test_commands_ramp_in_linearly(shared, robot):
    feed(robot, 0.0)
    robot.enable(0.0, 0.0)
    full = wd.rnea(MODEL, Q, 0 * Q, 0 * Q)
    for t in (0.0, 0.25, 0.5, 1.0, 2.0):
        feed(robot, t)
        _, command = run(shared, robot, t)
        np.testing.assert_allclose(command, min(t, 1.0) * full, atol=1e-9)


def test_a_stale_state_stops_and_latches(shared, robot):
    feed(robot, 0.0)
    robot.enable(0.0, -10.0)
    _, before = run(shared, robot, 0.0)
    before = before.copy()
    assert robot.watch(0.1, 0.1) is None
    sent = []
    t = 0.11
    while (command := robot.watch(t, t)) is not None:
        sent.append(command.copy())
        t += 0.01
    assert robot.state(t) is State.LOST and "0.1 s" in robot.lost
    assert 0.8 * STOP_TIME <= t - 0.11 <= STOP_TIME + 0.1
    sizes = np.array([abs(c[3]) for c in sent])
    assert (np.diff(sizes) <= 1e-12).all() and sizes[0] == abs(before[3])
    assert not np.any(sent[-LAST_COMMANDS:])
    feed(robot, t)
    assert run(shared, robot, t) == (True, None), "latched until ~/enable"
    assert robot.enable(t, t)[0] and robot.state(t) is State.ENABLED


@pytest.mark.parametrize("action, share", [("zero", 0.0), ("hold", 1.0)])
def test_other_stop_sequences(shared, robot, action, share):
    shared.change(
        Settings.of({"robot_description_file": "panda", "stale_action": action, "ramp_time": 0.0})
    )
    feed(robot, 0.0)
    robot.enable(0.0, 0.0)
    _, full = run(shared, robot, 0.0)
    full = full.copy()
    robot.disable(0.0)
    sent = [robot.watch(0.01 * k, 0.01 * k) for k in range(LAST_COMMANDS)]
    assert robot.watch(1.0, 1.0) is None
    np.testing.assert_allclose(sent, np.tile(share * full, (LAST_COMMANDS, 1)))


def test_a_torque_that_is_not_finite_is_a_latched_fault(shared, robot):
    feed(robot, 0.0)
    robot.enable(0.0, 0.0)
    run(shared, robot, 0.0)
    shared.dynamics.torque[0, 2] = np.nan
    assert robot.command(0.01, 0.01) == (False, None)
    assert "panda_joint3" in robot.fault and robot.output.stopping
    while (command := robot.watch(0.02, 9.0)) is not None:
        assert np.isfinite(command).all()
    feed(robot, 9.0)
    good, text = robot.enable(9.0, 9.0)
    assert not good and "~/reset" in text
    robot.reset()
    assert robot.enable(9.0, 9.0)[0] and robot.last_fault


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


def test_a_new_payload_blends_in_without_a_step():
    old = fleet(ramp_time=1.0)
    robot = old.robots[0]
    feed(robot, 0.0)
    robot.enable(0.0, -10.0)
    light = run(old, robot, 0.0)[1].copy()
    new = fleet(
        ramp_time=1.0, payload__link="panda_hand", payload__mass=2.0, payload__com=[0, 0, 0.1]
    )
    assert old.can_blend_to(new)
    old.blend_to(new, 0.0)
    heavy = wd.rnea(MODEL.with_payload("panda_hand", 2.0, (0, 0, 0.1)), Q, 0 * Q, 0 * Q)
    for t, share in ((0.0, 0.0), (0.5, 0.5), (1.0, 1.0), (1.5, 1.0)):
        feed(robot, t)
        np.testing.assert_allclose(
            run(old, robot, t)[1], light + share * (heavy - light), atol=1e-9
        )


def test_computed_torque_tracks_and_holds():
    tracking = fleet(mode="computed_torque", kp=[50.0] * 8, kd=5.0, state_timeout=1.0)
    robot = tracking.robots[0]
    v = np.linspace(-0.5, 0.5, 8)
    feed(robot, 0.0, v=v)
    robot.enable(0.0, 0.0)
    feed(robot, 0.1, Q + 0.01, v)
    tracking.compute()
    np.testing.assert_allclose(
        robot.torque, wd.rnea(MODEL, Q + 0.01, v, -50 * 0.01 - 5 * v), atol=1e-9
    )
    wanted, a = Q + 0.2, np.ones(8)
    assert robot.reference.read(NAMES[::-1], (wanted[::-1], (), a), 0.1) is None
    feed(robot, 0.2, Q, v)
    tracking.compute()
    np.testing.assert_allclose(robot.torque, wd.rnea(MODEL, Q, v, a + 50 * 0.2 - 5 * v), atol=1e-9)
    feed(robot, 5.0, Q, v)
    tracking.compute()
    np.testing.assert_allclose(robot.torque, wd.rnea(MODEL, Q, v, 50 * 0.2 - 5 * v), atol=1e-9)


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
def test_a_bad_reference_is_refused(robot, names, point, reason):
    before = robot.reference.q.copy()
    assert robot.reference.read(names, point, 0.0) == reason
    np.testing.assert_array_equal(robot.reference.q, before)


def test_a_wrench_is_compensated_while_it_is_fresh(shared, robot):
    assert robot.wrench.read("panda_hand", (0, 0, 10.0), (0, 0, 0), 0.0) is None
    feed(robot, 0.05)
    run(shared, robot, 0.05)
    f_ext = {"panda_hand": np.array([0, 0, 10.0, 0, 0, 0])}
    np.testing.assert_allclose(
        robot.torque, wd.rnea(MODEL, Q, 0 * Q, 0 * Q, f_ext=f_ext), atol=1e-9
    )
    feed(robot, 0.2)
    run(shared, robot, 0.2)
    np.testing.assert_allclose(robot.torque, wd.rnea(MODEL, Q, 0 * Q, 0 * Q), atol=1e-9)
    assert robot.wrench.read("nose", (0, 0, 0), (0, 0, 0), 0.0) == "wrench_unknown_link"
    assert robot.wrench.read("panda_hand", (0, 0, np.nan), (0, 0, 0), 0.0) == "wrench_nonfinite"


def test_robots_of_a_fleet_do_not_touch_each_other():
    three = fleet(3)
    for k, robot in enumerate(three.robots):
        feed(robot, 0.0, Q * (k + 1) / 3)
    three.compute()
    for k, robot in enumerate(three.robots):
        q = Q * (k + 1) / 3
        np.testing.assert_allclose(robot.torque, wd.rnea(MODEL, q, 0 * q, 0 * q), atol=1e-9)
    three.robots[1].enable(0.0, 0.0)
    assert [r.enabled for r in three.robots] == [False, True, False] and not three.idle


@given(st.integers(1, 50), st.integers(0, 10))
@examples(max_examples=20)
def test_bad_robots_of_a_batch_get_nothing_and_spoil_nobody(shared, robots, bad):
    rng = np.random.default_rng(robots)
    state = rng.uniform(-1.5, 1.5, (robots, 2, 8))
    rows = rng.integers(0, robots, min(bad, robots))
    state[rows, rng.integers(0, 2, len(rows)), rng.integers(0, 8, len(rows))] = rng.choice(
        [np.nan, np.inf, 1e9]
    )
    torque = shared.batch.compute(state)
    broken = np.isin(np.arange(robots), rows)
    assert not torque[broken].any()
    q = np.ascontiguousarray(state[~broken, 0])
    np.testing.assert_allclose(torque[~broken], wd.rnea(MODEL, q, 0 * q, 0 * q), atol=1e-9)


def test_sizes_of_a_batch(shared):
    assert shared.batch.robots_in(32, [2, 2, 8]) == 2 and shared.batch.robots_in(32, []) == 2
    for length, sizes in ((0, []), (15, []), (32, [4, 2, 4]), (32, [2, 8])):
        with pytest.raises(ValueError, match="must be"):
            shared.batch.robots_in(length, sizes)


def test_mode_and_lists_are_checked_against_the_robot(shared, robot):
    with pytest.raises(ValueError, match="8 command joints"):
        shared.change(Settings.of({"robot_description_file": "panda", "torque_scale": [1.0, 1.0]}))
    feed(robot, 0.0)
    robot.enable(0.0, 0.0)
    with pytest.raises(ValueError, match="while enabled"):
        shared.change(Settings.of({"robot_description_file": "panda", "mode": "computed_torque"}))


@given(st.lists(st.tuples(st.floats(0.0, 0.2), st.floats(-50.0, 50.0)), min_size=1, max_size=50))
def test_the_watchdogs_time_never_outruns_the_steady_clock(steps):
    """Whatever the simulated clock does: time never goes back and never faster than the steady clock."""
    clock, steady, simulated, last = WatchClock(), 100.0, 1000.0, 0.0
    clock.advance(steady, simulated)
    for passed, moved in steps:
        steady, simulated = steady + passed, simulated + moved
        now = clock.advance(steady, simulated)
        assert last <= now <= steady - 100.0 + 1e-9
        last = now


def test_a_pause_ages_nothing_a_jump_ages_what_passed_and_slow_ticks_count():
    clock = WatchClock()
    clock.advance(0.0, 10.0)
    assert clock.advance(60.0, 10.0) == 0.0 and clock.paused
    assert clock.advance(60.01, 10.01) == pytest.approx(0.01) and not clock.paused
    assert clock.advance(60.02, 500.0) == pytest.approx(0.02) and clock.jumps == 1
    assert clock.advance(60.03, 5.0) == pytest.approx(0.03) and clock.jumps == 2
    for k in range(10):
        clock.advance(60.04 + 0.01 * k, 5.0)
    assert clock.advance(60.13, 5.1) == pytest.approx(0.13), "a clock that ticks at 10 Hz"
    assert WatchClock().advance(5.0, None) == 0.0


def test_gravity_changes_while_running(shared, robot):
    """Rows and batch alike, without building kernels again."""
    moon = Settings.of({"robot_description_file": "panda", "gravity": [0.0, 0.0, -1.62]})
    feed(robot, 0.0)
    shared.change(moon)
    run(shared, robot, 0.0)
    expected = wd.rnea(MODEL, Q, 0 * Q, 0 * Q, gravity=(0.0, 0.0, -1.62))
    np.testing.assert_allclose(robot.torque, expected, atol=1e-9)
    np.testing.assert_allclose(
        shared.batch.compute(np.stack([Q, 0 * Q])[None])[0], expected, atol=1e-9
    )
