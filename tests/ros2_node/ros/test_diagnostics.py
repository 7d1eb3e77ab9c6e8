"""Messages on /diagnostics."""

from __future__ import annotations

from collections import Counter

import pytest
from builtin_interfaces.msg import Time
from fleets import feed, panda_fleet, panda_settings
from recording_node import RecordingNode

from ros2_node.control.safety.watchdog_clock import WatchdogClock
from ros2_node.ros.diagnostics import Diagnostics

SETTINGS = panda_settings()


@pytest.fixture
def node():
    return RecordingNode()


def make_diagnostics(node, *names):
    return Diagnostics(node, names or [""], [Counter() for _ in names or [""]], WatchdogClock())


def test_each_robot_has_a_status_with_its_name(node):
    """The name is that of the node, and the namespace if there is one."""
    make_diagnostics(node, "left", "right").publish(None, SETTINGS, 0.0)
    (message,) = node.messages["/diagnostics"]
    assert [s.name for s in message.status] == ["warpdyn: left", "warpdyn: right"]
    assert message.header.stamp == node.get_clock().now().to_msg() != Time()
    alone = RecordingNode()
    make_diagnostics(alone).publish(None, SETTINGS, 0.0)
    (status,) = alone.messages["/diagnostics"][0].status
    assert status.name == "warpdyn" and status.level == b"\1"
    assert status.message == "waiting for a model" and status.hardware_id == ""


def test_a_change_of_level_is_noticed_until_it_is_published(node):
    """Other changes do not matter."""
    diagnostics, fleet = make_diagnostics(node), panda_fleet()
    assert diagnostics.has_changed(fleet, SETTINGS, 0.0), "nothing was published yet"
    diagnostics.publish(fleet, SETTINGS, 0.0)
    assert not diagnostics.has_changed(fleet, SETTINGS, 0.0)
    feed(fleet.robots[0], 0.0)
    assert diagnostics.has_changed(fleet, SETTINGS, 0.0)
    diagnostics.publish(fleet, SETTINGS, 0.0)
    (status,) = node.messages["/diagnostics"][-1].status
    assert status.level == b"\0" and status.hardware_id == "panda"
    assert {v.key: v.value for v in status.values}["state"] == "ready, disabled"


def test_a_remark_applies_to_every_robot_until_it_is_removed(node):
    diagnostics = make_diagnostics(node, "left", "right")
    diagnostics.remark("QoS mismatch", "x" * 1000)
    assert [len(r.remarks["QoS mismatch"]) for r in diagnostics.reporters] == [500, 500]
    diagnostics.remark("QoS mismatch", "")
    assert not any(r.remarks for r in diagnostics.reporters)


def test_a_remark_may_apply_to_one_robot(node):
    diagnostics = make_diagnostics(node, "left", "right")
    diagnostics.remark("no controller", "nobody", 1)
    assert [dict(r.remarks) for r in diagnostics.reporters] == [{}, {"no controller": "nobody"}]
    diagnostics.remark("no controller", "", 1)
    assert not any(r.remarks for r in diagnostics.reporters)


def test_a_paused_simulation_is_reported(node):
    diagnostics = make_diagnostics(node)
    for steady in (0.0, 10.0):
        diagnostics._clock.advance(steady, 5.0)
    diagnostics.publish(None, SETTINGS, 10.0)
    (status,) = node.messages["/diagnostics"][0].status
    assert status.message.endswith("; the simulation is paused: nothing ages")


def test_a_running_build_is_reported_with_its_duration(node):
    """The next build starts a new count."""
    diagnostics = make_diagnostics(node)
    for steady, building in ((1.0, True), (4.0, True), (5.0, False), (6.0, True), (8.0, True)):
        diagnostics.build(building, steady)
        diagnostics.publish(None, SETTINGS, steady)
    texts = [m.status[0].message.partition("; ")[2] for m in node.messages["/diagnostics"]]
    times = ("0 s", "3 s", None, "0 s", "2 s")
    assert texts == [f"building a model for {t}" if t else "" for t in times]


def test_batches_have_a_line_after_the_first_one(node):
    diagnostics, fleet = make_diagnostics(node), panda_fleet()
    for expected in (False, True):
        diagnostics.publish(fleet, SETTINGS, 0.0)
        keys = {v.key for v in node.messages["/diagnostics"][-1].status[0].values}
        assert ("batch time" in keys) is expected
        fleet.batch_timing.add(1e-3)
