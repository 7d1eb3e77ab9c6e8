"""The vector of integers that gives a kernel the addresses and strides of its arrays."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from warpdyn.codegen import arguments as chosen
from warpdyn.codegen.arguments import (
    FIELDS,
    HEADER,
    ArgumentLayout,
    input_identifier,
    result_identifier,
)

LAYOUT = ArgumentLayout({"q": (7,), "f_ext:hand": (6,), "out": ()}, {"out": (7, 4, 4)})


@given(st.text(), st.text())
def test_different_names_have_different_identifiers(one: str, other: str) -> None:
    """Names of arrays may contain any characters. In C++ inputs and results have different
    identifiers, too."""
    assert (input_identifier(one) == input_identifier(other)) is (one == other)
    assert input_identifier(one) != result_identifier(other)
    for identifier in (input_identifier(one), result_identifier(one)):
        assert re.fullmatch(r"[A-Za-z_][A-Za-z_0-9]*", identifier)


def test_fields_of_arrays_fill_the_vector_without_gaps() -> None:
    """Each array has its own fields, inputs come before results."""
    names = [name for name, _ in LAYOUT.arrays]
    assert names == ["a_q", "a_f_5f_ext_3a_hand", "a_out", "r_out"]
    taken = [LAYOUT.position(name) + k for name in names for k in range(FIELDS)]
    assert taken == list(range(len(HEADER), LAYOUT.length))


def test_an_input_and_a_result_of_the_same_name_have_separate_shapes() -> None:
    """An input and a result of one name keep a shape each."""
    shapes = dict(LAYOUT.arrays)
    assert shapes["a_out"] == () and shapes["r_out"] == (7, 4, 4)


def test_numbers_follow_the_fields() -> None:
    """Inputs that are passed by value lengthen the vector. Positions of arrays do not change."""
    by_value = ArgumentLayout(LAYOUT.inputs, LAYOUT.results, ("f_ext:hand", "out"))
    assert [by_value.position(name) for name, _ in by_value.arrays] == [
        LAYOUT.position(name) for name, _ in LAYOUT.arrays
    ]
    first, second = by_value.values.values()
    assert [*by_value.values] == ["a_f_5f_ext_3a_hand", "a_out"]
    assert [*first, *second] == list(range(LAYOUT.length, by_value.length))
    assert len(first) == 6 and len(second) == 1


def test_documented_numbers() -> None:
    """They are measured, or given by other software. Another value needs another reason."""
    assert chosen.FIELDS == 5
