"""Every function of a robot has its unit and frame."""

from __future__ import annotations

import warpdyn as wd
from warpdyn.labels.units import UNITS


def test_every_function_has_a_row_and_every_row_a_function() -> None:
    public = {name: getattr(wd, name) for name in wd.__all__}
    assert set(UNITS) == {n for n, f in public.items() if getattr(f, "of_a_model", False)}
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
