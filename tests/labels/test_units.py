"""Every function of a robot has a unit and a frame."""

from __future__ import annotations

import re

import warpdyn as wd
from warpdyn.execution.batched import FUNCTIONS
from warpdyn.labels.units import UNITS


def test_every_function_has_a_row_in_the_table() -> None:
    assert set(UNITS) == {name for name, each in FUNCTIONS.items() if each.of_a_model}
    assert all(each.unit and each.frame for each in UNITS.values())


def test_units_are_those_of_the_docstrings() -> None:
    """If a docstring gives the unit of the result, the row contains it."""
    for name, unit in (
        ("rnea", "N·m"),
        ("com_velocity", "m/s"),
        ("kinetic_energy", "J"),
        ("crba", "kg·m²"),
    ):
        doc = getattr(wd, name).__doc__
        assert unit in UNITS[name].unit and unit in doc[doc.index("Returns") :]


SYMBOLS = {"0", "1", "m", "s", "rad", "kg", "N", "J", "W", "per", "unit", "quaternions"}
OTHERS = "without rotation of q v a and x y z w or the in inertial parameter frame's acceleration"
WORDS = {*SYMBOLS, *OTHERS.split(), "product", "rows'", "units", "torques"}


def test_a_unit_has_symbols_and_a_frame_has_words() -> None:
    """Units and frames are not exchanged."""
    for name, each in UNITS.items():
        words = set(re.split(r"[ ,;:·/()²]+", each.unit)) - {""}
        assert words <= WORDS and words & SYMBOLS, name
        assert re.search("world|axes|frame|reference|target", each.frame), name
