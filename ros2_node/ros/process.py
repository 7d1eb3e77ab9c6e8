"""The node as a process: from the first signal handler to the last command."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, cast

import rclpy
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

from ..control.settings import Settings
from .ending import told_to_end
from .executor import Collecting, make_executor, spin
from .streams import tolerate_lost_output

BAD_START = 2
"""Exit code when parameters, device or the first model cannot be used."""


class Stoppable(Collecting, Protocol):
    """A node whose robots can be stopped."""

    @property
    def settings(self) -> Settings:
        """The present parameters."""

    def stop(self) -> None:
        """The stop sequence of every enabled robot."""

    def destroy_node(self) -> None:
        """Stop, and give everything back."""


def run(node: Stoppable, stopped: Callable[[], bool]) -> int:
    """Handle events until told to stop; the robots are stopped however that ends. Returns the
    exit code."""
    try:
        spin(node, make_executor(cast(Node, node), node.settings.executor), stopped)
    finally:
        node.stop()
    return node.exit_code or 0


def run_process(make: Callable[[], Stoppable], args: list[str] | None = None) -> int:
    """Run until a signal of `ending.ENDING`; the robots are stopped before the context goes."""
    tolerate_lost_output()
    stopped = told_to_end()
    rclpy.init(args=args, signal_handler_options=SignalHandlerOptions.NO)
    node: Stoppable | None = None
    try:
        try:
            node = make()
        except ValueError as error:
            rclpy.logging.get_logger("warpdyn").fatal(str(error))
            return BAD_START
        return run(node, stopped)
    except Exception:
        if rclpy.ok():
            raise
        return 0  # the context was shut down under the loop, whatever that met first
    finally:
        if node is not None:
            node.destroy_node()
        rclpy.try_shutdown()
