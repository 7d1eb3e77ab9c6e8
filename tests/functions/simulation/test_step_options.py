"""The record of a step's options has the options of `step` and the defaults of each integrator."""

from __future__ import annotations

import inspect
import re
from dataclasses import fields
from typing import Any

import numpy as np
import pytest

import warpdyn as wd
from warpdyn.functions.simulation.step_options import StepOptions, contact_arrays

MODEL = wd.load_robot("double_pendulum")
SOFT = wd.SoftGround(0.5, 1e4, 150.0)
POINTS = (wd.ContactPoint(MODEL.link_names[-1], (0.0, 0.0, 0.0), 0.02),)


def test_the_record_has_the_keywords_of_step_with_their_defaults() -> None:
    parameters = inspect.signature(wd.step).parameters.values()
    keywords = {x.name: x.default for x in parameters if x.kind is x.KEYWORD_ONLY}
    assert {x.name: x.default for x in fields(StepOptions)} == keywords


@pytest.mark.parametrize(
    ("integrator", "guard", "stops"),
    [("semi_implicit", True, "springs"), ("heun", False, "none"), ("rk4", False, "none")],
)
def test_each_integrator_has_its_own_defaults(integrator: Any, guard: bool, stops: str) -> None:
    options = StepOptions(integrator=integrator).with_defaults()
    assert (options.speed_guard, options.stops) == (guard, stops)
    assert options.is_implicit == (integrator == "semi_implicit")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"integrator": "euler"}, "integrator must be one of"),
        ({"stops": ""}, "stops must be one of"),
        ({"integrator": "rk4", "stops": "rows"}, "stops= needs an implicit step"),
        ({"integrator": "heun", "speed_guard": True}, "speed_guard= needs an implicit step"),
        ({"integrator": "mujoco_euler", "points": POINTS}, "needs MuJoCo's contacts: pass ground"),
        ({"integrator": "mujoco_rk4", "points": POINTS, "ground": SOFT}, "needs MuJoCo's contacts"),
    ],
)
def test_unknown_words_and_unsupported_options_are_refused(
    options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        StepOptions(**options).with_defaults()


def test_each_ground_has_its_own_contact_memory() -> None:
    q, memory = np.zeros((3, 2)), np.zeros((3, 1, 3))
    for ground, name in ((wd.Ground(), "impulses"), (SOFT, "deformation")):
        options = StepOptions(ground=ground, **{name: memory})
        assert options.contact_memory == name
        array, shape = contact_arrays(MODEL, POINTS, options, q)[name]
        assert array is memory and shape == (1, 3)
        assert contact_arrays(MODEL, (), StepOptions(ground=ground), q) == {}
        with pytest.raises(ValueError, match="needs points="):
            contact_arrays(MODEL, (), options, q)
    with pytest.raises(ValueError, match=r"with a wd\.SoftGround give deformation="):
        contact_arrays(MODEL, POINTS, StepOptions(ground=SOFT, impulses=memory), q)
    with pytest.raises(ValueError, match=r"^deformation= is for a wd.SoftGround; with a w"):
        contact_arrays(MODEL, POINTS, StepOptions(deformation=memory), q)


def test_arrays_of_pairs_count_as_pairs() -> None:
    """So that they are refused without pairs."""
    array = np.zeros((3, 4))
    assert not StepOptions().has_pairs and not StepOptions(pairs_left_out=array).has_pairs
    for options in ({"pairs": [None]}, {"pair_impulses": array}, {"pair_features": array}):
        assert StepOptions(**options).has_pairs


@pytest.mark.parametrize("name", ["speed_guard", "stops", "pairs"])
def test_implicit_options_are_refused_by_explicit_integrators(name: str) -> None:
    """The message gives the whole reason. Limit springs are suggested for stops only."""
    value = {"speed_guard": True, "stops": "springs", "pairs": [None]}[name]
    words = f'{name}= needs an implicit step, and integrator="rk4" is explicit; leave it out'
    if name == "stops":
        words += "; limit springs of the model (model.with_limit_springs) act in every integrator"
    with pytest.raises(ValueError, match=f"^{re.escape(words)}$"):
        StepOptions(integrator="rk4", **{name: value}).with_defaults()
    assert StepOptions(**{name: value}).with_defaults() is not None


def test_a_given_guard_and_given_stops_are_kept() -> None:
    for guard in (False, True):
        assert StepOptions(speed_guard=guard).with_defaults().speed_guard is guard
    assert StepOptions(integrator="rk4", speed_guard=False).with_defaults().speed_guard is False
    for stops in ("none", "springs", "rows"):
        assert StepOptions(stops=stops).with_defaults().stops == stops


@pytest.mark.parametrize("guard", ["off", 0.0, np.zeros(1)])
def test_a_guard_must_be_a_truth_value(guard: Any) -> None:
    """A word such as "off" would be true."""
    with pytest.raises(TypeError, match="speed_guard must be True, False or None"):
        StepOptions(speed_guard=guard).with_defaults()
