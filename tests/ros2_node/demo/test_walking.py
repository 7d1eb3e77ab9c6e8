"""The walking demo: its evaluation of odometry, and its processes.

The demo itself runs in tests/ros.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from geometry_msgs.msg import Twist
from nav_msgs.msg import Odometry

from ros2_node.demo import walking as module
from ros2_node.demo.processes import ros_arguments
from ros2_node.demo.walking import Leg, Walk

T = np.arange(0.0, 8.0, 0.01)


def walk_of(forward=0.5, turning=0.0, commanded=0.5, tilt=0.0, height=0.3):
    """Eight seconds that begin at rest. Speeds oscillate by 0.1 at 4 Hz, as in a trot."""
    n = len(T)
    place, speed, told = np.zeros((n, 7)), np.zeros((n, 6)), np.zeros((n, 3))
    place[:, 2], place[-1, 2] = 0.3, height
    place[:, 6], place[-1, 6], place[-1, 4] = 1.0, np.cos(tilt / 2), np.sin(tilt / 2)
    swing = 0.1 * np.sin(2 * np.pi * 4.0 * T)
    told[T >= 3.0, 0] = commanded
    speed[T >= 3.5, 0] = forward
    speed[:, 0] += swing
    speed[:, 5] = turning
    return Walk(T, place, speed, told, {})


def test_errors_are_means_after_a_command_has_settled():
    """Neither the oscillation of a trot nor the time of a change counts."""
    assert walk_of().errors == pytest.approx((0.0, 0.0), abs=2e-3)
    speed, turning = walk_of(forward=0.3, turning=-0.1).errors
    share = (8.0 - 4.5) / (8.0 - 4.5 + 1.5)
    assert speed == pytest.approx(0.2 * share, abs=3e-3) and turning == pytest.approx(0.1)


def test_a_fall_is_a_tilt_or_a_low_base():
    assert not walk_of(tilt=0.9).fell and not walk_of(height=0.2).fell
    assert not walk_of(height=0.15).fell
    assert walk_of(tilt=1.1).fell and walk_of(height=0.14).fell


class Course:
    """A stand-in for a client: a robot that moves as commanded, in simulated time."""

    def __init__(self, name: str, children: list[Any]) -> None:
        self.node, self.heard, self.sent, self.waited, self.closed = self, {}, [], [], 0  # type: ignore[var-annotated]
        self.now, self.x = 100.0, 0.0

    def create_subscription(self, kind: type, topic: str, function: Any, qos: Any) -> None:
        self.heard[topic] = function

    def create_publisher(self, kind: type, topic: str, qos: Any) -> Course:
        assert topic == "cmd_vel"
        return self

    def publish(self, message: Twist) -> None:
        self.sent.append((self.now, message.linear.x, message.linear.y, message.angular.z))

    def until(self, condition: Any, what: str, patience: float = 60.0) -> None:
        self.waited.append((what, patience))
        while not condition():
            self.now += 0.02
            message = Odometry()
            stamp, place, speed = message.header.stamp, message.pose.pose, message.twist.twist
            stamp.sec = int(self.now)
            stamp.nanosec = round((self.now - stamp.sec) * 1e9)
            p, o, v, w = place.position, place.orientation, speed.linear, speed.angular
            numbers = [self.now + 0.1 * k for k in range(13)]
            p.x, p.y, p.z, o.x, o.y, o.z, o.w, v.x, v.y, v.z, w.x, w.y, w.z = numbers
            self.heard["odom"](message)
            status = DiagnosticStatus(values=[KeyValue(key="time", value=f"{self.now:.2f}")])
            self.heard["/diagnostics"](DiagnosticArray(status=[status]))

    def close(self) -> None:
        self.closed += 1


def test_a_course_is_recorded_leg_by_leg():
    """The record begins at the first state after the hand lets go. Commands are repeated every 0.05
    s of simulated time."""
    log, said = iter(["", "the hand lets go"]), []
    quadruped = SimpleNamespace(log=SimpleNamespace(read_text=lambda: next(log)))
    legs = [Leg(1.0, 0.6, 0.1, -0.2), Leg(0.5, -0.3)]
    course = Course("course", [])
    found = module._record_walk(course, legs, quadruped, said.append)
    assert course.waited == [
        ("torques", 300.0),
        ("odometry", 60.0),
        ("odometry", 60.0),
        ("1 simulated seconds", 90.0),
        ("0.5 simulated seconds", 75.0),
    ]
    begin = found.times[0]
    np.testing.assert_allclose(np.diff(found.times), 0.02, atol=1e-6)
    assert found.times[-1] - begin == pytest.approx(1.5, abs=0.021)
    np.testing.assert_allclose(found.place, found.times[:, None] + 0.1 * np.arange(7), atol=1e-6)
    np.testing.assert_allclose(
        found.speed, found.times[:, None] + 0.1 * np.arange(7, 13), atol=1e-6
    )
    first = found.times <= begin + 1.0 + 1e-6
    np.testing.assert_array_equal(
        found.commanded[first][1:], [[0.6, 0.1, -0.2]] * (first.sum() - 1)
    )
    np.testing.assert_array_equal(found.commanded[~first], [[-0.3, 0.0, 0.0]] * (~first).sum())
    assert not found.commanded[0].any()
    assert found.diagnostics == {"time": f"{course.now:.2f}"}
    times = np.array([time for time, *_ in course.sent])
    assert np.diff(times).max() < 0.0601 and np.diff(times)[1:-1].min() > 0.0199
    assert {tuple(speeds) for _, *speeds in course.sent} == {(0.6, 0.1, -0.2), (-0.3, 0.0, 0.0)}
    assert len(said) == 2 and said[0].startswith(f"after {legs[0]}: at [")


@pytest.mark.parametrize("fails", [False, True])
def test_a_walk_has_two_processes_that_end_whatever_happens(fails, monkeypatch):
    """The robot starts first, then the node, and the caller reports each."""
    calls, said = [], []

    class Process:
        def __init__(self, name, arguments, log):
            calls.append((name, arguments, log.name))
            self.name = name
            self.wait_for = lambda text: calls.append((name, text)) or 1.26
            self.check = lambda: calls.append((name, "checked"))
            self.end = lambda: calls.append((name, "ended"))

    def record(client, legs, quadruped, say):
        assert isinstance(client, Course) and quadruped.name == "ros2_node.demo.walker"
        if fails:
            raise module.ProcessError("no")
        return legs

    clients = []
    monkeypatch.setattr(module, "Child", Process)
    monkeypatch.setattr(
        module, "Client", lambda *given: clients.append(Course(*given)) or clients[-1]
    )
    monkeypatch.setattr(module, "_record_walk", record)
    rclpy = SimpleNamespace(
        init=lambda: calls.append("init"), try_shutdown=lambda: calls.append("shutdown")
    )
    monkeypatch.setattr(module, "rclpy", rclpy)

    def walk():
        return module.walk([1, 2], "p.onnx", {"rate": 5}, {"pose": [1.0]}, say=said.append)

    if fails:
        with pytest.raises(module.ProcessError):
            walk()
    else:
        assert walk() == [1, 2] and said == ["node ready after 1.3 s"]
    walker, node = "ros2_node.demo.walker", "ros2_node.node"
    told = {"robot_description_file": "quadruped", "policy": "p.onnx", "use_sim_time": True}
    told |= {"ramp_time": 0.5, "start_enabled": True, "rate": 5}
    assert calls == [
        "init",
        (walker, ros_arguments({"pose": [1.0]}, {"~/commands": "warpdyn/commands"}), "walker.log"),
        (walker, "simulating"),
        (node, ros_arguments(told), "node.log"),
        (node, "ready:"),
        *([] if fails else [(node, "checked")]),
        (walker, "ended"),
        (node, "ended"),
        "shutdown",
    ]
    assert clients[0].closed == 1


@pytest.mark.parametrize("fell", [False, True])
def test_the_command_walks_a_course_of_any_length(fell, monkeypatch, capsys):
    """Its exit status says whether the robot fell. An error of a process is one line."""
    walked, domains = [], []
    found = SimpleNamespace(times=np.array([3.0, 13.5]), errors=(0.0625, 0.125), fell=fell)

    def walk(legs, policy, say):
        walked.append((legs, policy))
        say("hello")
        return found

    monkeypatch.setattr(module, "walk", walk)
    monkeypatch.setattr(module, "on_this_machine", domains.append)
    monkeypatch.setattr(
        "sys.argv", ["walking", "--seconds", "10", "--policy", "x", "--domain", "7"]
    )
    assert module.main() == fell and domains == [7]
    ((legs, policy),) = walked
    assert policy == "x" and [leg.seconds for leg in legs] == [2.0] * 5
    assert [leg[1:] for leg in legs] == [leg[1:] for leg in module.COURSE]
    end = "it FELL" if fell else "no fall"
    assert capsys.readouterr().out == (
        f"  hello\n  10.5 s, {end}; mean errors 0.062 m/s, 0.125 rad/s\n"
    )

    def stop(*given, **options):
        raise module.ProcessError("the node ended by itself")

    monkeypatch.setattr(module, "walk", stop)
    monkeypatch.setattr("sys.argv", ["walking"])
    monkeypatch.setattr(module.os, "getpid", lambda: 205)
    assert module.main() == 2 and domains == [7, 6]
    assert capsys.readouterr().err == "the demo stopped: the node ended by itself\n"


def test_the_course_has_legs_in_all_directions():
    """Forward, in a curve to the left, sideways to the left, backward, and standing, 4 s each."""
    signs = [tuple(np.sign(leg[1:])) for leg in module.COURSE]
    assert signs == [(1, 0, 0), (1, 0, 1), (0, 1, 0), (-1, 0, 0), (0, 0, 0)]
    assert {leg.seconds for leg in module.COURSE} == {4}


def test_a_command_has_settled_after_1_5_s():
    """Speeds are means over half a second, which has two states here."""
    times = 0.25 * np.arange(33)
    told = np.zeros((33, 3))
    told[16:, 0] = 0.5
    for late, counts in ((5.25, False), (5.5, True), (1.25, False), (1.5, True)):
        speed = np.zeros((33, 6))
        speed[:, 0] = told[:, 0]
        speed[times == late, 0] += 0.5
        place = np.tile([0.0, 0.0, 0.3, 0.0, 0.0, 0.0, 1.0], (33, 1))
        found, turning = Walk(times, place, speed, told, {}).errors
        assert turning == 0.0 and (found > 0.0) == counts
