"""The process from start to exit code.

Signals and stop sequences in processes are tested in tests/ros.
"""

from __future__ import annotations

import sys
import weakref
from types import SimpleNamespace

import pytest
import rclpy
from rclpy.exceptions import InvalidServiceNameException
from rclpy.executors import SingleThreadedExecutor

from ros2_node.ros import process
from ros2_node.ros.process import make_executor, spin


@pytest.fixture
def calls(monkeypatch):
    """Calls in order, with stand-ins for rclpy and signals."""
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
def test_robots_stop_before_the_context_shuts_down(code, calls):
    assert process.run_process(lambda: node(calls, code)) == (code or 0)
    assert calls == ["output", "init", "spin", "stop", "destroy", "shutdown"]


@pytest.mark.parametrize("chosen, wanted", [(None, "wait"), ("never", "background")])
def test_kernels_are_compiled_before_the_first_call_unless_the_environment_says_otherwise(
    chosen, wanted, calls, monkeypatch
):
    monkeypatch.setattr(process.config, "compile", "background")
    monkeypatch.delenv(process.COMPILE)
    if chosen:
        monkeypatch.setenv(process.COMPILE, chosen)
    process.run_process(lambda: node(calls))
    assert process.config.compile == wanted


def test_unusable_parameters_end_the_process_with_a_code(calls):
    def refuse():
        raise ValueError("rate must be a number")

    assert process.run_process(refuse) == process.BAD_START
    assert calls == ["output", "init", "shutdown"]


def test_a_name_that_ros_does_not_allow_is_a_reason():
    def refuse():
        raise InvalidServiceNameException("bad name/get_parameters", "a space", 3)

    assert process.make_node(refuse, "node") is None


def test_a_half_built_node_is_freed_before_the_context(monkeypatch, calls):
    """Its callbacks refer to it, and so did the error's traceback."""
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


def test_other_errors_of_the_constructor_are_not_hidden():
    def fail_to_construct():
        raise OSError("no such page")

    with pytest.raises(OSError, match="no such page"):
        process.make_node(fail_to_construct, "node")
    assert process.make_node(fail_to_construct, "node", (ValueError, OSError)) is None


@pytest.mark.parametrize("context_lives", [True, False])
def test_an_exception_of_the_loop_stops_the_robots_and_propagates(
    context_lives, calls, monkeypatch
):
    """If the context is gone, that was its reason, and it is no error."""

    def fail_to_spin(*arguments):
        raise RuntimeError("broken")

    monkeypatch.setattr(process, "spin", fail_to_spin)
    monkeypatch.setattr(process.rclpy, "ok", lambda: context_lives)
    if context_lives:
        with pytest.raises(RuntimeError, match="broken"):
            process.run_process(lambda: node(calls))
    else:
        assert process.run_process(lambda: node(calls)) == 0
    assert calls[-3:] == ["stop", "destroy", "shutdown"]


class Collector:
    """A node whose states arrive by a script: a number of arrivals for each call of the
    executor."""

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


def test_one_launch_computes_all_states_in_the_queue(context_is_up):
    """While states wait, the executor is called without a timeout."""
    node = Collector([0, 1, 1, 1, 0, 1, 0, 0])
    spin(node, node, lambda: not node.arrivals)
    assert node.batches == [3, 1]
    assert node.timeouts == [0.2, 0.2, 0.0, 0.0, 0.0, 0.2, 0.0, 0.2]


def test_the_loop_ends_on_request_or_with_the_nodes_exit_code(context_is_up):
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


def test_executor_events_is_the_experimental_one(spun):
    made = make_executor(spun, "events")
    assert type(made).__name__ == "EventsExecutor" and spun in made.get_nodes()
    made.shutdown()


def test_executor_single_is_rclpys_default(spun):
    made = make_executor(spun, "single")
    assert type(made) is SingleThreadedExecutor and spun in made.get_nodes()
    made.shutdown()


def test_executor_single_replaces_a_missing_events_executor(spun, monkeypatch):
    """The log says what this costs."""
    monkeypatch.setitem(sys.modules, "rclpy.experimental", SimpleNamespace())
    said = []
    monkeypatch.setattr(spun, "get_logger", lambda: SimpleNamespace(warning=said.append))
    made = make_executor(spun, "events")
    assert type(made) is SingleThreadedExecutor and "executor single" in said[0]
    made.shutdown()


def test_long_callbacks_can_ask_for_the_end(calls):
    one = node(calls)
    process.run(one, lambda: True)
    assert one.ending()
