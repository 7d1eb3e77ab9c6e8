"""A DDS domain of one test process, on the loopback interface."""

from __future__ import annotations

import os
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
LOGS = tempfile.TemporaryDirectory(prefix="warpdyn_ros_")


def loopback_environment(domain: int, logs: str) -> dict[str, str]:
    """Variables that limit DDS to this machine and separate it from other tests."""
    path = os.pathsep.join(p for p in (str(ROOT), os.environ.get("PYTHONPATH", "")) if p)
    return {
        "ROS_DOMAIN_ID": str(domain),
        "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST",
        "FASTDDS_DEFAULT_PROFILES_FILE": str(Path(__file__).with_name("loopback_udp.xml")),
        "ROS_LOG_DIR": logs,
        "PYTHONPATH": path,
    }


@cache
def own_domain() -> tuple[int, socket.socket]:
    """A ROS_DOMAIN_ID that no other test process on this machine uses, and its lock: a port of the
    domain's range that DDS does not use."""
    for number in range(100):
        domain = 1 + (os.getpid() + number) % 100
        keeper = socket.socket(type=socket.SOCK_DGRAM)
        try:
            keeper.bind(("127.0.0.1", 7400 + 250 * domain + 9))
        except OSError:
            keeper.close()
        else:
            return domain, keeper
    raise RuntimeError("all ROS domains of this machine are in use")


def stay_on_this_machine() -> None:
    """Set these variables for this process and its children. Call it before rclpy starts."""
    os.environ.update(loopback_environment(own_domain()[0], LOGS.name))


@contextmanager
def ros_context() -> Iterator[Any]:
    """A context of rclpy in addition to the default one."""
    import rclpy

    context = rclpy.Context()
    rclpy.init(context=context)
    yield context
    context.try_shutdown()
