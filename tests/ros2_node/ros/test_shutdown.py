"""The end of the node, and the last commands that it sends."""

from __future__ import annotations

import os
import signal

import numpy as np
import pytest
from fleets import MODEL, NAMES, feed, panda_fleet
from recording_node import RecordingNode

from ros2_node.ros import shutdown
from ros2_node.ros.shutdown import ending_signals, stop_robots
from ros2_node.ros.topics import RobotNames, TorqueTopics


@pytest.fixture
def handlers():
    """Restore the process's own signal handlers."""
    before = {number: signal.getsignal(number) for number in shutdown.ENDING}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"])
def test_a_signal_asks_the_node_to_end(name, handlers):
    signal.signal(getattr(signal, name), signal.SIG_DFL)  # the tests may run under nohup
    stopped = ending_signals()
    assert not stopped()
    os.kill(os.getpid(), getattr(signal, name))
    assert stopped()


def test_a_hangup_that_is_ignored_stays_ignored(handlers):
    """nohup ignores it."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    stopped = ending_signals()
    os.kill(os.getpid(), signal.SIGHUP)
    assert not stopped()


@pytest.fixture
def two():
    """Two enabled pandas, their topics, and the node of the topics."""
    node, fleet = RecordingNode(), panda_fleet(2, ramp_time=0.0)
    names = [RobotNames(f"{r}/", f"{r}/w/") for r in "ab"]
    topics = [TorqueTopics(node, each, lambda topic: None) for each in names]
    for robot, sender in zip(fleet.robots, topics, strict=True):
        sender.describe(MODEL, NAMES)
        feed(robot, 0.0)
        robot.enable(0.0, 0.0)
    fleet.compute()
    for robot in fleet.robots:
        robot.command(0.0, 0.0)
    return fleet, topics, node


def test_every_enabled_robot_gets_its_stop_sequence(two):
    """Each gets five commands of zeros. A second call sends nothing."""
    fleet, topics, node = two
    fleet.robots[0].disable(0.0)
    while fleet.robots[0].stop_step(1e9) is not None:
        pass
    stop_robots(fleet, topics, node.log)
    assert fleet.idle and list(node.messages) == ["b/w/commands"]
    sent = [m.data.tolist() for m in node.messages["b/w/commands"]]
    assert len(sent) == 5 and not np.any(sent) and not node.log.lines
    assert node.publishers["b/w/commands"].acknowledged
    stop_robots(fleet, topics, node.log)
    assert len(node.messages["b/w/commands"]) == 5


def test_a_failed_publisher_is_reported_and_does_not_affect_others(two, monkeypatch):
    fleet, topics, node = two

    def fail_to_publish(command):
        raise RuntimeError("the publisher is gone")

    monkeypatch.setattr(topics[0], "send_command", fail_to_publish)
    stop_robots(fleet, topics, node.log)
    assert len(node.messages["b/w/commands"]) == 5 and fleet.idle
    assert node.log.lines == [
        "the stop sequence could not be sent on a/w/commands: the publisher is gone; "
        "the controller keeps the last torque"
    ]


def test_commands_that_are_not_acknowledged_are_reported(two, monkeypatch):
    """The first reason of a robot remains. The other robot's commands are still awaited."""
    fleet, topics, node = two

    def silent(timeout):
        raise RuntimeError("no acknowledgement")

    monkeypatch.setattr(node.publishers["a/w/commands"], "wait_for_all_acked", silent)
    stop_robots(fleet, topics, node.log)
    assert len(node.messages["a/w/commands"]) == 5
    assert node.publishers["b/w/commands"].acknowledged
    assert node.log.lines == [
        "the stop sequence could not be sent on a/w/commands: no acknowledgement; "
        "the controller keeps the last torque"
    ]
