"""Parameters of controllers, which agree with those of the node."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import numpy as np
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


def test_defaults_and_bounds_agree_with_the_node():
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
    """A mapping without an entry would be null, which is no ROS parameter."""

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
def test_yaml_strings_are_read_back(text: str):
    assert yaml_string(text).isascii() and yaml.safe_load(yaml_string(text)) == text


@wd.kernel
def pulling(
    robot,
    q,
    target: (2, 2),
    gain: Annotated[np.ndarray, ("nv",)] = 3.0,
    offset: Annotated[np.ndarray, ()] = -0.5,
):
    """A law with an array input of each form."""
    return gain * (target[0, 0] * q + offset)


def test_the_example_parameter_file_has_the_expected_text():
    law = users_law(pulling, {})
    text = example_parameters([law, LAWS["gravity_compensation"]], MODEL, ["b", 'a"'], "arm")
    assert (
        text
        == """controller_manager:
  ros__parameters:
    update_rate: 1000  # Hz
    joint_state_broadcaster:
      type: joint_state_broadcaster/JointStateBroadcaster
    pulling:
      type: arm/PullingController
    gravity_compensation:
      type: arm/GravityCompensationController

pulling:
  ros__parameters:
    joints: ["b", "a\\U00000022"]
    ramp_time: 1.0
    law_inputs:
    #   target: []  # no value: it must be set
      gain: [3.0, 3.0, 3.0, 3.0, 3.0, 3.0]
      offset: [-0.5]

gravity_compensation:
  ros__parameters:
    joints: ["b", "a\\U00000022"]
    ramp_time: 1.0
"""
    )


def test_entries_of_a_laws_inputs_have_the_expected_values():
    """They have type, default if there is one, number of entries, and a refusal of empty lists."""
    entries = yaml.safe_load(parameter_file(users_law(pulling, {}), MODEL, "x"))["x"]
    check = {"not_empty<>": []}
    assert entries["law_inputs"] == {
        "target": {
            "type": "double_array",
            "description": "Input target of the law: 4 numbers, or those of the diagonal.",
            "validation": check,
        },
        "gain": {
            "type": "double_array",
            "default_value": [3.0] * 6,
            "description": "Input gain of the law: 6 numbers, or one for all.",
            "validation": check,
        },
        "offset": {
            "type": "double_array",
            "default_value": [-0.5],
            "description": "Input offset of the law: 1 numbers.",
            "validation": check,
        },
    }
    assert entries["joints"]["read_only"] is True and entries["joints"]["default_value"] == []
    assert entries["start_effort"] == {
        "type": "string",
        "default_value": "zero",
        "read_only": True,
        "description": "Where the commands begin on activation: at zero, or at the measured effort.",
        "validation": {"one_of<>": [["zero", "measured"]]},
    }
    assert entries["gravity"]["validation"] == {
        "element_bounds<>": [-1000.0, 1000.0],
        "fixed_size<>": [3],
    }
    assert "read_only" not in entries["ramp_time"] and entries["ramp_time"]["type"] == "double"
    assert entries["ramp_time"]["description"].endswith(" [s]")
    assert entries["unlimited_effort"]["type"] == "bool"


def test_the_function_that_reads_parameters_has_the_expected_text():
    law = replace(users_law(pulling, {}), bounds={"gain": (-1.0, 2.5)}, springs=("target",))
    assert fill_function(law, MODEL).splitlines() == [
        "  std::string wrong;",
        "  (void)parameters;",
        "  (void)inputs;",
        '  if (wrong.empty()) wrong = fill("law_inputs.target", parameters.law_inputs.target, '
        "inputs.target, Form::diagonal);",
        '  if (wrong.empty()) wrong = check_stiffness("law_inputs.target", inputs.target);',
        '  if (wrong.empty()) wrong = fill("law_inputs.gain", parameters.law_inputs.gain, '
        "inputs.gain, Form::one_for_all);",
        '  if (wrong.empty()) wrong = check_bounds("law_inputs.gain", inputs.gain, -1.0, 2.5);',
        '  if (wrong.empty()) wrong = fill("law_inputs.offset", parameters.law_inputs.offset, '
        "inputs.offset, Form::plain);",
        "  return wrong;",
    ]
