"""Results of a step: the fields of a model and its options."""

from __future__ import annotations

import numpy as np
import pytest

import warpdyn as wd
from warpdyn.functions.simulation.step_results import Step, StepOfRows, StepOfScene

ARM = wd.load_robot("panda")


@pytest.mark.parametrize(
    ("model", "stops", "form"),
    [
        (ARM, "none", Step),
        (ARM, "rows", StepOfRows),
        (ARM.with_friction(coulomb=1.0), "none", StepOfRows),
    ],
)
def test_the_result_of_a_step_has_the_fields_that_it_needs(
    model: wd.Model, stops: str, form: type
) -> None:
    """Impulses of joints only if joints have rows."""
    arrays = [np.zeros((1, n)) for n in (model.nq, model.nv, model.nv)]
    found = wd.step(model, *arrays, stops=stops)
    assert type(found) is form and found.deformation is found.impulses
    assert (found.joint_impulses is None) == (form is Step)
    scene = StepOfScene(*(np.full(1, k) for k in range(len(StepOfScene._fields))))
    assert scene.deformation is scene.impulses
    assert set(StepOfRows._fields) < set(StepOfScene._fields)
