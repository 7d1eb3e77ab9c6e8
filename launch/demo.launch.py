"""Something to look at without a robot: a swinging arm, its torques and poses, and RViz where there is a display.

ros2 launch warpdyn demo.launch.py
ros2 topic echo /warpdyn/torques
"""

import os

from ament_index_python.packages import PackageNotFoundError, get_package_prefix
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, LogInfo, OpaqueFunction
from launch.conditions import IfCondition
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare

HAS_DISPLAY = any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))
ARGUMENTS = (
    ("robot", "panda", "bundled robot or URDF file"),
    ("rate", "100.0", "joint_states a second"),
    ("speed", "0.2", "swings a second of the fastest joint"),
    (
        "rviz",
        "true" if HAS_DISPLAY else "false",
        "start RViz; the default is whether there is a display",
    ),
)


def rviz(context):
    """RViz, or a line that it is not installed."""
    try:
        get_package_prefix("rviz2")
    except PackageNotFoundError:
        return [LogInfo(msg="rviz2 is not installed: all else goes on without a picture")]
    return [
        Node(
            package="rviz2",
            executable="rviz2",
            name="rviz2",
            arguments=[
                "-d",
                PathJoinSubstitution([FindPackageShare("warpdyn"), "rviz", "warpdyn.rviz"]),
            ],
            output="log",
        )
    ]


def generate_launch_description():
    declared = [
        DeclareLaunchArgument(name, default_value=default, description=description)
        for name, default, description in ARGUMENTS
    ]
    source = Node(
        package="warpdyn",
        executable="warpdyn_state_source",
        name="state_source",
        parameters=[
            {
                "robot": ParameterValue(LaunchConfiguration("robot"), value_type=str),
                "rate": ParameterValue(LaunchConfiguration("rate"), value_type=float),
                "speed": ParameterValue(LaunchConfiguration("speed"), value_type=float),
            }
        ],
        output="screen",
    )
    node = Node(
        package="warpdyn",
        executable="warpdyn_node",
        name="warpdyn",
        parameters=[{"publish_tf": True, "publish_frequency": 50.0}],
        output="screen",
    )
    picture = OpaqueFunction(function=rviz, condition=IfCondition(LaunchConfiguration("rviz")))
    return LaunchDescription([*declared, source, node, picture])
