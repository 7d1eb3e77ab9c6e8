"""Process of a demo node: its start, the signals that end it, and its end."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from typing import Any

import rclpy
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

from ..ros.process import BAD_START, make_node


class Rounds:
    """Executor of one demo node, until SIGINT or SIGTERM."""

    def __init__(self, node: Node, ended: Callable[[], bool]) -> None:
        self.executor = SingleThreadedExecutor()
        self.executor.add_node(node)
        self.ended = ended

    def rest(self, until: float, waiting: Callable[[], bool] = lambda: False) -> None:
        """Handle messages: at least once, until this time of the steady clock [s], and as long as
        the node waits for a message."""
        self.executor.spin_once(timeout_sec=0.0)
        while not self.ended() and ((left := until - time.monotonic()) > 0.0 or waiting()):
            self.executor.spin_once(timeout_sec=max(left, 0.0) or 0.01)


def listen(node: Node, rounds: Rounds) -> None:
    """Handle messages and timers until the node is to end."""
    while not rounds.ended():
        rounds.executor.spin_once(timeout_sec=0.2)


def run_demo_node(
    make: Callable[[], Any],
    play: Callable[[Any, Rounds], None] = listen,
    args: list[str] | None = None,
) -> int:
    """Make the node and run `play` until SIGINT or SIGTERM; returns the exit code. A ValueError of
    `make` is printed as one line without a traceback."""
    received: list[int] = []
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, frame: received.append(number))
    rclpy.init(args=args, signal_handler_options=SignalHandlerOptions.NO)
    node: Any = None
    try:
        node = make_node(make, make.__name__)
        if node is None:
            return BAD_START
        play(node, Rounds(node, lambda: bool(received)))
    except ExternalShutdownException:
        pass
    finally:
        if node is not None:
            node.destroy_node()
        rclpy.try_shutdown()
    return 0
