"""Defaults, minima and maxima of the laws' inputs."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import pytest
from module_numbers import module_numbers

DEFAULTS = {
    "teaching": {"damping": 0.2, "max_speed": 1.0, "braking_time": 0.05, "coupling": 0.0},
    "joint_impedance": {"damping": 0.0, "damping_ratio": 0.7},
    "admittance": {
        "virtual_stiffness": 0.0,
        "bandwidth": 30.0,
        "posture_stiffness": 5.0,
        "posture_damping": 1.0,
    },
    "computed_torque": {"kp": 100.0, "kd": 20.0},
}
LARGEST = {
    "teaching": {"damping": 1e4, "max_speed": 100.0, "braking_time": 10.0, "coupling": 1e5},
    "joint_impedance": {"stiffness": 1e5, "damping": 1e4, "damping_ratio": 10.0},
    "admittance": {
        "virtual_mass": 1e4,
        "virtual_damping": 1e6,
        "virtual_stiffness": 1e6,
        "bandwidth": 500.0,
        "posture_stiffness": 1e5,
        "posture_damping": 1e4,
    },
}
LEAST = {"virtual_mass": 0.01, "braking_time": 0.01}
"""Least numbers; those of other inputs are 0."""


def module(law: str):
    return import_module(f"ros2_node.laws.{law}")


@pytest.mark.parametrize("law", DEFAULTS)
def test_defaults_change_only_on_purpose(law: str) -> None:
    arrays = getattr(module(law), law).signature.arrays
    found = {name: x.default[0] for name, x in arrays.items() if x.default is not None}
    assert found == DEFAULTS[law]


@pytest.mark.parametrize("law", LARGEST)
def test_largest_numbers_change_only_on_purpose(law: str) -> None:
    assert getattr(module(law), f"largest_{law}") == LARGEST[law]


@pytest.mark.parametrize(("law", "name"), [(law, x) for law in LARGEST for x in LARGEST[law]])
def test_an_input_may_equal_its_minimum(law: str, name: str) -> None:
    """A smaller one of several is refused, and the refusal has it."""
    check = getattr(module(law), f"check_{law}")
    good = {each: np.full(6, LEAST.get(each, 0.0)) for each in LARGEST[law]}
    if law == "teaching":
        good["braking_time"] = np.array(0.01)
    check(good)
    low = good[name] - 0.001 * (np.arange(good[name].size) == 4 % good[name].size).reshape(
        good[name].shape
    )
    with pytest.raises(ValueError) as error:
        check({**good, name: low})
    unit = " s" if name == "braking_time" else ""
    assert str(error.value) == (
        f"{name} must be at least {LEAST.get(name, 0.0):g}{unit}, got {low.min():g}"
    )


def test_named_numbers_change_only_on_purpose() -> None:
    """Any module of the laws may define them."""
    found = [pair for each in module_numbers("ros2_node/laws").values() for pair in each.items()]
    assert sorted(found) == [
        ("CLOSE", 1e-10),
        ("FARTHEST", 1.0),
        ("FELT", 0.3),
        ("HEAVIEST", 10.0),
        ("ROUNDS", 20),
    ]
