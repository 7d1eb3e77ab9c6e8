"""A demonstration that needs no robot: a swinging arm, its torques and poses, and RViz if there is a display.

ros2 launch warpdyn demo.launch.py
ros2 topic echo /warpdyn/torques
"""

from launch import LaunchDescription

from ros2_node.ros.launch_parts import declare_arguments, required_node, rviz, rviz_argument, value

ARGUMENTS = (
    ("robot", "panda", "bundled robot or URDF file"),
    ("rate", "100.0", "joint_states messages per second"),
    ("speed", "0.2", "swings per second of the fastest joint"),
    rviz_argument(),
)


def generate_launch_description():
    source = required_node(
        "warpdyn_state_source",
        name="state_source",
        parameters=[
            {
                "robot": value("robot", str),
                "rate": value("rate", float),
                "speed": value("speed", float),
            }
        ],
    )
    node = required_node(
        "warpdyn_node",
        name="warpdyn",
        parameters=[{"publish_tf": True, "publish_frequency": 50.0}],
    )
    return LaunchDescription([*declare_arguments(ARGUMENTS), source, node, rviz()])
