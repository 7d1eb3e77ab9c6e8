"""Declaration of the parameters' table to rclpy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from rcl_interfaces.msg import FloatingPointRange, ParameterDescriptor
from rclpy.exceptions import ParameterException
from rclpy.node import Node
from rclpy.parameter import Parameter as RosParameter

from warpdyn.model.names import spelling_hint
from warpdyn.user_kernels.own_kernel import OwnKernel

from ..control.settings.node_settings import BY_NAME, LAW_INPUTS, PARAMETERS, Settings
from ..control.settings.parameter import Parameter, check
from ..control.torques.law import inputs_of, kernel_of_law
from ..control.torques.policy_law import policy_and_task

PAYLOAD = ("payload.link", "payload.mass", "payload.com", "payload.inertia")
"""Parameters of the load."""
QOS = "qos_overrides."
"""Beginning of the names of rclpy's parameters that the topics declare."""


def declare(node: Node) -> Settings:
    """Declare all parameters and return their values at start; ValueError for an invalid one."""
    values = {}
    for parameter in PARAMETERS:
        try:
            declared = node.declare_parameter(
                parameter.name, _default(parameter), _descriptor(parameter)
            )
        except ParameterException as error:
            check(parameter, node._parameter_overrides[parameter.name].value)  # in our own words
            raise ValueError(f"{parameter.name}: {error}") from error
        values[parameter.name] = _value(declared)
    if values["law"]:
        values |= _law_inputs(node, kernel_of_law(values["law"]))
    settings = Settings.of(values)
    if settings.policy:
        policy_and_task(settings.policy, settings.policy_task)  # raises before anything runs
    return settings


def unknown_overrides(node: Node) -> list[str]:
    """A warning for each value at start that has no effect, because the node has no parameter of
    that name. A file for `/**` may have values of other nodes."""
    names = node._parameter_overrides
    unknown = [n for n in names if not node.has_parameter(n) and not n.startswith(QOS)]
    texts = []
    for name in unknown:
        hint = spelling_hint(name, BY_NAME) or "; ros2 param list has the names"
        texts.append(f"parameter {name} has no effect: this node has none of that name{hint}")
    return texts


def restore_payload(node: Node, settings: Settings) -> None:
    """Set the parameters `payload.*` to those of the running robot, after another payload has been
    refused."""
    present = {p.name: getattr(settings, p.field) for p in PARAMETERS if p.name in PAYLOAD}
    known = {name: check(BY_NAME[name], _value(node.get_parameter(name))) for name in present}
    if known != present:
        lists = {n: list(x) if isinstance(x, tuple) else x for n, x in present.items()}
        node.set_parameters_atomically([RosParameter(n, value=x) for n, x in lists.items()])


def _law_inputs(node: Node, law: OwnKernel) -> dict[str, Any]:
    """Declare the inputs of a law and return those that have a value; ValueError for an unknown
    input."""
    values, known = {}, [LAW_INPUTS + name for name in inputs_of(law)]
    for name in node._parameter_overrides:
        if name.startswith(LAW_INPUTS) and name not in known:
            there = ", ".join(known) or "none"
            raise ValueError(f"{name} is not an input of {law.__name__}, which has {there}")
    for name in known:
        each = law.signature.arrays[name.removeprefix(LAW_INPUTS)]
        default = [] if each.default is None else np.ravel(each.default[0]).astype(float).tolist()
        text = f"Input of the law, shape {each.shape}, row by row."
        descriptor = ParameterDescriptor(name=name, description=text, dynamic_typing=True)
        declared = _value(node.declare_parameter(name, default, descriptor))
        if name in node._parameter_overrides:
            values[name] = declared
    return values


def ours(parameters: list[RosParameter]) -> dict[str, Any]:
    """Values by name of the parameters in the table; without use_sim_time and QoS overrides."""
    return {
        p.name: _value(p) for p in parameters if p.name in BY_NAME or p.name.startswith(LAW_INPUTS)
    }


def _value(parameter: RosParameter) -> Any:
    value = parameter.value
    empty = parameter.type_ in (RosParameter.Type.NOT_SET, RosParameter.Type.BYTE_ARRAY)
    return [] if empty and not value else value  # the form in which YAML's [] arrives


def _default(parameter: Parameter) -> Any:
    if isinstance(parameter.default, tuple):
        return list(parameter.default) or [""]
    return parameter.default


def _descriptor(parameter: Parameter) -> ParameterDescriptor:
    constraints = []
    if parameter.choices:
        constraints.append("one of " + ", ".join(parameter.choices))
    if parameter.unit:
        constraints.append(f"unit {parameter.unit}")
    if parameter.per_joint:
        constraints.append("a number, or a list with one for each of command_joints")
    bounded = (
        isinstance(parameter.default, float)
        and math.isfinite(parameter.low)
        and math.isfinite(parameter.high)
    )
    return ParameterDescriptor(
        name=parameter.name,
        description=parameter.description,
        additional_constraints="; ".join(constraints),
        read_only=parameter.fixed,
        dynamic_typing=True,  # an integer instead of a float must not end the node
        floating_point_range=[FloatingPointRange(from_value=parameter.low, to_value=parameter.high)]
        if bounded
        else [],
    )
