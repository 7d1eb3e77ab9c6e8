"""Thousands of robots in one message: ~/batch/state in, ~/batch/torques out, with a source of states if wanted.

ros2 launch warpdyn batch.launch.py robot_description_file:=panda source:=true robots:=4096
"""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument
from launch.conditions import IfCondition
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare

ARGUMENTS = (
    ("params_file", None, "YAML file with parameters of the node"),
    ("robot_description_file", "panda", "URDF file or bundled robot"),
    ("mode", "gravity", "gravity: g(q); inverse_dynamics: the bias force of q and v"),
    ("device", "cpu", "where kernels run: cpu, cuda:0, ..."),
    ("namespace", "", "namespace of the node"),
    ("source", "false", "start a publisher of swinging robots too"),
    ("robots", "4096", "how many robots the source moves"),
    ("rate", "100.0", "messages a second from the source"),
)


def generate_launch_description():
    default_file = PathJoinSubstitution([FindPackageShare("warpdyn"), "config", "batch.yaml"])
    declared = [
        DeclareLaunchArgument(
            name,
            default_value=default_file if default is None else default,
            description=description,
        )
        for name, default, description in ARGUMENTS
    ]
    node = Node(
        package="warpdyn",
        executable="warpdyn_node",
        name="warpdyn",
        namespace=LaunchConfiguration("namespace"),
        parameters=[
            LaunchConfiguration("params_file"),
            {
                name: ParameterValue(LaunchConfiguration(name), value_type=str)
                for name in ("robot_description_file", "mode", "device")
            },
        ],
        output="screen",
    )
    source = Node(
        package="warpdyn",
        executable="warpdyn_state_source",
        name="state_source",
        namespace=LaunchConfiguration("namespace"),
        parameters=[
            {
                "robot": ParameterValue(
                    LaunchConfiguration("robot_description_file"), value_type=str
                ),
                "robots": ParameterValue(LaunchConfiguration("robots"), value_type=int),
                "rate": ParameterValue(LaunchConfiguration("rate"), value_type=float),
            }
        ],
        remappings=[("~/batch/state", "warpdyn/batch/state")],
        condition=IfCondition(LaunchConfiguration("source")),
        output="screen",
    )
    return LaunchDescription([*declared, node, source])
