"""One parameter of the node: its type, bounds and description, and the check of its values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Number = float | tuple[float, ...]


@dataclass(frozen=True)
class Parameter:
    """One parameter. The default gives its type. Bounds are inclusive."""

    default: Any
    description: str
    unit: str = ""
    name: str = ""
    """The name in ROS; if it is empty, the name of its field in `Settings`."""
    choices: tuple[str, ...] = ()
    low: float = -math.inf
    high: float = math.inf
    length: int | None = None
    per_joint: bool = False
    """A number for all joints, or a list with one for each of command_joints."""
    fixed: bool = False
    """Read at start only."""

    @property
    def field(self) -> str:
        """Name of the attribute of `Settings`."""
        return self.name.replace(".", "_")


def declare(
    default: Any,
    description: str,
    unit: str = "",
    bounds: tuple[float, float] = (-math.inf, math.inf),
    **more: Any,
) -> Any:
    """The field of `Settings` for a `Parameter`; `more`: its other values. Lists of numbers keep the
    length of the default."""
    low, high = bounds
    length = len(default) if isinstance(default, tuple) and default else None
    parameter = Parameter(default, description, unit, low=low, high=high, length=length, **more)
    return field(default=default, metadata={"parameter": parameter})


def declare_per_joint(
    default: float, description: str, unit: str = "", *, bounds: tuple[float, float], name: str = ""
) -> Any:
    """The field of a number that may differ between joints."""
    return declare(default, description, unit, bounds, name=name, per_joint=True)


def check(parameter: Parameter, value: Any) -> Any:
    """The value in the parameter's form: integers become floats, and lists tuples; ValueError for
    an invalid value."""
    default = parameter.default
    if isinstance(default, bool):
        return _boolean(parameter, value)
    if isinstance(default, str):
        return _text(parameter, value)
    if isinstance(default, float) and not (parameter.per_joint and _is_list(value)):
        return _number(parameter, value)
    if not _is_list(value):
        count = f" of {parameter.length} numbers" if parameter.length else ""
        raise ValueError(f"{parameter.name} must be a list{count}, got {value!r}")
    if parameter.per_joint or (default and isinstance(default[0], float)):
        return _numbers(parameter, value)
    return _names(parameter, value)


def _is_list(value: Any) -> bool:
    return hasattr(value, "typecode") or (
        isinstance(value, Sequence) and not isinstance(value, (str, bytes))
    )


def _boolean(parameter: Parameter, value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"{parameter.name} must be true or false, got {value!r}")
    return value


def _text(parameter: Parameter, value: Any) -> str:
    name, choices = parameter.name, parameter.choices
    if not isinstance(value, str):
        raise ValueError(f"{name} must be a text, got {value!r}; put it in quotes")
    if choices and value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(choices)}, got {value!r}")
    return value


def _numbers(parameter: Parameter, value: Sequence[Any]) -> tuple[float, ...]:
    name, length = parameter.name, parameter.length
    numbers = tuple(_number(parameter, x) for x in value)
    if length is not None and len(numbers) != length:
        raise ValueError(f"{name} must be {length} numbers, got {len(numbers)}")
    if not numbers:
        raise ValueError(f"{name} is an empty list: give one number, or one for each joint")
    return numbers


def _names(parameter: Parameter, value: Sequence[Any]) -> tuple[str, ...]:
    name = parameter.name
    if not all(isinstance(x, str) for x in value):
        raise ValueError(f"{name} must be a list of names, got {value!r}")
    names = tuple(x for x in value if x)  # [""] is how a launch file spells an empty list
    if len(set(names)) != len(names):
        raise ValueError(f"{name} names something twice: {', '.join(names)}")
    return names


def _number(parameter: Parameter, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(f"{parameter.name} must be a number, got {value!r}")
    if not parameter.low <= value <= parameter.high:  # false for NaN
        unit = f" {parameter.unit}" if parameter.unit else ""
        raise ValueError(
            f"{parameter.name} must lie in {parameter.low:g} .. {parameter.high:g}{unit}, got {value:g}"
        )
    return float(value)


def per_joint(name: str, value: Number, n: int) -> np.ndarray:
    """An array (n,) from one number or n numbers."""
    if isinstance(value, tuple) and len(value) != n:
        raise ValueError(
            f"{name} has {len(value)} numbers but there are {n} command joints: give one, or {n}"
        )
    return np.array(value) if isinstance(value, tuple) else np.full(n, value)
