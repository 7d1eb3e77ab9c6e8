"""Nested scopes: each has few variables, and sees all earlier ones."""

from __future__ import annotations

from warpdyn.codegen import scopes as chosen
from warpdyn.codegen.scopes import VARIABLES, in_scopes


def test_few_lines_need_no_scope() -> None:
    lines = [f"int x{k} = {k};" for k in range(VARIABLES)]
    assert list(in_scopes(lines)) == lines
    assert list(in_scopes([])) == []


def test_a_new_scope_begins_after_the_limit_of_lines() -> None:
    """It contains the next scope."""
    lines = [f"int x{k} = {k};" for k in range(2 * VARIABLES + 1)]
    found = list(in_scopes(lines))
    assert [line for line in found if line not in "{}}"] == lines
    assert [k for k, line in enumerate(found) if line == "{"] == [VARIABLES, 2 * VARIABLES + 1]
    assert found[-1] == "}}"


def test_no_scope_begins_inside_braces() -> None:
    """A branch of several lines is not divided."""
    lines = ["int x;"] * (VARIABLES - 1) + ["if (x) {", "x = 1;", "x = 2;", "}", "x = 3;"]
    found = list(in_scopes(lines))
    assert found[: VARIABLES + 3] == lines[:-1] and found[VARIABLES + 3 :] == ["{", "x = 3;", "}"]


def test_documented_numbers() -> None:
    """They are measured, or given by other software. Another value needs another reason."""
    assert chosen.VARIABLES == 500
