"""Timings, rates and levels of the diagnostics."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from fleets import MODEL, NAMES, feed, panda_fleet, panda_settings, wheel_text
from hypothesis import given
from hypothesis import strategies as st

from ros2_node.control.fleet import Fleet
from ros2_node.control.report import (
    ERROR,
    OK,
    SAMPLES,
    WARN,
    Rates,
    Reporter,
    Timing,
    ready,
    remarks,
)
from ros2_node.control.safety.gate import EXPLAINED, OPEN, Phase
from ros2_node.control.settings.node_settings import Settings


@given(st.lists(st.floats(1e-6, 1.0), min_size=1, max_size=50))
def test_timing_counts_all_and_remembers_the_longest(seconds):
    """Median and percentile are NumPy's of the samples."""
    timing = Timing()
    assert timing.text() == "none yet"
    for x in seconds:
        timing.add(x)
    p50, p99 = np.percentile(seconds, (50, 99)) * 1e6
    assert timing.count == len(seconds) and timing.longest == max(seconds)
    assert timing.text() == f"p50 {p50:.0f} us, p99 {p99:.0f} us, max {max(seconds) * 1e6:.0f} us"


def test_timing_forgets_the_oldest_samples():
    """The percentiles are those of the last SAMPLES; the longest is that of all."""
    timing = Timing()
    timing.add(1.0)
    for _ in range(SAMPLES):
        timing.add(1e-6)
    assert timing.text() == "p50 1 us, p99 1 us, max 1000000 us"


def test_rates_are_events_a_second_since_the_last_look():
    rates = Rates()
    rates.totals["commands"] += 10
    rates.look(1.0)
    rates.totals["commands"] += 10
    assert rates.look(3.0) == {"commands": 5.0}
    assert rates.look(3.0) == {"commands": 0.0}, "no time has passed"


@pytest.fixture
def reporter(robot):
    return Reporter(robot.counts)


def test_the_level_follows_the_robots_phase(reporter, robot):
    """Waiting and stopping warn, lost and fault are errors, ready and enabled are well."""
    assert reporter.level(None, 0.0, 0.0, 1.0) == (WARN, "waiting for a model")
    assert reporter.level(robot, 0.0, 0.0, 1.0) == (WARN, "waiting for joint_states")
    feed(robot, 1.0)
    assert reporter.level(robot, 1.0, 1.0, 1.0) == (OK, "ready, disabled")
    robot.enable(1.0, 1.0)
    assert reporter.level(robot, 1.0, 1.0, 1.0) == (OK, "enabled")
    robot.watch(5.0, 5.0)
    assert reporter.level(robot, 5.0, 5.0, 1.0)[0] == ERROR
    robot.reset()
    robot.fail("broken", 5.0)
    assert reporter.level(robot, 5.0, 5.0, 1.0) == (ERROR, "fault: broken")


@pytest.mark.parametrize(
    "phase, level, message",
    [
        (Phase.OFF, OK, "ready, disabled"),
        (Phase.STARTING, OK, "ready, disabled"),
        (Phase.ENABLED, OK, "enabled"),
        (Phase.FLOATING, WARN, "floating: why"),
        (Phase.STOPPING, WARN, "stopping"),
        (Phase.STOPPING_LOST, ERROR, "stopping"),
        (Phase.STOPPING_FAULT, ERROR, "fault: why"),
        (Phase.LOST, ERROR, "state lost: why"),
        (Phase.LOST_STARTING, ERROR, "state lost: why"),
        (Phase.FAULT, ERROR, "fault: why"),
    ],
)
def test_level_and_message_of_each_phase_of_the_gate(phase, level, message, reporter, robot):
    """A robot with fresh states; `enabled` is true while computed commands are sent."""
    feed(robot, 1.0)
    robot.gate.phase, robot.gate.reason = phase, "why" if phase in EXPLAINED else ""
    assert reporter.level(robot, 1.0, 1.0, 1.0) == (level, message)
    lines = reporter.values(robot, panda_settings(), 1.0, 1.0, "")
    assert lines["state"] == message.partition(":")[0]
    assert lines["enabled"] == ("true" if phase in OPEN else "false")
    robot.gate.phase, robot.gate.reason = Phase.OFF, ""


def test_what_was_counted_within_a_period_warns_and_then_is_silent(reporter, robot):
    """Strangers on the topic do not."""
    feed(robot, 0.0)
    robot.counts["missing_joint"] += 3
    robot.counts["unknown_joint"] += 3
    assert reporter.level(robot, 0.0, 0.0, 1.0) == (WARN, "ready, disabled; missing_joint (3)")
    assert reporter.level(robot, 0.0, 1.0, 1.0)[0] == WARN
    assert reporter.level(robot, 0.0, 1.1, 1.0) == (OK, "ready, disabled")


def test_a_standing_remark_warns_until_it_goes(reporter, robot):
    feed(robot, 0.0)
    reporter.remarks["model refused"] = "no links"
    assert reporter.level(robot, 0.0, 0.0, 1.0) == (
        WARN,
        "ready, disabled; model refused: no links",
    )
    assert reporter.values(robot, panda_settings(), 0.0, 0.0, "")["model refused"] == "no links"
    del reporter.remarks["model refused"]
    assert reporter.level(robot, 0.0, 0.0, 1.0)[0] == OK


def test_the_lines_have_state_counts_and_rates(reporter, robot):
    """Only what was counted has a line; without a robot there are fewer."""
    feed(robot, 0.0)
    robot.counts.update({"wrong_length": 2, "position_jump": 1})
    lines = reporter.values(robot, panda_settings(), 0.25, 1.0, "quick")
    assert lines["state age"] == "0.250 s" and lines["model"] == "panda"
    assert lines["enabled"] == "false" and lines["compute time"] == "quick"
    assert lines["rejected.wrong_length"] == "2" and lines["noticed.position_jump"] == "1"
    assert "rejected.missing_joint" not in lines and lines["last fault"] == "none"
    nobody = Reporter(Counter()).values(None, panda_settings(), 0.0, 1.0, "none yet")
    assert nobody["state"] == "waiting for a model" and "state age" not in nobody


def test_the_ready_line_counts_the_load():
    """Model, whole mass, robots, mode, device and the joints of the commands."""
    settings = panda_settings(payload__link="panda_hand", payload__mass=2.0)
    fleet = panda_fleet(2, payload__link="panda_hand", payload__mass=2.0)
    text = ready(fleet.robots, settings)
    assert text.startswith(
        f"ready: panda, {MODEL.total_mass + 2.0:.6g} kg, 2 robot(s), mode gravity"
    )
    assert text.endswith(f"on cpu, commands for {', '.join(NAMES)}") and not remarks(
        fleet.robots[0]
    )
    lines = Reporter(Counter()).values(fleet.robots[0], settings, 0.0, 1.0, "")
    assert lines["payload"] == "2 kg on panda_hand"


def test_joints_without_effort_limits_are_remarked():
    wheel = Fleet(Settings.of({"robot_description": wheel_text()}), "", [Counter()])
    (text,) = remarks(wheel.robots[0])
    assert text.startswith("no effort limit for spin: ~/enable needs effort_limits")
