"""Two simulated arms: a leader, which a hand moves, and a follower.

ros2 launch warpdyn teleoperation.launch.py
ros2 launch warpdyn teleoperation.launch.py feedback:=20.0
"""

from launch import LaunchDescription
from launch.conditions import IfCondition
from launch.substitutions import LaunchConfiguration

from ros2_node.demo.teleoperation_setup import follower, leader, plant
from ros2_node.ros.launch_parts import (
    TRUTH,
    declare_arguments,
    require_package,
    required_node,
    value,
)

ARGUMENTS = (
    ("feedback", "0.0", "stiffness with which the hand feels the follower [N·m/rad]"),
    ("friction", "1.0", "Coulomb friction of the simulated joints [N·m]"),
    ("rate", "250.0", "joint_states messages per second of each arm"),
    ("hand", "true", "simulate the hand; false: push with /leader/plant/push instead", TRUTH),
)


def arm(name, node):
    """A simulated arm and its node, in a namespace."""
    simulated = {**plant(), "rate": value("rate", float), "friction": value("friction", float)}
    return [
        required_node(
            "warpdyn_plant",
            name="plant",
            namespace=name,
            parameters=[simulated],
            remappings=[("~/commands", "warpdyn/commands")],
        ),
        required_node(
            "warpdyn_node",
            name="warpdyn",
            namespace=name,
            parameters=[node],
        ),
    ]


def generate_launch_description():
    led = {
        **leader(),
        "law_inputs.coupling": value("feedback", float),
        "friction.coulomb": value("friction", float),
    }
    between = required_node(
        "warpdyn_teleoperation",
        name="teleoperation",
        parameters=[{"feedback": True, "joints": follower()["joints"]}],
    )
    hand = required_node(
        "warpdyn_hand",
        name="hand",
        parameters=[{"command_joints": follower()["joints"]}],
        condition=IfCondition(LaunchConfiguration("hand")),
    )
    simulator = require_package("mujoco", "a simulated arm")
    arms = [*arm("leader", led), *arm("follower", follower())]
    return LaunchDescription([*declare_arguments(ARGUMENTS), simulator, *arms, between, hand])
