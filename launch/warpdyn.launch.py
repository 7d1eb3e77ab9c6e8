"""The node alone, with a parameter file and the arguments that change most often.

ros2 launch warpdyn warpdyn.launch.py robot_description_file:=/path/to/robot.urdf
"""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare

ARGUMENTS = (
    ("params_file", None, "YAML file with parameters of the node; the arguments below win over it"),
    (
        "robot_description_file",
        "",
        "URDF file or bundled robot; empty: the topic robot_description gives the model",
    ),
    ("mode", "gravity", "gravity, inverse_dynamics or computed_torque"),
    ("device", "cpu", "where kernels run: cpu, cuda:0, ..."),
    ("namespace", "", "namespace of the node and of the topics it reads"),
    ("joint_states", "joint_states", "topic that the state comes from"),
    ("commands", "~/commands", "topic that the commands go to"),
    ("start_enabled", "false", "send commands without a call of ~/enable"),
    ("publish_tf", "false", "publish /tf; leave it to robot_state_publisher where that runs"),
    ("use_sim_time", "false", "take the time from /clock"),
    ("log_level", "info", "debug, info, warn, error or fatal"),
)


def generate_launch_description():
    default_file = PathJoinSubstitution([FindPackageShare("warpdyn"), "config", "warpdyn.yaml"])
    declared = [
        DeclareLaunchArgument(
            name,
            default_value=default_file if default is None else default,
            description=description,
        )
        for name, default, description in ARGUMENTS
    ]
    texts = ("robot_description_file", "mode", "device")
    switches = ("start_enabled", "publish_tf", "use_sim_time")
    node = Node(
        package="warpdyn",
        executable="warpdyn_node",
        name="warpdyn",
        namespace=LaunchConfiguration("namespace"),
        parameters=[
            LaunchConfiguration("params_file"),
            {name: ParameterValue(LaunchConfiguration(name), value_type=str) for name in texts}
            | {
                name: ParameterValue(LaunchConfiguration(name), value_type=bool)
                for name in switches
            },
        ],
        remappings=[
            ("joint_states", LaunchConfiguration("joint_states")),
            ("~/commands", LaunchConfiguration("commands")),
        ],
        arguments=["--ros-args", "--log-level", LaunchConfiguration("log_level")],
        output="screen",
    )
    return LaunchDescription([*declared, node])
