"""The record of a step's options: the same options as `step` has, with the integrator's defaults."""

from __future__ import annotations

import inspect
from dataclasses import fields
from typing import Any

import numpy as np
import pytest

import warpdyn as wd
from warpdyn.functions.simulation.step_options import StepOptions, contact_arrays

MODEL = wd.load_robot("double_pendulum")
SOFT = wd.SoftGround(0.5, 1e4, 150.0)


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
        ({"integrator": "rk4", "stops": "rows"}, "stops= acts implicitly"),
        ({"integrator": "heun", "speed_guard": True}, "speed_guard= acts implicitly"),
    ],
)
def test_words_and_options_that_an_integrator_lacks_raise(
    options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        StepOptions(**options).with_defaults()


def test_each_ground_has_its_own_memory_of_contacts() -> None:
    q, memory = np.zeros((3, 2)), np.zeros((3, 1, 3))
    points = (wd.ContactPoint(MODEL.link_names[-1], (0.0, 0.0, 0.0), 0.02),)
    for ground, name in ((wd.Ground(), "impulses"), (SOFT, "deformation")):
        options = StepOptions(ground=ground, **{name: memory})
        assert options.contact_memory == name
        array, shape = contact_arrays(MODEL, points, options, q)[name]
        assert array is memory and shape == (1, 3)
        assert contact_arrays(MODEL, (), StepOptions(ground=ground), q) == {}
        with pytest.raises(ValueError, match="needs points="):
            contact_arrays(MODEL, (), options, q)
    with pytest.raises(ValueError, match=r"on a wd\.SoftGround points have a deformation="):
        contact_arrays(MODEL, points, StepOptions(ground=SOFT, impulses=memory), q)
