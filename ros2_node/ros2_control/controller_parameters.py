"""Parameters of a controller: files for generate_parameter_library, and an example of values."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from warpdyn.codegen.escapes import string_literal
from warpdyn.model import Model

from ..control.settings.node_settings import BY_NAME
from ..control.settings.parameter import Parameter
from .controller_laws import WITHOUT_DEFAULT, ControllerLaw

SHARED = (
    "ramp_time", "state_timeout", "stale_action", "torque_scale", "effort_limits",
    "effort_limit_scale", "unlimited_effort", "max_torque_rate", "joint_limit_repulsion",
    "joint_limit_margin", "joint_limit_effort", "gravity", "reference_timeout",
    "max_tracking_error", "max_reference_acceleration", "reference_violation", "max_pose_error",
)  # fmt: skip
"""Parameters of the node that every controller has, with the same defaults and bounds."""


def parameter_file(law: ControllerLaw, model: Model, namespace: str) -> str:
    """The file of a law for generate_parameter_library. namespace: of the C++ that it generates."""
    return "\n".join([f"{namespace}:", *_parameters(law, model)]) + "\n"


def example_parameters(
    laws: Sequence[ControllerLaw], model: Model, joints: Sequence[str], package: str
) -> str:
    """A file of parameters for the controller manager and for each controller."""
    lines = ["controller_manager:", "  ros__parameters:", "    update_rate: 1000  # Hz"]
    types = {"joint_state_broadcaster": "joint_state_broadcaster/JointStateBroadcaster"}
    types |= {law.name: f"{package}/{law.class_name}Controller" for law in laws}
    for name, kind in types.items():
        lines += [f"    {name}:", f"      type: {kind}"]
    for law in laws:
        lines += ["", f"{law.name}:", "  ros__parameters:"]
        lines.append(f"    joints: [{', '.join(map(yaml_string, joints))}]")
        lines.append("    ramp_time: 1.0")
        lines += _example_inputs(law, model)
    return "\n".join(lines) + "\n"


def _example_inputs(law: ControllerLaw, model: Model) -> Iterator[str]:
    """The inputs of a law, those without a value as comments: an empty mapping would be no parameter."""
    values, inputs = dict(law.example(model)), law.inputs(model)
    for name in inputs:
        default = law.default(name, model)
        if name not in values and default is not None:
            values[name] = list(default.ravel())
    if inputs:
        yield f"    {'' if values else '# '}law_inputs:"
    for name in inputs:
        if name in values:
            yield f"      {name}: {_numbers(values[name])}"
        else:
            yield f"    #   {name}: []  # {WITHOUT_DEFAULT}"


def fill_function(law: ControllerLaw, model: Model) -> str:
    """The body of the C++ function that reads a law's own parameters, and returns what is wrong."""
    lines = ["std::string wrong;", "(void)parameters;", "(void)inputs;"]
    for name in law.inputs(model):
        said = string_literal(f"law_inputs.{name}")
        lines.append(
            f"if (wrong.empty()) wrong = fill({said}, parameters.law_inputs.{name}, inputs.{name}, "
            f"Form::{law.form(name)});"
        )
        if name in law.bounds:
            low, high = law.bounds[name]
            lines.append(
                f"if (wrong.empty()) wrong = check_bounds({said}, inputs.{name}, {low!r}, {high!r});"
            )
        if name in law.springs:
            lines.append(f"if (wrong.empty()) wrong = check_stiffness({said}, inputs.{name});")
    lines.append("return wrong;")
    return "\n".join(f"  {line}" for line in lines)


def yaml_string(text: str) -> str:
    """A string of YAML: printable ASCII, and other characters by their codes."""
    plain = (x if " " <= x <= "~" and x not in '"\\' else f"\\U{ord(x):08x}" for x in text)
    return f'"{"".join(plain)}"'


def _parameters(law: ControllerLaw, model: Model) -> Iterator[str]:
    yield from _entry(
        "joints",
        "string_array",
        "[]",
        "Names of the joints in the hardware, in the order of the description's. Empty: the same names.",
        read_only=True,
    )
    yield from _entry(
        "start_effort",
        "string",
        '"zero"',
        "Where the commands begin on activation: at zero, or at the measured effort.",
        ('one_of<>: [["zero", "measured"]]',),
        read_only=True,
    )
    # Those of the node, then those of the law.
    for name in SHARED:
        yield from _node_entry(BY_NAME[name])
    inputs = law.inputs(model)
    if inputs:
        yield "  law_inputs:"
    for name in inputs:
        default = law.default(name, model)
        value = None if default is None else _numbers(default.ravel())
        count = int(np.prod(law.inputs(model)[name], dtype=int))
        rest = {"one_for_all": ", or one for all", "diagonal": ", or those of the diagonal"}
        text = f"Input {name} of the law: {count} numbers{rest.get(law.form(name), '')}."
        yield from (
            f"  {line}" for line in _entry(name, "double_array", value, text, ("not_empty<>: []",))
        )


def _node_entry(parameter: Parameter) -> Iterator[str]:
    default, name = parameter.default, parameter.name
    text = parameter.description + (f" [{parameter.unit}]" if parameter.unit else "")
    low, high = parameter.low, parameter.high
    if isinstance(default, bool):
        yield from _entry(name, "bool", json.dumps(default), text)
    elif isinstance(default, str):
        choices = (f"one_of<>: [{json.dumps(list(parameter.choices))}]",)
        yield from _entry(name, "string", json.dumps(default), text, choices)
    elif parameter.per_joint or isinstance(default, tuple):
        values = default if isinstance(default, tuple) else (default,)
        checks = [f"element_bounds<>: [{low}, {high}]"]
        if parameter.length:
            checks.append(f"fixed_size<>: [{parameter.length}]")
        yield from _entry(name, "double_array", _numbers(values), text, checks)
    else:
        yield from _entry(name, "double", repr(default), text, (f"bounds<>: [{low}, {high}]",))


def _entry(
    name: str,
    kind: str,
    default: str | None,
    text: str,
    checks: Sequence[str] = (),
    read_only: bool = False,
) -> Iterator[str]:
    yield f"  {name}:"
    yield f"    type: {kind}"
    if default is not None:
        yield f"    default_value: {default}"
    if read_only:
        yield "    read_only: true"
    yield f"    description: {json.dumps(text)}"
    if checks:
        yield "    validation:"
        yield from (f"      {check}" for check in checks)


def _numbers(values: Any) -> str:
    return json.dumps([float(x) for x in np.asarray(values, dtype=float)])
