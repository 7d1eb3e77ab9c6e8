"""The matrix of functions is true."""

from __future__ import annotations

import inspect

import gradient_cases

from docs_site import function_matrix
from warpdyn.execution.batched import FUNCTIONS

ROWS = {row.name: row for row in function_matrix.rows()}


def test_every_kernel_has_a_row() -> None:
    """It lists public functions of arrays, except those that belong to another function."""
    assert set(ROWS) == set(FUNCTIONS) - gradient_cases.OF_FUNCTIONS
    assert ROWS["rnea"].path == "rnea" and ROWS["convert_twist"].path == "convert.twist"


def test_the_matrix_lists_exactly_the_tested_gradients() -> None:
    """A function has a gradient in the table exactly if the tests differentiate it."""
    tested = {case.function for case in gradient_cases.CASES}
    told = {name for name, row in ROWS.items() if row.gradient}
    assert told == tested & set(ROWS)
    assert {name for name in ROWS if name not in told} == gradient_cases.NOT_DIFFERENTIABLE


def test_params_agree_with_the_signature() -> None:
    for name, row in ROWS.items():
        assert row.params == ("params" in inspect.signature(FUNCTIONS[name]).parameters), name
    assert ROWS["rnea"].params and not ROWS["integrate"].params


def test_the_page_has_every_row_and_cell() -> None:
    """Each row has a line with as many cells as there are columns."""
    lines = [line for line in function_matrix.page().splitlines() if line.startswith("| ")]
    assert len(lines) == len(ROWS) + 1
    assert len({line.count("|") for line in lines}) == 1
    assert ROWS["rnea"].libraries == ("NumPy", "Torch", "Warp", "JAX")
    assert ROWS["rnea"].devices == ("CPU", "CUDA")
