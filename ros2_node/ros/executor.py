"""The loop that handles events: with several robots, one launch serves all states that have come
in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import rclpy
from rclpy.executors import Executor, SingleThreadedExecutor
from rclpy.node import Node


class Collecting(Protocol):
    """A node whose states wait until no event is left."""

    handled: int
    """Count of states that have come in."""
    exit_code: int | None
    """Set when the node cannot go on."""

    @property
    def pending(self) -> bool:
        """True if states wait for a launch."""

    def flush(self) -> None:
        """Compute for all states that wait."""


def make_executor(node: Node, kind: str) -> Executor:
    """The executor of parameter `executor`; single where this rclpy has no other."""
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
    """Handle events until told to stop."""
    while rclpy.ok() and not stopped() and node.exit_code is None:
        before, pending = node.handled, node.pending
        # While states wait, look for another event without waiting; when none came, compute.
        executor.spin_once(timeout_sec=0.0 if pending else 0.2)
        if pending and node.handled == before:
            node.flush()
