"""A simulated quadruped that walks by a trained policy at the speed on cmd_vel.

ros2 launch warpdyn walk.launch.py
ros2 topic pub -r 10 /cmd_vel geometry_msgs/msg/Twist "{linear: {x: 0.5}, angular: {z: 0.3}}"
ros2 run teleop_twist_keyboard teleop_twist_keyboard
"""

from launch import LaunchDescription

from ros2_node.ros.launch_parts import (
    declare_arguments,
    require_package,
    required_node,
    rviz,
    rviz_argument,
    value,
)

ARGUMENTS = (
    ("robot", "quadruped", "bundled robot or URDF file, with a free base"),
    (
        "policy",
        "quadruped_velocity",
        "ONNX file of a policy, or the name of one that comes with warpdyn",
    ),
    ("policy_task", "", "the policy's task; empty: the one named in its file"),
    ("rate", "250.0", "joint_states and odom messages per second"),
    rviz_argument(),
)


def generate_launch_description():
    robot = required_node(
        "warpdyn_walker",
        name="walker",
        parameters=[
            {
                "robot": value("robot", str),
                "rate": value("rate", float),
            }
        ],
        remappings=[("~/commands", "warpdyn/commands")],
    )
    node = required_node(
        "warpdyn_node",
        name="warpdyn",
        parameters=[
            {
                "robot_description_file": value("robot", str),
                "policy": value("policy", str),
                "policy_task": value("policy_task", str),
                "start_enabled": True,
                "ramp_time": 0.5,
                "publish_tf": True,
                "use_sim_time": True,
            }
        ],
    )
    runtime = require_package("onnxruntime", "a policy")
    return LaunchDescription(
        [*declare_arguments(ARGUMENTS), runtime, robot, node, rviz("-f", "odom")]
    )
