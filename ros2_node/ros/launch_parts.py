"""Common parts of our launch files: arguments, parameters made from them, and RViz if it is
installed.

Only for launch files: `launch` and `launch_ros` come with a ROS installation.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from importlib.util import find_spec
from typing import Any

from ament_index_python import packages
from launch.actions import DeclareLaunchArgument, LogInfo, OpaqueFunction, Shutdown
from launch.conditions import IfCondition
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare

from .launch_arguments import TRUTH, choices, parameter_file, parameters_given


def declare_arguments(arguments: Iterable[tuple[Any, ...]]) -> list[DeclareLaunchArgument]:
    """A launch argument for each (name, default, description), or (..., choices) for a fixed set of
    values; launch then rejects other values, and lists the set."""
    return [
        DeclareLaunchArgument(
            name, default_value=default, description=text, choices=list(*allowed) or None
        )
        for name, default, text, *allowed in arguments
    ]


def require_package(package: str, purpose: str) -> OpaqueFunction:
    """First action of a launch description: it ends the launch with a message if a Python package
    is missing for which rosdep has no key, or none for every platform."""

    def check(context: Any) -> None:
        if find_spec(package) is None:
            raise RuntimeError(
                f"{purpose} needs the Python package {package}, which is not installed: "
                f"pip install {package}"
            )

    return OpaqueFunction(function=check)


def required_node(executable: str, **options: Any) -> Node:
    """A node of this package that the launch file needs; the launch ends with it."""
    return Node(
        package="warpdyn",
        executable=executable,
        output="screen",
        on_exit=Shutdown(reason=f"{executable} has ended, and the rest needs it"),
        **options,
    )


def value(name: str, kind: type) -> ParameterValue:
    """The argument `name` as a parameter of this type."""
    return ParameterValue(LaunchConfiguration(name), value_type=kind)


def package_file(*path: str) -> PathJoinSubstitution:
    """A file that is installed with the package."""
    return PathJoinSubstitution([FindPackageShare("warpdyn"), *path])


def over_a_file(config: str, parameters: Iterable[tuple[str, str]]) -> list[tuple[Any, ...]]:
    """Arguments `params_file`, by default this file of config/, and one for each (parameter,
    description), which takes precedence over the file if it is set."""
    return [
        (
            "params_file",
            package_file("config", config),
            "YAML file with parameters of the node",
            (),
        ),
        *(
            (name, "", f"{text}; default: the parameter file's", choices(name))
            for name, text in parameters
        ),
    ]


def file_and_given(
    context: Any, parameters: Iterable[tuple[str, str]]
) -> tuple[str, dict[str, Any]]:
    """Values of the arguments of `over_a_file`: the path, and the parameters that are set."""
    file = parameter_file(LaunchConfiguration("params_file").perform(context))
    texts = {name: LaunchConfiguration(name).perform(context) for name, _ in parameters}
    return file, parameters_given(texts)


def rviz_argument() -> tuple[str, str, str, tuple[str, ...]]:
    """The argument `rviz`, which `rviz` reads."""
    display = any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))
    text = "start RViz; the default is whether there is a display"
    return "rviz", "true" if display else "false", text, TRUTH


def rviz(*arguments: str) -> OpaqueFunction:
    """RViz with the package's configuration and these command line arguments, if the argument
    `rviz` is true; a message if it is not installed."""

    def start(context: Any) -> list[Any]:
        try:
            packages.get_package_prefix("rviz2")
        except packages.PackageNotFoundError:
            return [LogInfo(msg="rviz2 is not installed: the launch continues without it")]
        picture = package_file("rviz", "warpdyn.rviz")
        return [
            Node(
                package="rviz2",
                executable="rviz2",
                name="rviz2",
                arguments=["-d", picture, *arguments],
                output="log",
            )
        ]

    return OpaqueFunction(function=start, condition=IfCondition(LaunchConfiguration("rviz")))
