"""Torques of thousands of robots from one message: ~/batch/state in, ~/batch/torques out. With source:=true a
simulated source publishes the states.

ros2 launch warpdyn batch.launch.py robot_description_file:=panda source:=true robots:=4096

Arguments override the parameter file. The file's values apply for all others.
"""

from launch import LaunchDescription
from launch.actions import OpaqueFunction
from launch.conditions import IfCondition
from launch.substitutions import LaunchConfiguration

from ros2_node.ros.launch_parts import (
    TRUTH,
    declare_arguments,
    file_and_given,
    over_a_file,
    required_node,
    value,
)

PARAMETERS = (
    (
        "robot_description_file",
        "URDF or xacro file, or bundled robot; if it is set nowhere: the topic robot_description, "
        "on which the source publishes its own robot, a panda",
    ),
    ("mode", "gravity: g(q); inverse_dynamics: the bias force of q and v"),
    ("device", "where kernels run: cpu, cuda:0, ..."),
)
ARGUMENTS = (
    ("namespace", "", "namespace of the node"),
    ("source", "false", "also start a publisher of swinging robots", TRUTH),
    ("robots", "4096", "number of robots that the source moves"),
    ("rate", "100.0", "messages per second from the source"),
    *over_a_file("batch.yaml", PARAMETERS),
)


def nodes(context):
    file, given = file_and_given(context, PARAMETERS)
    node = required_node(
        "warpdyn_node",
        name="warpdyn",
        namespace=LaunchConfiguration("namespace"),
        parameters=[file, *([given] if given else [])],
    )
    source = required_node(
        "warpdyn_state_source",
        name="state_source",
        namespace=LaunchConfiguration("namespace"),
        parameters=[
            {
                "robot": given.get("robot_description_file", "panda"),
                "robots": value("robots", int),
                "rate": value("rate", float),
            }
        ],
        remappings=[("~/batch/state", "warpdyn/batch/state")],
        condition=IfCondition(LaunchConfiguration("source")),
    )
    return [node, source]


def generate_launch_description():
    return LaunchDescription([*declare_arguments(ARGUMENTS), OpaqueFunction(function=nodes)])
