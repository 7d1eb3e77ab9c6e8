"""Thousands of robots in one message: ~/batch/state in, ~/batch/torques out, with a source of states if wanted.

ros2 launch warpdyn batch.launch.py robot_description_file:=panda source:=true robots:=4096

An argument wins over the parameter file; one that is not given leaves the file's value.
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
        "URDF or xacro file, or bundled robot; given nowhere: the topic robot_description, where "
        "the source says which robot it moves, by itself a panda",
    ),
    ("mode", "gravity: g(q); inverse_dynamics: the bias force of q and v"),
    ("device", "where kernels run: cpu, cuda:0, ..."),
)
ARGUMENTS = (
    ("namespace", "", "namespace of the node"),
    ("source", "false", "start a publisher of swinging robots too", TRUTH),
    ("robots", "4096", "how many robots the source moves"),
    ("rate", "100.0", "messages a second from the source"),
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
