"""A written program: its arguments, and its translation units."""

from __future__ import annotations

from warpdyn.codegen.source import Source

SOURCE = Source(
    name="ours",
    code="first",
    inputs={"x": (2,), "y": (1,)},
    results={"out": (3,)},
    operations=4,
    bytes=20,
    target="cpu",
    translation_units=("second", "third"),
    numbers=("y",),
)


def test_the_full_source_has_every_translation_unit() -> None:
    """The units follow the kernel in the order of its calls."""
    assert SOURCE.full_source == "first\nsecond\nthird"


def test_a_translation_unit_is_a_source_of_its_own() -> None:
    """It has the arrays of the whole and no further units."""
    units = SOURCE.unit_sources
    assert [unit.code for unit in units] == ["second", "third"]
    assert all(unit.translation_units == () and unit.inputs == SOURCE.inputs for unit in units)


def test_numbers_follow_the_arrays() -> None:
    """Inputs that are passed by value have no address."""
    assert [name for name, _ in SOURCE.layout.arrays] == ["a_x", "a_y", "r_out"]
    assert list(SOURCE.layout.values) == ["a_y"]


def test_a_source_has_no_constant_results_and_one_warp_unless_stated() -> None:
    assert SOURCE.constant_bytes == SOURCE.shared_bytes == 0 and SOURCE.warps == 1
    assert not SOURCE.loops and SOURCE.tables == () and SOURCE.over == {}
