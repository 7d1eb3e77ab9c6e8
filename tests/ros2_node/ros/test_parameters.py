"""Declaration of the parameters in rclpy."""

from __future__ import annotations

import pytest
import rclpy
from rclpy.parameter import Parameter as RosParameter

from ros2_node.control.settings.node_settings import PARAMETERS, Settings
from ros2_node.ros.parameters import declare, ours, unknown_overrides


@pytest.fixture
def make_node(context):
    """Create nodes with overrides, and remove them at the end."""
    nodes = []

    def make(**overrides):
        values = [RosParameter(k.replace("__", "."), value=v) for k, v in overrides.items()]
        nodes.append(rclpy.create_node("declared", context=context, parameter_overrides=values))
        return nodes[-1]

    yield make
    for node in nodes:
        node.destroy_node()


def test_without_overrides_the_settings_are_the_defaults(make_node):
    assert declare(make_node()) == Settings.of()


def test_overrides_reach_their_settings(make_node):
    """Integers become floats and lists become tuples. The empty list as a launch file writes it
    becomes ()."""
    overrides = {"kp": 5, "torque_scale": [0.5, 1.0], "joints": [""], "payload__com": [0, 0, 1]}
    expected = {"kp": 5.0, "torque_scale": [0.5, 1.0], "payload.com": [0.0, 0.0, 1.0]}
    assert declare(make_node(**overrides)) == Settings.of(expected)


@pytest.mark.parametrize(
    "name, value", [("kp", float("nan")), ("mode", "fly"), ("state_timeout", "soon")]
)
def test_a_bad_override_is_an_error_with_its_name(make_node, name, value):
    with pytest.raises(ValueError, match=name):
        declare(make_node(**{name: value}))


def test_a_number_out_of_bounds_is_named_with_its_bounds(make_node):
    with pytest.raises(ValueError, match=r"^kp must lie in 0 \.\. 100000 1/s\^2, got -5$"):
        declare(make_node(kp=-5.0))
    with pytest.raises(ValueError, match=r"gravity must be a list of 3 numbers, got 9\.81"):
        declare(make_node(gravity=9.81))


def test_a_misspelt_override_is_named(make_node):
    """It has no effect. use_sim_time and QoS overrides belong to rclpy."""
    given = {"torque_scales": 0.5, "payload__weight": 2.0, "kp": 5.0, "use_sim_time": False}
    node = make_node(**given, qos_overrides__joint_states__subscription__depth=2)
    declare(node)
    scale, weight = unknown_overrides(node)
    assert "torque_scales has no effect" in scale and "did you mean 'torque_scale'?" in scale
    assert "payload.weight has no effect" in weight


def test_every_parameter_has_a_descriptor(make_node):
    """It has the text, unit and choices as constraints, bounds if it is a number, and is read-only
    if it is fixed."""
    node = make_node()
    declare(node)
    for parameter in PARAMETERS:
        told = node.describe_parameter(parameter.name)
        assert told.description == parameter.description
        assert told.read_only == parameter.fixed and told.dynamic_typing
        assert parameter.unit in told.additional_constraints
        assert all(choice in told.additional_constraints for choice in parameter.choices)
        if isinstance(parameter.default, float):
            (bounds,) = told.floating_point_range
            assert (bounds.from_value, bounds.to_value) == (parameter.low, parameter.high)
        else:
            assert not told.floating_point_range


def test_parameters_of_rclpy_are_not_ours():
    """These are use_sim_time and QoS overrides."""
    changed = [RosParameter("use_sim_time", value=True), RosParameter("kp", value=3.0)]
    empty = RosParameter("joints", RosParameter.Type.NOT_SET)
    assert ours([*changed, empty]) == {"kp": 3.0, "joints": []}


def test_inputs_of_a_law_are_parameters(make_node):
    """Those that are set become settings. The others are declared with the law's defaults."""
    node = make_node(law="joint_impedance", **{"law_inputs__stiffness": 120.0})
    settings = declare(node)
    assert settings.law == "joint_impedance"
    assert dict(settings.law_inputs) == {"stiffness": (120.0,)}
    declared = {n for n in node._parameters if n.startswith("law_inputs.")}
    assert {"law_inputs.stiffness", "law_inputs.damping_ratio"} <= declared
    told = node.describe_parameter("law_inputs.stiffness")
    assert told.description.startswith("Input of the law, shape") and told.dynamic_typing
    with pytest.raises(
        ValueError, match=r"law_inputs\.stif is not an input of .*, which has law_inputs"
    ):
        declare(make_node(law="joint_impedance", law_inputs__stif=1.0))


def test_a_policy_is_read_before_anything_runs(make_node):
    with pytest.raises(ValueError, match=r"policy: nothing\.onnx: no such policy file"):
        declare(make_node(policy="nothing.onnx"))


def test_constraints_have_the_documented_text(make_node):
    """One text has choices, unit, and lists by joint."""
    node = make_node()
    declare(node)
    joints = "a number, or a list with one for each of command_joints"
    for name, text in (
        ("mode", "one of gravity, inverse_dynamics, computed_torque"),
        ("kp", f"unit 1/s^2; {joints}"),
        ("torque_scale", joints),
        ("ramp_time", "unit s"),
        ("policy", ""),
    ):
        assert node.describe_parameter(name).additional_constraints == text


def test_an_input_of_a_law_without_a_default_is_an_empty_list(make_node):
    """Its description has the shape. An input with a default has that value."""
    node = make_node(law="joint_impedance", **{"law_inputs__stiffness": 120.0})
    declare(node)
    told = node.describe_parameter("law_inputs.stiffness")
    assert told.description == "Input of the law, shape ('nv',), row by row."
    assert told.name == "law_inputs.stiffness"
    assert list(node.get_parameter("law_inputs.damping_ratio").value) == [0.7]
