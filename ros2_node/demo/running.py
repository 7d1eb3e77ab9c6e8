"""A demo node as a process: its start, the signals that end it, and its end."""

from __future__ import annotations

import gc
import signal
import time
from collections.abc import Callable
from typing import Any

import rclpy
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

BAD_START = 2
"""Exit code when there is no such robot."""


class Rounds:
    """The executor of one demo node, until SIGINT or SIGTERM."""

    def __init__(self, node: Node, ended: Callable[[], bool]) -> None:
        self.executor = SingleThreadedExecutor()
        self.executor.add_node(node)
        self.ended = ended

    def rest(self, until: float, waiting: Callable[[], bool] = lambda: False) -> None:
        """Handle messages: once at least, and until this time of the steady clock [s], and as long
        as the node is waiting for one."""
        self.executor.spin_once(timeout_sec=0.0)
        while not self.ended() and ((left := until - time.monotonic()) > 0.0 or waiting()):
            self.executor.spin_once(timeout_sec=max(left, 0.0) or 0.01)


def run_demo_node(
    make: Callable[[], Any], play: Callable[[Any, Rounds], None], args: list[str] | None = None
) -> int:
    """Make the node and play with it until SIGINT or SIGTERM; returns the exit code. A ValueError
    of `make` is a line, and no traceback."""
    received: list[int] = []
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, frame: received.append(number))
    rclpy.init(args=args, signal_handler_options=SignalHandlerOptions.NO)
    try:
        node, refusal = _made(make)
        if node is None:
            # What was made of it goes while DDS is up: its callbacks hold it in a cycle, and entities
            # that outlive the context can block the interpreter's end.
            gc.collect()
            rclpy.logging.get_logger(make.__name__).fatal(refusal)
            return BAD_START
        try:
            play(node, Rounds(node, lambda: bool(received)))
        finally:
            node.destroy_node()
    except ExternalShutdownException:
        pass
    finally:
        rclpy.try_shutdown()
    return 0


def _made(make: Callable[[], Any]) -> tuple[Any, str]:
    """The node, or None and the text of the ValueError; the error itself, whose traceback holds the
    node half made, is forgotten."""
    try:
        return make(), ""
    except ValueError as error:
        return None, str(error)
