"""Parameters of controllers are those of the node."""

from __future__ import annotations

import pytest
import yaml

import warpdyn as wd
from ros2_node.control.settings.node_settings import BY_NAME
from ros2_node.ros2_control.controller_laws import built_in_laws, users_law
from ros2_node.ros2_control.controller_parameters import (
    SHARED,
    example_parameters,
    fill_function,
    parameter_file,
    yaml_string,
)

MODEL = wd.load_robot("ur5e")
LAWS = built_in_laws("tool0")


def test_defaults_and_bounds_are_the_nodes():
    entries = yaml.safe_load(parameter_file(LAWS["joint_impedance"], MODEL, "x"))["x"]
    for name in SHARED:
        entry, parameter = entries[name], BY_NAME[name]
        is_list = entry["type"] == "double_array"
        values = entry["default_value"] if is_list else [entry["default_value"]]
        default = parameter.default
        assert values == list(default if isinstance(default, tuple) else (default,)), name
        checks = entry.get("validation", {})
        bounds = checks.get("bounds<>") or checks.get("element_bounds<>")
        if bounds:
            assert bounds == [parameter.low, parameter.high], name
        elif parameter.choices:
            assert checks["one_of<>"] == [list(parameter.choices)], name
    stiffness = entries["law_inputs"]["stiffness"]
    assert "default_value" not in stiffness
    assert stiffness["description"].endswith("6 numbers, or one for all.")
    assert entries["law_inputs"]["damping_ratio"]["default_value"] == [0.7]


def test_an_example_has_every_input():
    text = example_parameters([*LAWS.values()], MODEL, MODEL.joint_names, "arm")
    example = yaml.safe_load(text)
    for name, law in LAWS.items():
        inputs = example[name]["ros__parameters"].get("law_inputs", {})
        assert inputs.keys() == law.inputs(MODEL).keys()


def test_an_input_without_a_value_is_a_comment():
    """A mapping without an entry would be null, which is no parameter of ROS."""

    @wd.kernel
    def pull(robot, q, target: (3, 3)):
        return target[0, 0] * q

    text = example_parameters([users_law(pull, {})], MODEL, MODEL.joint_names, "arm")
    assert "    # law_inputs:\n    #   target: []  # no value: it must be set\n" in text
    assert "law_inputs" not in yaml.safe_load(text)["pull"]["ros__parameters"]


def test_inputs_are_checked():
    text = fill_function(LAWS["cartesian_impedance"], MODEL)
    assert 'check_stiffness("law_inputs.stiffness", inputs.stiffness)' in text
    assert (
        'check_bounds("law_inputs.posture_damping", inputs.posture_damping, 0.0, 10000.0)' in text
    )
    assert fill_function(LAWS["gravity_compensation"], MODEL).endswith("return wrong;")


@pytest.mark.parametrize("text", ["arm", 'a"b\\c', "new\nline", "脚🦾\u2028"])
def test_strings_of_yaml(text: str):
    assert yaml_string(text).isascii() and yaml.safe_load(yaml_string(text)) == text
