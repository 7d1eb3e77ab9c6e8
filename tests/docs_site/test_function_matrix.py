"""The matrix says what is so."""

from __future__ import annotations

import inspect

import gradient_cases

from docs_site import function_matrix
from warpdyn.execution.batched import FUNCTIONS

ROWS = {row.name: row for row in function_matrix.rows()}


def test_every_kernel_has_a_row() -> None:
    """Public functions of arrays, but for those of another function."""
    assert set(ROWS) == set(FUNCTIONS) - gradient_cases.OF_FUNCTIONS
    assert ROWS["rnea"].path == "rnea" and ROWS["convert_twist"].path == "convert.twist"


def test_gradients_are_those_that_are_tested() -> None:
    """A function has a gradient in the table exactly if the tests differentiate it."""
    tested = {case.function for case in gradient_cases.CASES}
    told = {name for name, row in ROWS.items() if row.gradient}
    assert told == tested & set(ROWS)
    assert {name for name in ROWS if name not in told} == gradient_cases.NOT_DIFFERENTIABLE


def test_params_are_those_of_the_signature() -> None:
    for name, row in ROWS.items():
        assert row.params == ("params" in inspect.signature(FUNCTIONS[name]).parameters), name
    assert ROWS["rnea"].params and not ROWS["integrate"].params


def test_the_page_has_all_of_it() -> None:
    """A line for each row, as many cells as there are columns."""
    lines = [line for line in function_matrix.page().splitlines() if line.startswith("| ")]
    assert len(lines) == len(ROWS) + 1
    assert len({line.count("|") for line in lines}) == 1
    assert ROWS["rnea"].libraries == ("NumPy", "Torch", "Warp", "JAX")
    assert ROWS["rnea"].devices == ("CPU", "CUDA")
