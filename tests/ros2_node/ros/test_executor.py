"""The loop that handles events and computes for all that came."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest
import rclpy
from rclpy.executors import SingleThreadedExecutor

from ros2_node.ros import executor
from ros2_node.ros.executor import make_executor, spin


class Collector:
    """States come by a script: a number of arrivals for each call of the executor."""

    def __init__(self, arrivals):
        self.arrivals = list(arrivals)
        self.handled, self.exit_code = 0, None
        self.waiting, self.batches, self.timeouts = 0, [], []

    def spin_once(self, timeout_sec):
        self.timeouts.append(timeout_sec)
        new = self.arrivals.pop(0)
        self.handled += new
        self.waiting += new

    @property
    def pending(self):
        return self.waiting > 0

    def flush(self):
        self.batches.append(self.waiting)
        self.waiting = 0


@pytest.fixture(autouse=True)
def context_is_up(monkeypatch):
    monkeypatch.setattr(executor.rclpy, "ok", lambda: True)


def test_one_launch_serves_all_that_came_before_the_queue_was_empty():
    """While states wait, events are looked for without waiting."""
    node = Collector([0, 1, 1, 1, 0, 1, 0, 0])
    spin(node, node, lambda: not node.arrivals)
    assert node.batches == [3, 1]
    assert node.timeouts == [0.2, 0.2, 0.0, 0.0, 0.0, 0.2, 0.0, 0.2]


def test_it_ends_when_told_or_when_the_node_cannot_go_on():
    node = Collector([1, 1])
    spin(node, node, lambda: True)
    assert not node.timeouts
    node.exit_code = 2
    spin(node, node, lambda: False)
    assert not node.timeouts


@pytest.fixture
def node(context):
    node = rclpy.create_node("spun", context=context)
    yield node
    node.destroy_node()


def test_events_is_the_experimental_one(node):
    made = make_executor(node, "events")
    assert type(made).__name__ == "EventsExecutor" and node in made.get_nodes()
    made.shutdown()


def test_single_is_rclpys_default(node):
    made = make_executor(node, "single")
    assert type(made) is SingleThreadedExecutor and node in made.get_nodes()
    made.shutdown()


def test_without_an_events_executor_single_takes_its_place(node, monkeypatch):
    """And the log says what it costs."""
    monkeypatch.setitem(sys.modules, "rclpy.experimental", SimpleNamespace())
    said = []
    monkeypatch.setattr(node, "get_logger", lambda: SimpleNamespace(warning=said.append))
    made = make_executor(node, "events")
    assert type(made) is SingleThreadedExecutor and "executor single" in said[0]
    made.shutdown()
