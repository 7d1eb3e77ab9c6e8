"""From the start to the exit code; signals and stop sequences in processes are in tests/ros."""

from __future__ import annotations

import weakref
from types import SimpleNamespace

import pytest

from ros2_node.ros import process


@pytest.fixture
def calls(monkeypatch):
    """What is called, in order, where rclpy and signals are."""
    calls = []
    monkeypatch.setattr(process, "tolerate_lost_output", lambda: calls.append("output"))
    monkeypatch.setattr(process, "told_to_end", lambda: lambda: False)
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
        process.made(broken, "node")
    assert process.made(broken, "node", (ValueError, OSError)) is None


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
