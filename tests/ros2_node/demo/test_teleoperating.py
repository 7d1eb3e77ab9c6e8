"""The teleoperation demo: its processes, and its evaluation of two arms' states.

The demo itself runs in tests/ros.
"""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from sensor_msgs.msg import JointState

from ros2_node.demo import teleoperating as module
from ros2_node.demo.teleoperating import LeaderRecording


def test_swing_and_error_are_those_of_the_worst_joint():
    t = np.linspace(0.0, 1.0, 101)
    leader = np.zeros((101, 7))
    leader[:, 0], leader[:, 3] = 0.2 * np.sin(np.pi * t), -2.0 + 0.1 * t
    follower = leader.copy()
    follower[50, 5] += 0.03
    led = LeaderRecording(t, leader, follower)
    assert led.swing == pytest.approx(0.2) and led.error == pytest.approx(0.03)


class Observer:
    """A stand-in for a client that records its topics and the conditions it waits for."""

    def __init__(self, name, children):
        self.node, self.heard, self.waited, self.closed = self, {}, [], False

    def create_subscription(self, kind, topic, function, qos):
        self.heard[topic] = function

    def until(self, condition, what, patience):
        self.waited.append(what)
        for k in range(9):
            if condition():
                return
            for arm in module.ARMS[::-1]:
                state = JointState(
                    name=["other", *module.JOINTS],
                    position=[9.0, *(float(k + len(arm) + j) for j in range(len(module.JOINTS)))],
                )
                state.header.stamp.sec, state.header.stamp.nanosec = k, 500_000_000
                for topic, function in self.heard.items():
                    if arm in topic:
                        function(state)
        raise AssertionError(what)

    def close(self):
        self.closed = True


def test_arms_nodes_and_hand_are_started_and_ended(monkeypatch):
    """Each process has its parameters and namespace. They end in reverse order, whatever
    happens."""
    started, ended, observers = [], [], []

    class Process:
        def __init__(self, name, arguments, log):
            started.append((name, arguments))
            self.name, self.log = f"{name} {log.stem}", SimpleNamespace(read_text=lambda: "leading")

        def end(self):
            ended.append(self.name)

    def observer(*values):
        observers.append(Observer(*values))
        return observers[-1]

    monkeypatch.setattr(module, "Child", Process)
    monkeypatch.setattr(module, "Client", observer)
    monkeypatch.setattr(
        module,
        "rclpy",
        SimpleNamespace(init=lambda: None, try_shutdown=lambda: ended.append("ros")),
    )
    said = []
    led = module.teleoperate(2.5, 3.0, {"ramp_time": 0.25}, said.append)
    spaces = [f"/{arm}" for arm in module.ARMS for _ in range(2)]
    names = ["ros2_node.demo.plant", "ros2_node.node"] * 2
    assert [name for name, _ in started] == [
        *names,
        "ros2_node.demo.teleoperation",
        "ros2_node.demo.teleoperation_leader",
    ]
    for (name, arguments), space in zip(started, spaces, strict=False):
        assert f"__ns:={space}" in arguments
        assert ("~/commands:=warpdyn/commands" in arguments) == ("plant" in name)
        assert ("ramp_time:=0.25" in arguments) == name.endswith(".node")
    coupled = [any("law_inputs.coupling:=3.0" in x for x in words) for _, words in started]
    assert coupled == [False, True, False, False, False, False]
    assert "feedback:=true" in started[4][1]
    assert len(ended) == 7 and ended[-1] == "ros" and observers[0].closed
    assert ended[0].startswith("ros2_node.demo.teleoperation_leader")
    assert said == ["both arms have torques: the hand leads"]
    assert observers[0].waited == ["torques", "the hand's way"]
    np.testing.assert_array_equal(led.times, [0.0, 1.0, 2.0, 3.0])
    n = np.arange(4.0)[:, None] + np.arange(len(module.JOINTS))
    np.testing.assert_array_equal(led.leader, n + len("leader"))
    np.testing.assert_array_equal(led.follower, n + len("follower"))


def test_the_command_prints_how_far_the_hand_has_led(monkeypatch, capsys):
    """An error of a process is one line and an exit status."""
    asked, domains = [], []
    led = SimpleNamespace(
        times=np.array([0.0, 4.26]), swing=np.radians(12.34), error=np.radians(0.567)
    )

    def teleoperate(seconds, feedback, say):
        asked.append((seconds, feedback))
        say("hello")
        return led

    monkeypatch.setattr(module, "teleoperate", teleoperate)
    monkeypatch.setattr(module, "on_this_machine", domains.append)
    monkeypatch.setattr(module.os, "getpid", lambda: 205)
    for words, numbers in (([], (8.0, 0.0)), (["--seconds", "4", "--feedback", "20"], (4.0, 20.0))):
        monkeypatch.setattr("sys.argv", ["teleoperating", *words])
        assert module.main() == 0 and asked.pop() == numbers and domains.pop() == 6
        assert capsys.readouterr().out == (
            "  hello\n  4.3 s: the hand led a joint by 12.3 deg; the follower was 0.57 deg off at most\n"
        )

    def stop(*given, **options):
        raise module.ProcessError("the plant ended by itself")

    monkeypatch.setattr(module, "teleoperate", stop)
    monkeypatch.setattr("sys.argv", ["teleoperating", "--domain", "9"])
    assert module.main() == 2 and domains == [9]
    assert capsys.readouterr().err == "the demo stopped: the plant ended by itself\n"
