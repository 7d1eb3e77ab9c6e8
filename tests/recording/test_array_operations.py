"""Operations on arrays, by name."""

from __future__ import annotations

from warpdyn.recording.array_operations import ARRAY_OPERATIONS, NEW, READS, WRITES, values_read
from warpdyn.recording.number_operations import ON_NUMBERS


def test_operations_on_arrays_have_unique_names() -> None:
    """None is an operation on numbers."""
    assert not set(ARRAY_OPERATIONS) & {*ON_NUMBERS, "input", "frame", "call", "of"}
    assert {*READS, *WRITES, *NEW} < set(ARRAY_OPERATIONS)


def test_values_read_excludes_arrays_and_sizes() -> None:
    """An index is a value. An unchanged entry is text."""
    assert list(values_read("read", (7, "1", 3))) == [3]
    assert list(values_read("scatter", (7, 2, "", 5, 0.5))) == [2, "", 5, 0.5]
    assert list(values_read("rows", ("array0", "2", 4, 0.0))) == [4, 0.0]
    assert not values_read("lend", ("routine0", 3, 4)) and not values_read(
        "left", ("routine0", 3, "0")
    )
