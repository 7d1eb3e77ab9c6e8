"""The node as a process: from the first signal handler to the last command."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable
from typing import Protocol, TypeVar, cast

import rclpy
from rclpy.exceptions import NameValidationException
from rclpy.executors import Executor, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

from warpdyn.execution.compile.compiler_process import IN_CHILD
from warpdyn.execution.config import COMPILE, config

from ..control.settings.node_settings import Settings
from .shutdown import ending_signals
from .streams import tolerate_lost_output


class Collecting(Protocol):
    """A node that collects states until no event is left."""

    handled: int
    """Number of states received."""
    exit_code: int | None
    """Set if the node cannot continue."""

    @property
    def pending(self) -> bool:
        """True if states are waiting for a launch."""

    def flush(self) -> None:
        """Compute the torques of all waiting states."""


def make_executor(node: Node, kind: str) -> Executor:
    """The executor of the parameter `executor`; "single" if this rclpy has no EventsExecutor."""
    executor: Executor | None = None
    if kind == "events":
        try:
            from rclpy.experimental import EventsExecutor

            executor = EventsExecutor(context=node.context)
        except ImportError:
            node.get_logger().warning(
                "this rclpy has no EventsExecutor: executor single, at twice the CPU time"
            )
    executor = executor or SingleThreadedExecutor(context=node.context)
    executor.add_node(node)
    return executor


def spin(node: Collecting, executor: Executor, stopped: Callable[[], bool]) -> None:
    """Handle events until told to stop; with several robots, one launch serves all states that have
    come in."""
    while rclpy.ok() and not stopped() and node.exit_code is None:
        before, pending = node.handled, node.pending
        # While states are waiting, look for another event without blocking; if there is none,
        # compute.
        executor.spin_once(timeout_sec=0.0 if pending else 0.2)
        if pending and node.handled == before:
            node.flush()


BAD_START = 2
"""Exit code if parameters, device or the first model cannot be used."""


N = TypeVar("N")


class Stoppable(Collecting, Protocol):
    """A node whose robots can be stopped."""

    ending: Callable[[], bool]
    """True once a signal has asked for the end; long callbacks then give up."""

    @property
    def settings(self) -> Settings:
        """The current parameters."""

    def stop(self) -> None:
        """Run the stop sequence of every enabled robot."""

    def destroy_node(self) -> None:
        """Stop, and release everything."""


def make_node(
    make: Callable[[], N], name: str, refusals: tuple[type[Exception], ...] = (ValueError,)
) -> N | None:
    """The node, or None if its constructor raises one of `refusals` or finds a name that ROS does
    not allow: the reason is logged under `name`, and incomplete objects are released."""
    refused: tuple[type[Exception], ...] = (*refusals, NameValidationException)
    try:
        return make()
    except refused as error:
        reason = str(error)
    # Without the traceback, only cycles of its callbacks hold the incomplete node. At the
    # interpreter's end, its publishers and services could keep the process from ending.
    gc.collect()
    rclpy.logging.get_logger(name).fatal(reason)
    return None


def run(node: Stoppable, stopped: Callable[[], bool]) -> int:
    """Handle events until the node is told to stop. The robots are stopped however this ends.
    Returns the exit code."""
    node.ending = stopped
    try:
        spin(node, make_executor(cast(Node, node), node.settings.executor), stopped)
    finally:
        node.stop()
    return node.exit_code or 0


def run_process(make: Callable[[], Stoppable], args: list[str] | None = None) -> int:
    """Run until a signal of `ending.ENDING`; the robots are stopped before the context ends."""
    tolerate_lost_output()
    # A full disk during compilation must not end a process that commands torques.
    os.environ.setdefault(IN_CHILD, "1")
    # A robot's torques come from compiled kernels, and no compiler runs while it moves.
    if COMPILE not in os.environ:
        config.compile = "wait"
    stopped = ending_signals()
    rclpy.init(args=args, signal_handler_options=SignalHandlerOptions.NO)
    node: Stoppable | None = None
    try:
        node = make_node(make, "warpdyn")
        return BAD_START if node is None else run(node, stopped)
    except Exception:
        if rclpy.ok():
            raise
        return 0  # the context was shut down during the loop, whatever error came first
    finally:
        if node is not None:
            node.destroy_node()
        rclpy.try_shutdown()
