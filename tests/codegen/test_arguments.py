"""The vector of integers that tells a kernel where its arrays lie."""

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
def test_other_names_are_other_identifiers(one: str, other: str) -> None:
    """Names of arrays, which may hold anything, stay apart in C++, inputs and results too."""
    assert (input_identifier(one) == input_identifier(other)) is (one == other)
    assert input_identifier(one) != result_identifier(other)
    for identifier in (input_identifier(one), result_identifier(one)):
        assert re.fullmatch(r"[A-Za-z_][A-Za-z_0-9]*", identifier)


def test_fields_fill_the_vector() -> None:
    """Each array has its fields to itself, inputs before results, and none is left over."""
    names = [name for name, _ in LAYOUT.arrays]
    assert names == ["a_q", "a_f_5f_ext_3a_hand", "a_out", "r_out"]
    taken = [LAYOUT.position(name) + k for name in names for k in range(FIELDS)]
    assert taken == list(range(len(HEADER), LAYOUT.length))


def test_shapes_are_those_of_the_arrays() -> None:
    """An input and a result of one name keep a shape each."""
    shapes = dict(LAYOUT.arrays)
    assert shapes["a_out"] == () and shapes["r_out"] == (7, 4, 4)


def test_numbers_follow_the_fields() -> None:
    """The vector grows by the inputs that are passed by value; positions of arrays stay the same."""
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
