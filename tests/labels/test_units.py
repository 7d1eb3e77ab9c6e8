"""Every function of a robot has its unit and frame."""

from __future__ import annotations

import warpdyn as wd
from warpdyn.execution.batched import FUNCTIONS
from warpdyn.labels.units import UNITS


def test_every_function_has_a_row_and_every_row_a_function() -> None:
    assert set(UNITS) == {name for name, each in FUNCTIONS.items() if each.of_a_model}
    assert all(each.unit and each.frame for each in UNITS.values())


def test_units_are_those_of_the_docstrings() -> None:
    """Where a docstring has one behind what it returns, its words are in the row."""
    for name, unit in (
        ("rnea", "N·m"),
        ("com_velocity", "m/s"),
        ("kinetic_energy", "J"),
        ("crba", "kg·m²"),
    ):
        doc = getattr(wd, name).__doc__
        assert unit in UNITS[name].unit and unit in doc[doc.index("Returns") :]
