"""Conversion of launch arguments, which are strings, to values of the node's parameters. It needs
neither `launch` nor rclpy."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..control.settings.node_settings import BY_NAME, Parameter, check

SIM_TIME = Parameter(False, "Take the time from /clock.", name="use_sim_time")
"""rclpy's own parameter, which launch files offer in addition to ours."""

TRUTH = ("true", "false", "True", "False")
"""Values of a Boolean argument."""


def parameters_given(texts: Mapping[str, str]) -> dict[str, Any]:
    """Values of the parameters whose argument is not empty; all others come from the parameter
    file.

    texts: an argument by the name of its parameter. Lists are written as in YAML, "[1.0, 0.5]" or
    "[joint1, joint2]", or without the brackets. ValueError names what is wrong.
    """
    given: dict[str, Any] = {}
    for name, text in texts.items():
        if text.strip():
            parameter = SIM_TIME if name == SIM_TIME.name else BY_NAME[name]
            value = check(parameter, _read(parameter, text.strip()))
            # launch has no empty list; the node reads [""] as empty
            given[name] = (list(value) or [""]) if isinstance(value, tuple) else value
    return given


def choices(name: str) -> tuple[str, ...]:
    """Allowed texts for the argument of a parameter, including "" for the file's value; empty if
    any text may be valid."""
    parameter = SIM_TIME if name == SIM_TIME.name else BY_NAME[name]
    if isinstance(parameter.default, bool):
        return ("", *TRUTH)
    return ("", *parameter.choices) if parameter.choices else ()


def parameter_file(path: str) -> str:
    """The path of a parameter file; ValueError if it does not exist, for which launch only
    warns."""
    if not Path(path).is_file():
        raise ValueError(f"params_file {path!r} is not a file")
    return path


def _read(parameter: Parameter, text: str) -> Any:
    """The value of a string for the type of its parameter; if it is invalid, the string itself."""
    default = parameter.default
    if isinstance(default, bool):
        return {"true": True, "false": False}.get(text.lower(), text)
    listed = text.startswith("[") or "," in text
    if isinstance(default, tuple) or (parameter.per_joint and listed):
        inner = text[1:-1] if text.startswith("[") and text.endswith("]") else text
        entries = [entry.strip().strip("'\"") for entry in inner.split(",") if entry.strip()]
        numbers = parameter.per_joint or isinstance((default or ("",))[0], float)
        return [_number(entry) for entry in entries] if numbers else entries
    return _number(text) if isinstance(default, float) else text


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text
