"""A robot in the browser, which follows its joint_states and shows its gravity torques.

ros2 launch warpdyn view.launch.py
ros2 launch warpdyn view.launch.py robot:=panda bag:=recording.mcap
"""

from launch import LaunchDescription
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

from ros2_node.ros.launch_parts import TRUTH, declare_arguments, require_package, value

ARGUMENTS = (
    ("robot", "", str, "bundled robot, or URDF or xacro file; empty: the topic robot_description"),
    (
        "floating_base",
        "false",
        bool,
        "the robot's base is free, and odom has its pose: true or false",
    ),
    ("torques", "true", bool, "draw the gravity torques of the joints: true or false"),
    ("bag", "", str, "recording to play with a time bar; empty: follow joint_states"),
    ("topic", "/joint_states", str, "topic of the bag's joint states"),
    ("rate", "60.0", float, "highest update rate of the page [Hz]"),
    ("host", "127.0.0.1", str, "address of the page; 0.0.0.0 makes it visible to other machines"),
    ("port", "8080", int, "port of the page; 0: any free port"),
)
TOPICS = (
    ("namespace", "", "namespace of the topics that are read"),
    ("joint_states", "joint_states", "topic that the state comes from"),
)


def generate_launch_description():
    arguments = [
        *(
            (name, default, text, TRUTH if kind is bool else ())
            for name, default, kind, text in ARGUMENTS
        ),
        *TOPICS,
    ]
    view = Node(
        package="warpdyn",
        executable="warpdyn_view",
        name="warpdyn_view",
        namespace=LaunchConfiguration("namespace"),
        parameters=[{name: value(name, kind) for name, _, kind, _ in ARGUMENTS}],
        remappings=[("joint_states", LaunchConfiguration("joint_states"))],
        output="screen",
    )
    return LaunchDescription(
        [*declare_arguments(arguments), require_package("viser", "a view in the browser"), view]
    )
