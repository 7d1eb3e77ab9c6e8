"""Gravity compensation, which makes an arm float: the node in mode gravity commands an effort controller of
ros2_control.

    ros2 launch warpdyn gravity_compensation.launch.py controller:=effort_controller
    ros2 service call /warpdyn/enable std_srvs/srv/SetBool "{data: true}"

Arguments override the parameter file. The file's values apply for all others.

Read docs/ros2_safety.md first. An arm whose controller compensates gravity itself (Franka, KUKA FRI,
Kinova, UR) must not be given g(q) a second time.
"""

from launch import LaunchDescription
from launch.actions import OpaqueFunction
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

from ros2_node.ros.launch_parts import declare_arguments, file_and_given, over_a_file

PARAMETERS = (
    (
        "robot_description_file",
        "URDF or xacro file, or bundled robot; if it is set nowhere: the topic robot_description",
    ),
    ("joints", "joints read from joint_states: [joint1, joint2]"),
    ("command_joints", "the controller's own list of joints, in its order: [joint1, joint2]"),
    (
        "command_controller",
        "node whose joint order ~/enable checks; usually the name of the controller",
    ),
    (
        "torque_scale",
        "factor on the torques, 0 to 1.5, or one for each of command_joints: [1, 1, 0]; "
        "start with 0.8 on an arm that you do not know",
    ),
    ("ramp_time", "time in which the torques rise after ~/enable [s]"),
    ("stale_action", "what to do when joint_states stop: ramp_down, zero or hold"),
    ("start_enabled", "send commands without a call to ~/enable: true or false"),
    ("use_sim_time", "take the time from /clock: true or false"),
)
ARGUMENTS = (
    (
        "controller",
        "effort_controller",
        "name of the forward command controller that takes the torques",
    ),
    ("namespace", "", "namespace of the node, of the controller and of joint_states"),
    *over_a_file("gravity_compensation.yaml", PARAMETERS),
)


def node(context):
    file, given = file_and_given(context, PARAMETERS)
    return [
        Node(
            package="warpdyn",
            executable="warpdyn_node",
            name="warpdyn",
            namespace=LaunchConfiguration("namespace"),
            parameters=[file, {**given, "mode": "gravity"}],
            remappings=[("~/commands", [LaunchConfiguration("controller"), "/commands"])],
            output="screen",
        )
    ]


def generate_launch_description():
    return LaunchDescription([*declare_arguments(ARGUMENTS), OpaqueFunction(function=node)])
