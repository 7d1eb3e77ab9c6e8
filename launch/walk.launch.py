"""A simulated quadruped that a trained policy makes walk: say where to on cmd_vel.

ros2 launch warpdyn walk.launch.py
ros2 topic pub -r 10 /cmd_vel geometry_msgs/msg/Twist "{linear: {x: 0.5}, angular: {z: 0.3}}"
ros2 run teleop_twist_keyboard teleop_twist_keyboard
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
    ("robot", "quadruped", "bundled robot or URDF file, with a free base"),
    ("policy", "quadruped_velocity", "ONNX file of a policy, or the name of a policy of warpdyn"),
    ("policy_task", "", "the policy's task; empty: the one that its file says"),
    ("rate", "250.0", "joint_states and odom a second"),
    (
        "rviz",
        "true" if HAS_DISPLAY else "false",
        "start RViz; the default is whether there is a display",
    ),
)


def text(name):
    return ParameterValue(LaunchConfiguration(name), value_type=str)


def rviz(context):
    """RViz, or a line that it is not installed."""
    try:
        get_package_prefix("rviz2")
    except PackageNotFoundError:
        return [LogInfo(msg="rviz2 is not installed: all else goes on without a picture")]
    picture = PathJoinSubstitution([FindPackageShare("warpdyn"), "rviz", "warpdyn.rviz"])
    return [
        Node(
            package="rviz2",
            executable="rviz2",
            name="rviz2",
            arguments=["-d", picture, "-f", "odom"],
            output="log",
        )
    ]


def generate_launch_description():
    declared = [
        DeclareLaunchArgument(name, default_value=default, description=description)
        for name, default, description in ARGUMENTS
    ]
    robot = Node(
        package="warpdyn",
        executable="warpdyn_walker",
        name="walker",
        parameters=[
            {
                "robot": text("robot"),
                "rate": ParameterValue(LaunchConfiguration("rate"), value_type=float),
            }
        ],
        remappings=[("~/commands", "warpdyn/commands")],
        output="screen",
    )
    node = Node(
        package="warpdyn",
        executable="warpdyn_node",
        name="warpdyn",
        parameters=[
            {
                "robot_description_file": text("robot"),
                "policy": text("policy"),
                "policy_task": text("policy_task"),
                "start_enabled": True,
                "ramp_time": 0.5,
                "publish_tf": True,
                "use_sim_time": True,
            }
        ],
        output="screen",
    )
    picture = OpaqueFunction(function=rviz, condition=IfCondition(LaunchConfiguration("rviz")))
    return LaunchDescription([*declared, robot, node, picture])
