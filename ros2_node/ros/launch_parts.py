"""What our launch files share: arguments, what becomes of them, and RViz where there is one.

For launch files alone: `launch` and `launch_ros` come with a ROS installation.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from ament_index_python import packages
from launch.actions import DeclareLaunchArgument, LogInfo, OpaqueFunction
from launch.conditions import IfCondition
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare

from .launch_arguments import parameter_file, parameters_given


def declared(arguments: Iterable[tuple[str, Any, str]]) -> list[DeclareLaunchArgument]:
    """A launch argument for each (name, default, description)."""
    return [
        DeclareLaunchArgument(name, default_value=default, description=description)
        for name, default, description in arguments
    ]


def value(name: str, kind: type) -> ParameterValue:
    """The argument `name` as a parameter of this type."""
    return ParameterValue(LaunchConfiguration(name), value_type=kind)


def packaged(*path: str) -> PathJoinSubstitution:
    """A file that is installed with the package."""
    return PathJoinSubstitution([FindPackageShare("warpdyn"), *path])


def over_a_file(config: str, parameters: Iterable[tuple[str, str]]) -> list[tuple[str, Any, str]]:
    """Arguments `params_file`, by default this one of config/, and one for each (parameter,
    description), which wins over it where it is given."""
    return [
        ("params_file", packaged("config", config), "YAML file with parameters of the node"),
        *((name, "", f"{text}; default: the parameter file's") for name, text in parameters),
    ]


def file_and_given(
    context: Any, parameters: Iterable[tuple[str, str]]
) -> tuple[str, dict[str, Any]]:
    """What the arguments of `over_a_file` come to: the path, and the parameters that are given."""
    file = parameter_file(LaunchConfiguration("params_file").perform(context))
    texts = {name: LaunchConfiguration(name).perform(context) for name, _ in parameters}
    return file, parameters_given(texts)


def rviz_argument() -> tuple[str, str, str]:
    """The argument `rviz`, which `rviz` reads."""
    display = any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))
    text = "start RViz; the default is whether there is a display"
    return "rviz", "true" if display else "false", text


def rviz(*arguments: str) -> OpaqueFunction:
    """RViz with the package's picture and these command line arguments, if the argument `rviz` is
    true; where it is not installed, a line that says so."""

    def start(context: Any) -> list[Any]:
        try:
            packages.get_package_prefix("rviz2")
        except packages.PackageNotFoundError:
            return [LogInfo(msg="rviz2 is not installed: all else goes on without a picture")]
        picture = packaged("rviz", "warpdyn.rviz")
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
