"""Configurations in other libraries' coordinates: each kind of entry, both directions, MuJoCo by
hand.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from robots import by_name
from states import states

import warpdyn as wd
from warpdyn.algorithms.configurations import convert_configuration
from warpdyn.execution.request.evaluate import tree_of
from warpdyn.model.conventions import column_map

ROUND_OFF = 1e-15
"""Absolute, of angles: one cosine, one sine and one arc tangent."""

ANGLES = np.linspace(-math.pi + 1e-9, math.pi, 41)


@pytest.mark.parametrize(
    "function, wanted",
    [
        ("same", lambda x: x),
        ("cos", math.cos),
        ("sin", math.sin),
    ],
)
def test_an_entry_is_a_function_of_a_scaled_coordinate(function: str, wanted) -> None:
    """The argument is the named column times a factor plus an offset, independent of the tree."""
    q = [0.3, -1.2, 2.0]
    found = convert_configuration(
        None, q, [(function, (2,), -0.5, 0.25), (function, (0,), 1.0, 0.0)]
    )  # type: ignore[arg-type]
    assert found == [wanted(2.0 * -0.5 + 0.25), wanted(0.3)]


def test_an_angle_is_recovered_from_cosine_and_sine() -> None:
    """The angle is recovered in every quadrant, also from a pair that is not of unit length."""
    entries = [("cos", (0,), 1.0, 0.0), ("sin", (0,), 1.0, 0.0)]
    for angle in ANGLES.tolist():
        pair = convert_configuration(None, [angle], entries)  # type: ignore[arg-type]
        for scale in (1.0, 3.0):
            (back,) = convert_configuration(
                None,
                [x * scale for x in pair],
                [("angle", (0, 1), 1.0, 0.0)],  # type: ignore[arg-type]
            )
            assert back == pytest.approx(angle, abs=4 * ROUND_OFF)


@pytest.mark.parametrize("library", ["mujoco", "newton", "drake", "pinocchio"])
@pytest.mark.parametrize("name", ["branches_wxyz", "mimic_chain", "axes"])
def test_entries_to_and_from_a_library_are_inverse(name: str, library: str) -> None:
    """Angles up to whole turns. Mimic joints are filled in."""
    model = by_name(name).model
    chosen, tree = column_map(model, library, None), tree_of(model)
    for q in states(model, 3).q.tolist():
        there = convert_configuration(tree, q, chosen.q_to)
        assert len(there) >= model.nq
        back = convert_configuration(tree, there, chosen.q_from)
        assert back == pytest.approx(q, abs=4 * ROUND_OFF)


def test_a_free_base_has_mujocos_coordinates() -> None:
    """Position, then w x y z, then the joints, for either order of the model's quaternion."""
    model = by_name("branches_wxyz").model
    q = states(model, 1).q[0]
    found = convert_configuration(
        tree_of(model), q.tolist(), column_map(model, "mujoco", None).q_to
    )
    assert found == q.tolist()
    assert model.quaternion == "wxyz"
    assert np.array_equal(found, wd.oracle(wd.convert.configuration, model, q, target="mujoco"))
