"""A program divided into parts computes the same as the whole."""

from __future__ import annotations

import emitted_python
import numpy as np
import pytest

import warpdyn as wd
from warpdyn.algebra.scalar import floor, look
from warpdyn.codegen import partition
from warpdyn.codegen import partition as chosen
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
def test_parts_compute_the_same_bits_as_the_whole(program: Program, size: int) -> None:
    """They run one after the other and share only the workspace."""
    draw = np.random.default_rng(0)
    inputs = {name: draw.normal(size=shape) for name, shape in program.inputs.items()}
    whole, _ = emitted_python.run(program, [program.statements], inputs)
    parts, slots = split_statements(program.statements, size, is_input)
    cut, _ = emitted_python.run(program, parts, inputs, slots)
    assert cut == whole and not np.isnan(cut).any()


@pytest.mark.parametrize("size", SIZES)
def test_every_statement_is_in_one_part(program: Program, size: int) -> None:
    """The order is kept. Loads may be repeated in every part. Parts have about the requested
    size."""
    parts, _ = split_statements(program.statements, size, is_input)
    here = [s for part in parts for s in part if s.operation not in ("recall", "keep", "input")]
    assert here == [s for s in program.statements if not is_input(s)]
    assert len(parts) == max(1, round(len(program.statements) / size))


@pytest.mark.parametrize("size", SIZES)
def test_every_operand_is_defined_in_its_part(program: Program, size: int) -> None:
    """It is computed, loaded or read from the workspace before it is used, and only once."""
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


def test_slots_are_reused(program: Program) -> None:
    """More values are passed between parts than the workspace has slots. A single part has none."""
    for size in SIZES:
        parts, slots = split_statements(program.statements, size, is_input)
        kept = [s.arguments[0] for part in parts for s in part if s.operation == "keep"]
        assert set(kept) == set(range(slots))
        assert len(kept) > slots or len(parts) == 1


def test_corners_of_cells_have_slots_of_their_own() -> None:
    """Wherever a program is divided, corners are at the place of the look-up."""

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
        assert not kept & set(range(CORNER_SLOTS)) and min(kept, default=4) == CORNER_SLOTS == 4
        out, _ = emitted_python.run(program, parts, numbers, slots)
        assert out == pytest.approx(program.on_numbers(numbers)["out"], rel=1e-14)


def statement(target: int, *read: int | float, operation: str = "add") -> Statement:
    return Statement(target, operation, read)


def alive_before(statements: list[Statement]) -> list[int]:
    """Earlier values that a statement or a later one reads, counted one by one."""
    counts = []
    for n in range(len(statements) + 2):
        earlier = {s.target for s in statements[:n] if not is_input(s)}
        later = {x for s in statements[n:] for x in operands(s)}
        counts.append(len(earlier & later))
    return counts


def test_live_values_are_counted_correctly(program: Program) -> None:
    """Inputs do not count, because they are loaded again."""
    statements = program.statements[:300]
    assert partition._alive(statements, is_input) == alive_before(statements)


def test_cuts_are_at_the_fewest_live_values(program: Program) -> None:
    """Each cut is within half a part around an even cut, at the first such place. No cut is outside
    or occurs twice."""
    statements, size = program.statements, 100
    alive = alive_before(statements)
    bounds = partition._bounds(statements, size, is_input)
    total, number = len(statements), round(len(statements) / size)
    assert [start for start, _ in bounds] == [0, *(stop for _, stop in bounds[:-1])]
    assert bounds[-1][1] == total and len(bounds) == number > 3
    before = 0
    for k, (start, _) in enumerate(bounds[1:], 1):
        even = total * k // number
        places = range(max(even - size // 2, before + 1), even + size // 2)
        assert start == min(places, key=alive.__getitem__)
        before = start


def test_no_part_is_empty() -> None:
    """This is checked for many numbers of statements and sizes."""
    for size in range(1, 12):
        for count in range(1, 60):
            chain = [statement(k, *([k - 1] if k else [])) for k in range(count)]
            bounds = partition._bounds(chain, size, is_input)
            assert all(start < stop for start, stop in bounds)
            assert [*range(count)] == [k for bound in bounds for k in range(*bound)]


def test_a_value_keeps_its_slot_until_its_last_use() -> None:
    """Its slot is free in the part after that, not before."""
    statements = [statement(k, *([k - 1] if k else [])) for k in range(4)]
    statements += [statement(4, 0, 3), statement(5, 4), statement(6, 5), statement(7, 6, 0)]
    parts, slots = split_statements(statements, 2, is_input)
    kept = [s for part in parts for s in part if s.operation == "keep"]
    recalled = [(k, s) for k, part in enumerate(parts) for s in part if s.operation == "recall"]
    assert len(parts) == 4 and slots == 3
    assert [s.arguments for s in kept if s.target == 0] == [(kept[0].arguments[0],)]
    assert max(k for k, s in recalled if s.target == 0) == len(parts) - 1
    own = {s.arguments[0] for s in kept if s.target == 0}
    assert not own & {s.arguments[0] for s in kept if s.target != 0}


def test_a_program_of_one_statement_is_one_part() -> None:
    for count in (0, 1, 2):
        statements = [statement(k, 1.0, 2.0) for k in range(count)]
        assert split_statements(statements, 1000, is_input) == ([statements], 0)


def test_documented_numbers() -> None:
    """They are measured, or given by other software. Another value needs another reason."""
    assert chosen.CORNER_SLOTS == 4
