"""The loop that handles events: with several robots, one launch serves all states that have
arrived."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import rclpy
from rclpy.executors import Executor, SingleThreadedExecutor
from rclpy.node import Node


class Collecting(Protocol):
    """A node whose states wait until no event is left."""

    handled: int
    """Number of received states."""
    exit_code: int | None
    """Set when the node cannot continue."""

    @property
    def pending(self) -> bool:
        """True if states wait for a launch."""

    def flush(self) -> None:
        """Compute for all waiting states."""


def make_executor(node: Node, kind: str) -> Executor:
    """The executor of parameter `executor`; a single-threaded one if this rclpy has no other."""
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
    """Handle events until the node is to stop."""
    while rclpy.ok() and not stopped() and node.exit_code is None:
        before, pending = node.handled, node.pending
        # While states wait, check for another event without waiting; if none arrived, compute.
        executor.spin_once(timeout_sec=0.0 if pending else 0.2)
        if pending and node.handled == before:
            node.flush()
