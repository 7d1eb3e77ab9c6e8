"""Start of an installed command: without ROS 2, one line says what is missing."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module

ROS = ("rclpy", "rcl_interfaces", "builtin_interfaces", "mujoco")
"""Packages that a command may lack, in addition to messages and services."""


def run(main: Callable[[], int | None]) -> int:
    """Run `main`, which imports what it needs, and return its result."""
    try:
        return main() or 0
    except ImportError as error:
        package = (error.name or "").partition(".")[0]
        message = str(error)
        of_ros = package in ROS or package.endswith(("_msgs", "_srvs"))
        if of_ros and isinstance(error, ModuleNotFoundError):
            # Not optional_packages.install_extra: it loads warpdyn, and launch files import this
            # package.
            message = (
                f"this command needs {package}, which is not installed here: source a ROS 2 "
                "installation, or pip install '.[ros,rosdemo]' in warpdyn's folder"
            )
        elif "warpdyn[viewer]" not in message:
            raise
        print(message, file=sys.stderr)
        return 2


def command(module: str) -> Callable[[], int]:
    """The function of an installed command: it imports the module and runs its `main`."""
    return lambda: run(lambda: import_module(module).main())
