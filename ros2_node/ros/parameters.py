"""The table of parameters, declared to rclpy."""

from __future__ import annotations

import math
from typing import Any

from rcl_interfaces.msg import FloatingPointRange, ParameterDescriptor
from rclpy.exceptions import ParameterException
from rclpy.node import Node
from rclpy.parameter import Parameter as RosParameter

from ..control.parameter import Parameter
from ..control.settings import BY_NAME, PARAMETERS, Settings


def declare(node: Node) -> Settings:
    """Declare all parameters and return their values at start; ValueError for a bad one."""
    values = {}
    for parameter in PARAMETERS:
        try:
            declared = node.declare_parameter(
                parameter.name, _default(parameter), _descriptor(parameter)
            )
        except ParameterException as error:
            raise ValueError(f"{parameter.name}: {error}") from error
        values[parameter.name] = _value(declared)
    return Settings.of(values)


def ours(parameters: list[RosParameter]) -> dict[str, Any]:
    """Values by name of those parameters that are in the table; use_sim_time and QoS overrides
    are not."""
    return {p.name: _value(p) for p in parameters if p.name in BY_NAME}


def _value(parameter: RosParameter) -> Any:
    value = parameter.value
    empty = parameter.type_ in (RosParameter.Type.NOT_SET, RosParameter.Type.BYTE_ARRAY)
    return [] if empty and not value else value  # how YAML's [] arrives


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
        dynamic_typing=True,  # an integer where a number is meant must not end the node
        floating_point_range=[FloatingPointRange(from_value=parameter.low, to_value=parameter.high)]
        if bounded
        else [],
    )
