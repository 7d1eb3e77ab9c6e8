"""From the start to the exit code; signals and stop sequences in processes are in tests/ros."""

from __future__ import annotations

import sys
import weakref
from types import SimpleNamespace

import pytest
import rclpy
from rclpy.executors import SingleThreadedExecutor

from ros2_node.ros import process
from ros2_node.ros.process import make_executor, spin


@pytest.fixture
def calls(monkeypatch):
    """What is called, in order, where rclpy and signals are."""
    calls = []
    monkeypatch.setattr(process, "tolerate_lost_output", lambda: calls.append("output"))
    monkeypatch.setattr(process, "ending_signals", lambda: lambda: False)
    monkeypatch.setattr(process.rclpy, "init", lambda **options: calls.append("init"))
    monkeypatch.setattr(process.rclpy, "try_shutdown", lambda: calls.append("shutdown"))
    monkeypatch.setattr(process, "make_executor", lambda node, kind: None)
    monkeypatch.setattr(process, "spin", lambda *arguments: calls.append("spin"))
    return calls


def node(calls, exit_code=None):
    return SimpleNamespace(
        settings=SimpleNamespace(executor="events"),
        exit_code=exit_code,
        stop=lambda: calls.append("stop"),
        destroy_node=lambda: calls.append("destroy"),
    )


@pytest.mark.parametrize("code", [None, process.BAD_START])
def test_robots_stop_before_the_context_goes(code, calls):
    assert process.run_process(lambda: node(calls, code)) == (code or 0)
    assert calls == ["output", "init", "spin", "stop", "destroy", "shutdown"]


def test_parameters_that_cannot_be_used_end_it_with_a_code(calls):
    def refuse():
        raise ValueError("rate must be a number")

    assert process.run_process(refuse) == process.BAD_START
    assert calls == ["output", "init", "shutdown"]


def test_what_was_half_made_is_gone_before_the_context(monkeypatch, calls):
    """Its callbacks refer to it, and the error's traceback has done."""
    made, alive = [], []

    class HalfMade:
        def __init__(self):
            self.callbacks = [self.stop]
            made.append(weakref.ref(self))
            raise ValueError("rate must be a number")

        def stop(self):
            """A callback."""

    def shutdown():
        alive.append(made[0]() is not None)

    monkeypatch.setattr(process.rclpy, "try_shutdown", shutdown)
    assert process.run_process(HalfMade) == process.BAD_START
    assert alive == [False]


def test_another_error_of_the_constructor_is_no_refusal():
    def broken():
        raise OSError("no such page")

    with pytest.raises(OSError, match="no such page"):
        process.make_node(broken, "node")
    assert process.make_node(broken, "node", (ValueError, OSError)) is None


@pytest.mark.parametrize("context_lives", [True, False])
def test_an_exception_of_the_loop_stops_the_robots_and_goes_on(context_lives, calls, monkeypatch):
    """Where the context is gone, that was its reason, and no error."""

    def broken(*arguments):
        raise RuntimeError("broken")

    monkeypatch.setattr(process, "spin", broken)
    monkeypatch.setattr(process.rclpy, "ok", lambda: context_lives)
    if context_lives:
        with pytest.raises(RuntimeError, match="broken"):
            process.run_process(lambda: node(calls))
    else:
        assert process.run_process(lambda: node(calls)) == 0
    assert calls[-3:] == ["stop", "destroy", "shutdown"]


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


@pytest.fixture
def context_is_up(monkeypatch):
    monkeypatch.setattr(process.rclpy, "ok", lambda: True)


def test_one_launch_serves_all_that_came_before_the_queue_was_empty(context_is_up):
    """While states wait, events are looked for without waiting."""
    node = Collector([0, 1, 1, 1, 0, 1, 0, 0])
    spin(node, node, lambda: not node.arrivals)
    assert node.batches == [3, 1]
    assert node.timeouts == [0.2, 0.2, 0.0, 0.0, 0.0, 0.2, 0.0, 0.2]


def test_it_ends_when_told_or_when_the_node_cannot_go_on(context_is_up):
    node = Collector([1, 1])
    spin(node, node, lambda: True)
    assert not node.timeouts
    node.exit_code = 2
    spin(node, node, lambda: False)
    assert not node.timeouts


@pytest.fixture
def spun(context):
    node = rclpy.create_node("spun", context=context)
    yield node
    node.destroy_node()


def test_events_is_the_experimental_one(spun):
    made = make_executor(spun, "events")
    assert type(made).__name__ == "EventsExecutor" and spun in made.get_nodes()
    made.shutdown()


def test_single_is_rclpys_default(spun):
    made = make_executor(spun, "single")
    assert type(made) is SingleThreadedExecutor and spun in made.get_nodes()
    made.shutdown()


def test_without_an_events_executor_single_takes_its_place(spun, monkeypatch):
    """And the log says what it costs."""
    monkeypatch.setitem(sys.modules, "rclpy.experimental", SimpleNamespace())
    said = []
    monkeypatch.setattr(spun, "get_logger", lambda: SimpleNamespace(warning=said.append))
    made = make_executor(spun, "events")
    assert type(made) is SingleThreadedExecutor and "executor single" in said[0]
    made.shutdown()
