"""Random faults of many kinds on an enabled node: a few here, thousands by `python -m
benchmarks.ros2 faults`."""

from __future__ import annotations

import numpy as np
import rclpy

from benchmarks.ros2.command_checks import LAST, CommandChecks
from benchmarks.ros2.faults import KINDS, ONCE, faults

LIMITS = np.array([10.0, 1.0])


def test_commands_that_break_a_rule_are_counted():
    """They are nonfinite, of another length, beyond a limit, or make a step that the rate forbids.
    A slow change is allowed."""
    checks = CommandChecks(LIMITS)
    checks.look(np.array([0.0, 0.0]), 0.0)
    checks.look(np.array([1.0, 0.1]), 0.01)
    assert checks.bad() == 0
    checks.look(np.array([10.0, 0.1]), 0.011)
    assert (checks.too_fast, checks.bad()) == (1, 1)
    checks.look(np.array([10.1, 0.1]), 1.0)
    assert checks.beyond == 1
    checks.look(np.array([np.nan, 0.1]), 1.001)
    checks.look(np.array([1.0]), 1.002)
    assert checks.not_finite == 2 and checks.number == 6


def test_five_zero_commands_count_as_an_end():
    checks = CommandChecks(LIMITS)
    for k in range(2 * LAST):
        checks.look(np.zeros(2) if k != LAST - 1 else np.array([0.1, 0.0]), 0.01 * k)
    assert checks.ends == 1


def test_the_campaign_has_many_kinds_of_faults():
    frozen = [name for name in ONCE if name.startswith("SIGSTOP")]
    assert len(KINDS) >= 120 and len(frozen) >= 12
    assert {"SIGSTOP 50 ms", "SIGSTOP 5000 ms"} <= set(frozen)
    for topic in ("goal", "trajectory", "twist", "pose", "stiffness", "sensor", "a client"):
        assert sum(name.startswith(topic) for name in KINDS) >= 2, topic


def test_a_short_campaign_finds_no_bad_command(tmp_path):
    """It leaves out kinds that take seconds."""
    kinds, number = dict(KINDS), 14
    slow = (
        "5000",
        "3000",
        "2000",
        "1500",
        "driver",
        "client",
        "silence 1.5",
        "20 MB",
        "s, no states",
    )
    try:
        for name in [x for x in KINDS if any(part in x for part in slow)]:
            del KINDS[name]
        rclpy.init()
        try:
            result = faults(tmp_path, number, seed=3)
        finally:
            rclpy.shutdown()
    finally:
        KINDS.update(kinds)
    assert not result["problems"]
    assert result["commands_checked"] > 5 * number and result["faults"] == number
    assert 0.1 < result["largest_share_of_a_limit"] <= 1.0
