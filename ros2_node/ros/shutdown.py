"""The end of the node: the signals that ask for it, and the last commands."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Sequence

from rclpy.duration import Duration
from rclpy.impl.rcutils_logger import RcutilsLogger
from rclpy.node import Node

from ..control.commands.torque_output import STOP_PERIOD
from ..control.fleet import Fleet
from .topics import TorqueTopics

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
"""Signals that ask the node to end: SIGHUP is a closed terminal or a dropped ssh, SIGQUIT Ctrl-\\."""
ACKNOWLEDGE = Duration(nanoseconds=200_000_000)
"""Longest time for the last commands to be acknowledged."""


def ending_signals() -> Callable[[], bool]:
    """Catch the signals of ENDING from now on. Returns a function that returns True once a signal
    has arrived. If SIGHUP is ignored, as under nohup, it stays ignored."""
    received: list[int] = []
    for number in ENDING:
        if number != signal.SIGHUP or signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, lambda number, frame: received.append(number))
    return lambda: bool(received)


def track_twice(node: Node) -> None:
    """Let `rclpy.shutdown()` destroy this node, whatever other nodes the process has.

    The context destroys the nodes on its list, and each removes itself from the list meanwhile. So
    the context skips every node that follows a destroyed one. Of two entries it reaches one.
    """
    node.context.track_node(node)


def stop_robots(fleet: Fleet, topics: Sequence[TorqueTopics], log: RcutilsLogger) -> None:
    """Send the stop sequence of every enabled robot, and wait until it is acknowledged, before the context
    ends. If the commands of one robot cannot be sent, those of the others are."""
    fleet.stop(time.monotonic())
    pairs = [(r, t) for r, t in zip(fleet.robots, topics, strict=True) if not r.idle]
    unsent: dict[TorqueTopics, str] = {}
    while not fleet.idle:
        for robot, sender in pairs:
            command = robot.stop_step(time.monotonic())
            try:
                if command is not None:
                    sender.send_command(command)
            except Exception as error:  # the publisher is destroyed, or the context is shut down
                unsent[sender] = str(error)
        time.sleep(STOP_PERIOD)
    for _, sender in pairs:
        try:
            sender.commands.wait_for_all_acked(ACKNOWLEDGE)
        except Exception as error:
            unsent.setdefault(sender, str(error))
    for sender, why in unsent.items():
        log.fatal(
            f"the stop sequence could not be sent on {sender.commands_topic}: {why}; "
            "the controller keeps the last torque"
        )
