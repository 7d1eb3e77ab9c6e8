"""`warpdyn_node` whose loop breaks on SIGUSR1. BREAKS_BY selects an exception from `spin_once` or
`rclpy.shutdown()` in another thread."""

from __future__ import annotations

import os
import signal
import sys
import threading

import rclpy
from rclpy.executors import SingleThreadedExecutor

from ros2_node.node import main

ENDS = os.environ["BREAKS_BY"]
asked: list[int] = []
spin_once = SingleThreadedExecutor.spin_once


def break_off(number, frame):
    asked.append(number)
    if ENDS == "shutdown":
        threading.Thread(target=rclpy.shutdown).start()


def breaking(self, timeout_sec=None):
    if asked and ENDS == "exception":
        raise RuntimeError("the wait set is broken")
    spin_once(self, timeout_sec)


signal.signal(signal.SIGUSR1, break_off)
SingleThreadedExecutor.spin_once = breaking
sys.exit(main())
