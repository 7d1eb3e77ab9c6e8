"""Start, signals and end of a demo node. tests/ros/test_faults_process.py tests bad robots."""

from __future__ import annotations

import os
import runpy
import signal
import sys
import time
from importlib import import_module

import pytest
import rclpy
from rclpy.executors import ExternalShutdownException

from ros2_node import demo
from ros2_node.demo import running
from ros2_node.demo.running import BAD_START, run_demo_node


@pytest.fixture
def calls(monkeypatch):
    """Signal handlers are restored afterwards, and rclpy is not started."""
    before = {n: signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM)}
    calls = []
    monkeypatch.setattr(rclpy, "init", lambda **options: calls.append("init"))
    monkeypatch.setattr(rclpy, "try_shutdown", lambda: calls.append("shutdown"))

    class Executor:
        def add_node(self, node):
            self.node = node

        def spin_once(self, timeout_sec):
            calls.append(timeout_sec)
            time.sleep(timeout_sec)

    monkeypatch.setattr(running, "SingleThreadedExecutor", Executor)
    yield calls
    for number, handler in before.items():
        signal.signal(number, handler)


class Demo:
    def __init__(self):
        self.rounds = 0

    def destroy_node(self):
        self.rounds = -1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_rounds_and_the_node_is_destroyed(number, calls):
    made = []

    def play(node, rounds):
        made.append(node)
        while not rounds.ended():
            node.rounds += 1
            rounds.rest(time.monotonic() + 0.001)
            if node.rounds == 3:
                os.kill(os.getpid(), number)

    assert run_demo_node(Demo, play) == 0
    assert made[0].rounds == -1 and calls[0] == "init" and calls[-1] == "shutdown"
    assert calls.count(0.0) == 3, "messages are handled in each round, however late it is"


def test_a_node_without_rounds_handles_messages_until_a_signal(calls, monkeypatch):
    def spin_once(executor, timeout_sec):
        executor.node.rounds += 1
        if executor.node.rounds == 3:
            os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr(running.SingleThreadedExecutor, "spin_once", spin_once)
    made = []
    assert run_demo_node(lambda: made.append(Demo()) or made[0]) == 0
    assert made[0].rounds == -1 and calls == ["init", "shutdown"]


def test_an_unknown_robot_gives_the_exit_code_of_a_bad_start(calls):
    def make():
        raise ValueError("nonsense: no such robot")

    assert run_demo_node(make, lambda node, rounds: None) == BAD_START
    assert calls == ["init", "shutdown"]


def test_a_shutdown_of_rclpy_ends_the_node(calls):
    """`rclpy.shutdown()` in another thread ends the rounds, and the node is destroyed."""
    made = []

    def play(node, rounds):
        made.append(node)
        raise ExternalShutdownException

    assert run_demo_node(Demo, play) == 0
    assert made[0].rounds == -1 and calls == ["init", "shutdown"]


MAINS = {
    "plant": ("Plant", "play"),
    "state_source": ("StateSource", None),
    "teleoperation": ("Teleoperation", None),
    "teleoperation_leader": ("Hand", None),
    "walker": ("Walker", "play"),
}


@pytest.mark.parametrize("name", MAINS)
def test_each_demo_node_has_a_command(name, monkeypatch):
    """It steps in rounds, or only handles messages. Its command returns its status."""
    module = import_module(f"ros2_node.demo.{name}")
    node, plays = MAINS[name]
    ran = []
    monkeypatch.setattr(
        module,
        "run_demo_node",
        lambda make, play=None, args=None: ran.append((make, play, args)) or 7,
    )
    wanted = (getattr(module, node), getattr(module, plays) if plays else None, ["a"])
    assert module.main(["a"]) == 7 and ran == [wanted]
    monkeypatch.setattr(module, "main", lambda: 3)
    assert getattr(demo, "run_hand" if node == "Hand" else f"run_{name}")() == 3


@pytest.mark.parametrize("name", MAINS)
def test_a_demo_node_as_a_module_ends_with_its_status(name, monkeypatch):
    monkeypatch.setattr("ros2_node.demo.running.run_demo_node", lambda *given, **options: 7)
    monkeypatch.delitem(sys.modules, f"ros2_node.demo.{name}", raising=False)
    with pytest.raises(SystemExit) as ended:
        runpy.run_module(f"ros2_node.demo.{name}", run_name="__main__")
    assert ended.value.code == 7


@pytest.mark.parametrize("name", ["walking", "teleoperating"])
def test_a_demo_as_a_module_reads_its_options(name, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", [name, "--help"])
    monkeypatch.delitem(sys.modules, f"ros2_node.demo.{name}", raising=False)
    with pytest.raises(SystemExit) as ended:
        runpy.run_module(f"ros2_node.demo.{name}", run_name="__main__")
    assert ended.value.code == 0 and "--domain" in capsys.readouterr().out
