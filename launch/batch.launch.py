"""Thousands of robots in one message: ~/batch/state in, ~/batch/torques out, with a source of states if wanted.

ros2 launch warpdyn batch.launch.py robot_description_file:=panda source:=true robots:=4096

An argument wins over the parameter file; one that is not given leaves the file's value.
"""

from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.conditions import IfCondition
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue
from launch_ros.substitutions import FindPackageShare

from ros2_node.ros.launch_arguments import parameter_file, parameters_given

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
    ("params_file", None, "YAML file with parameters of the node"),
    ("namespace", "", "namespace of the node"),
    ("source", "false", "start a publisher of swinging robots too"),
    ("robots", "4096", "how many robots the source moves"),
    ("rate", "100.0", "messages a second from the source"),
    *((name, "", f"{text}; default: the parameter file's") for name, text in PARAMETERS),
)


def nodes(context):
    file = parameter_file(LaunchConfiguration("params_file").perform(context))
    texts = {name: LaunchConfiguration(name).perform(context) for name, _ in PARAMETERS}
    given = parameters_given(texts)
    node = Node(
        package="warpdyn",
        executable="warpdyn_node",
        name="warpdyn",
        namespace=LaunchConfiguration("namespace"),
        parameters=[file, *([given] if given else [])],
        output="screen",
    )
    source = Node(
        package="warpdyn",
        executable="warpdyn_state_source",
        name="state_source",
        namespace=LaunchConfiguration("namespace"),
        parameters=[
            {
                "robot": given.get("robot_description_file", "panda"),
                "robots": ParameterValue(LaunchConfiguration("robots"), value_type=int),
                "rate": ParameterValue(LaunchConfiguration("rate"), value_type=float),
            }
        ],
        remappings=[("~/batch/state", "warpdyn/batch/state")],
        condition=IfCondition(LaunchConfiguration("source")),
        output="screen",
    )
    return [node, source]


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
    return LaunchDescription([*declared, OpaqueFunction(function=nodes)])
