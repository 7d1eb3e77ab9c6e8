"""A program cut into parts computes what it computed whole."""

from __future__ import annotations

import emitted_python
import numpy as np
import pytest

import warpdyn as wd
from warpdyn.algebra.scalar import floor, look
from warpdyn.codegen.partition import CORNER_SLOTS, split_statements
from warpdyn.execution.request.evaluate import record_call
from warpdyn.recording.order import Statement, operands
from warpdyn.recording.program import Program, record


@pytest.fixture(scope="module")
def program() -> Program:
    """Forward dynamics of an arm."""
    model = wd.load_robot("panda")
    q, v = np.zeros((1, model.nq)), np.zeros((1, model.nv))
    call = wd.aba.describe(model, q, v, v)
    return record_call(call, {"q": (model.nq,), "v": (model.nv,), "tau": (model.nv,)}, False)


def is_input(statement: Statement) -> bool:
    return statement.operation == "input"


SIZES = (20, 100, 250, 10_000)


@pytest.mark.parametrize("size", SIZES)
def test_parts_compute_what_the_whole_computes(program: Program, size: int) -> None:
    """Run one after the other, with nothing in common but the workspace: the same bits."""
    draw = np.random.default_rng(0)
    inputs = {name: draw.normal(size=shape) for name, shape in program.inputs.items()}
    whole, _ = emitted_python.run(program, [program.statements], inputs)
    parts, slots = split_statements(program.statements, size, is_input)
    cut, _ = emitted_python.run(program, parts, inputs, slots)
    assert cut == whole and not np.isnan(cut).any()


@pytest.mark.parametrize("size", SIZES)
def test_every_statement_is_in_one_part(program: Program, size: int) -> None:
    """In their order, loads apart, which every part may repeat; parts have about the size asked for."""
    parts, _ = split_statements(program.statements, size, is_input)
    here = [s for part in parts for s in part if s.operation not in ("recall", "keep", "input")]
    assert here == [s for s in program.statements if not is_input(s)]
    assert len(parts) == max(1, round(len(program.statements) / size))


@pytest.mark.parametrize("size", SIZES)
def test_a_part_knows_its_operands(program: Program, size: int) -> None:
    """Computed, loaded or recalled in the part itself, before they are read, and no more than once."""
    parts, slots = split_statements(program.statements, size, is_input)
    for part in parts:
        known: set[int] = set()
        for s in part:
            if s.operation == "keep":
                assert s.target in known and 0 <= s.arguments[0] < slots
                continue
            assert set(operands(s)) <= known or s.operation in ("recall", "input")
            assert s.target not in known
            known.add(s.target)


def test_slots_are_used_again(program: Program) -> None:
    """More values cross cuts than the workspace holds; one part keeps none."""
    for size in SIZES:
        parts, slots = split_statements(program.statements, size, is_input)
        kept = [s.arguments[0] for part in parts for s in part if s.operation == "keep"]
        assert set(kept) == set(range(slots))
        assert len(kept) > slots or len(parts) == 1


def test_corners_of_cells_have_slots_of_their_own() -> None:
    """Wherever a program is cut, corners are where the look-up has left them."""

    def text(x, t):
        total = x[0]
        for _ in range(6):
            i, j = floor(total), floor(total * x[1])
            corners = [look(t, a, b) for a in (i, i + 1.0) for b in (j, j + 1.0)]
            total = total * x[1] + sum(
                c * w for c, w in zip(corners, (0.3, 0.1, 0.2, 0.4), strict=True)
            )
        return [total]

    program = record(text, {"x": (2,), "t": (2, 3)}, tables=("t",))
    numbers = {"x": [0.4, 0.9], "t": [[1.0, 2.0, 0.5], [-1.0, 3.0, 0.2]]}
    for size in (3, 7, 1000):
        parts, slots = split_statements(program.statements, size, lambda s: s.operation == "input")
        kept = {s.arguments[0] for part in parts for s in part if s.operation == "keep"}
        assert not kept & set(range(CORNER_SLOTS))
        out, _ = emitted_python.run(program, parts, numbers, slots)
        assert out == pytest.approx(program.on_numbers(numbers)["out"], rel=1e-14)
