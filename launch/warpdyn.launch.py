"""The node alone, with a parameter file and the arguments that change most often.

ros2 launch warpdyn warpdyn.launch.py robot_description_file:=/path/to/robot.urdf

Arguments override the parameter file. The file's values apply for all others.
"""

from launch import LaunchDescription
from launch.actions import OpaqueFunction
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

from ros2_node.ros.launch_parts import TRUTH, declare_arguments, file_and_given, over_a_file

PARAMETERS = (
    (
        "robot_description_file",
        "URDF or xacro file, or bundled robot; if it is set nowhere: the topic robot_description",
    ),
    ("mode", "gravity, inverse_dynamics or computed_torque"),
    (
        "law",
        "joint_impedance, cartesian_impedance, admittance, teaching, or a kernel of your own, in place of mode",
    ),
    ("law_options", "options of the law: [frame=tool0]"),
    (
        "policy",
        "ONNX file of a trained policy, or the name of one that comes with warpdyn, in place of mode",
    ),
    ("device", "where kernels run: cpu, cuda:0, ..."),
    ("joints", "joints read from joint_states: [joint1, joint2]"),
    ("command_joints", "order of the commands, as in the controller's own list: [joint1, joint2]"),
    ("command_type", "message of the commands: float64_multi_array or joint_command"),
    ("command_controller", "node of the controller, whose order of joints ~/enable checks"),
    ("realtime", "ask for SCHED_FIFO and locked memory: true or false"),
    ("torque_scale", "factor on the torques, 0 to 1.5, or one for each of command_joints: [1, 0]"),
    ("start_enabled", "send commands without a call to ~/enable: true or false"),
    ("publish_tf", "publish /tf; leave it to robot_state_publisher where that runs"),
    ("use_sim_time", "take the time from /clock: true or false"),
)
LEVELS = ("debug", "info", "warn", "error", "fatal")
ARGUMENTS = (
    ("namespace", "", "namespace of the node and of the topics it reads"),
    ("joint_states", "joint_states", "topic that the state comes from"),
    ("commands", "~/commands", "topic that the commands go to"),
    (
        "lifecycle",
        "false",
        "the managed form of the node, for ros2 lifecycle: true or false",
        TRUTH,
    ),
    ("log_level", "info", "lowest severity of the messages that are logged", LEVELS),
    *over_a_file("warpdyn.yaml", PARAMETERS),
)


def node(context):
    file, given = file_and_given(context, PARAMETERS)
    managed = LaunchConfiguration("lifecycle").perform(context).lower() == "true"
    return [
        Node(
            package="warpdyn",
            executable="warpdyn_lifecycle_node" if managed else "warpdyn_node",
            name="warpdyn",
            namespace=LaunchConfiguration("namespace"),
            parameters=[file, *([given] if given else [])],
            remappings=[
                ("joint_states", LaunchConfiguration("joint_states")),
                ("~/commands", LaunchConfiguration("commands")),
            ],
            ros_arguments=["--log-level", LaunchConfiguration("log_level")],
            output="screen",
        )
    ]


def generate_launch_description():
    return LaunchDescription([*declare_arguments(ARGUMENTS), OpaqueFunction(function=node)])
