"""Conversion of launch arguments to parameter values. Arguments that are not set are left out."""

from __future__ import annotations

import subprocess
import sys

import pytest

from ros2_node.control.settings.node_settings import BY_NAME
from ros2_node.ros.launch_arguments import choices, parameter_file, parameters_given


def test_an_empty_argument_is_left_out():
    """It may also consist of blanks."""
    assert parameters_given({"torque_scale": "", "mode": " ", "joints": "", "rate": ""}) == {}


@pytest.mark.parametrize(
    "name, text, value",
    [
        ("robot_description_file", "/a path/robot.urdf", "/a path/robot.urdf"),
        ("mode", "inverse_dynamics", "inverse_dynamics"),
        ("start_enabled", "true", True),
        ("publish_tf", "False", False),
        ("use_sim_time", "True", True),
        ("ramp_time", "2", 2.0),
        ("torque_scale", "0.5", 0.5),
        ("torque_scale", "[1, 0.5, 0]", [1.0, 0.5, 0.0]),
        ("torque_scale", "1,0.5", [1.0, 0.5]),
        ("torque_scale", "[1]", [1.0]),
        ("command_joints", "[joint1, 'joint 2']", ["joint1", "joint 2"]),
        ("joints", "a", ["a"]),
        ("joints", "a, b", ["a", "b"]),
        ("joints", "[]", [""]),
        ("gravity", "[0, 0, -1.62]", [0.0, 0.0, -1.62]),
    ],
)
def test_a_text_becomes_the_value_of_its_parameter(name, text, value):
    """It gets the type of the parameter, from the spelling of launch or YAML."""
    given = parameters_given({name: text})
    assert given == {name: value} and type(given[name]) is type(value)


@pytest.mark.parametrize(
    "name, text, said",
    [
        ("torque_scale", "2.0", "torque_scale must lie in 0 .. 1.5"),
        ("torque_scale", "nan", "torque_scale must lie in"),
        ("torque_scale", "much", "torque_scale must be a number, got 'much'"),
        ("torque_scale", "[1, x]", "torque_scale must be a number, got 'x'"),
        ("start_enabled", "maybe", "start_enabled must be true or false, got 'maybe'"),
        ("mode", "dance", "mode must be one of gravity"),
        ("joints", "[a, a]", "joints names something twice"),
        ("gravity", "9.81", "gravity must be 3 numbers"),
    ],
)
def test_a_bad_text_is_refused_with_the_arguments_name(name, text, said):
    with pytest.raises(ValueError, match=said):
        parameters_given({name: text})


def test_a_parameter_file_must_exist(tmp_path):
    """Otherwise the node would run with the defaults, such as torque_scale 1.0."""
    file = tmp_path / "my.yaml"
    with pytest.raises(ValueError, match=r"params_file '.*my.yaml' is not a file"):
        parameter_file(str(file))
    file.touch()
    assert parameter_file(str(file)) == str(file)


def test_launch_arguments_need_only_the_standard_library():
    """`ros2 launch` may run under a Python without Warp."""
    code = (
        "import sys; import ros2_node.ros.launch_arguments; "
        "print(sorted({'warp', 'rclpy', 'warpdyn', 'launch'} & set(sys.modules)))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("name", "allowed"),
    [
        ("start_enabled", ("", "true", "false", "True", "False")),
        ("use_sim_time", ("", "true", "false", "True", "False")),
        ("robot_description_file", ()),
        ("torque_scale", ()),
        ("stale_action", ("", *BY_NAME["stale_action"].choices)),
    ],
)
def test_launch_lists_the_values_of_an_argument(name, allowed):
    """They are those of a truth value or of a choice, and the empty text of an argument that is not
    set."""
    assert choices(name) == allowed
    assert name != "stale_action" or len(allowed) > 2
