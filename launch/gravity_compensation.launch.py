"""Makes an arm float: the node in mode gravity, its commands to an effort controller of ros2_control.

    ros2 launch warpdyn gravity_compensation.launch.py controller:=effort_controller
    ros2 service call /warpdyn/enable std_srvs/srv/SetBool "{data: true}"

Read the safety section of docs/ros2.md first. An arm whose controller compensates gravity itself (Franka, KUKA FRI,
Kinova, UR) must not be given g(q) a second time.
"""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare

ARGUMENTS = (
    (
        "params_file",
        None,
        "YAML file with parameters; list command_joints there in the controller's order",
    ),
    (
        "robot_description_file",
        "",
        "URDF file or bundled robot; empty: the topic robot_description gives the model",
    ),
    (
        "controller",
        "effort_controller",
        "name of the forward command controller that takes the torques",
    ),
    ("namespace", "", "namespace of the node, of the controller and of joint_states"),
    (
        "torque_scale",
        "1.0",
        "factor on the torques, 0 to 1.5; begin with 0.8 on an arm that you do not know",
    ),
    ("ramp_time", "1.0", "seconds in which the torques rise after ~/enable"),
    ("stale_action", "ramp_down", "when joint_states stop: ramp_down, zero or hold"),
    ("start_enabled", "false", "send commands without a call of ~/enable"),
    ("use_sim_time", "false", "take the time from /clock"),
)


def generate_launch_description():
    default_file = PathJoinSubstitution(
        [FindPackageShare("warpdyn"), "config", "gravity_compensation.yaml"]
    )
    declared = [
        DeclareLaunchArgument(
            name,
            default_value=default_file if default is None else default,
            description=description,
        )
        for name, default, description in ARGUMENTS
    ]
    types = {
        "robot_description_file": str,
        "torque_scale": float,
        "ramp_time": float,
        "stale_action": str,
        "start_enabled": bool,
        "use_sim_time": bool,
    }
    node = Node(
        package="warpdyn",
        executable="warpdyn_node",
        name="warpdyn",
        namespace=LaunchConfiguration("namespace"),
        parameters=[
            LaunchConfiguration("params_file"),
            {
                name: ParameterValue(LaunchConfiguration(name), value_type=kind)
                for name, kind in types.items()
            },
            {"mode": "gravity"},
        ],
        remappings=[("~/commands", [LaunchConfiguration("controller"), "/commands"])],
        output="screen",
    )
    return LaunchDescription([*declared, node])
