"""Start of an installed command: without ROS 2, one line says what is missing."""

from __future__ import annotations

import sys
from collections.abc import Callable

ROS = ("rclpy", "rcl_interfaces", "builtin_interfaces", "mujoco")
"""Packages, beside messages and services, that a command may lack."""


def run(main: Callable[[], int | None]) -> int:
    """Run `main`, which imports what it needs, and return its result."""
    try:
        return main() or 0
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in ROS and not package.endswith(("_msgs", "_srvs")):
            raise
        # Not optional_packages.install_extra: it loads warpdyn, and launch files import this package.
        print(
            f"this command needs {package}, which is not installed here: source a ROS 2 "
            "installation, or pip install '.[ros,rosdemo]' in warpdyn's folder",
            file=sys.stderr,
        )
        return 2
