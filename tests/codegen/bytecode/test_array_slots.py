"""Slots of arrays: rows are adjacent, and loops share them with the program that makes the
array."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from warpdyn.algebra.row_arrays import RowArray, loop
from warpdyn.codegen.bytecode import array_slots
from warpdyn.codegen.bytecode.array_slots import ArraySlots
from warpdyn.codegen.bytecode.encode import encode
from warpdyn.codegen.bytecode.instructions import AT_ROW, NUMBER, WORDS
from warpdyn.codegen.targets import describe
from warpdyn.execution.compile.bytecode_checks import check
from warpdyn.recording.array_operations import BEGUN, GIVEN, KEPT_ROWS
from warpdyn.recording.graph import COLUMN
from warpdyn.recording.program import Program, record


def halve_rows(x: list) -> list:
    """Each row becomes half of the row at an index. One row has a constant index."""
    a = RowArray([[x[0], 1.0], [x[1], 2.0], [3.0, x[2]]])

    def step(k: Any, state: list, _: Any) -> list:
        a[k] = [0.5 * y for y in a[state[0]]]
        a[2] = [a[1][0], k]
        return [state[0] + 1.0]

    loop(3, step, [x[2]], [a])
    return [*a[0], *a[2]]


def program() -> Program:
    return record(halve_rows, {"x": (3,)})


def test_all_rows_of_an_array_are_in_one_block_of_slots() -> None:
    """All instructions on rows name entries of the same six slots."""
    bytecode = encode(program())
    code = np.array(bytecode.code).reshape(-1, WORDS)
    named = {
        int(line[1 if AT_ROW[name] == "d" else 2])
        for name in AT_ROW
        for line in code[code[:, 0] == NUMBER[name]]
    }
    assert max(named) - min(named) == 1  # entries 0 and 1 of row 0
    (fixed,) = {int(line[1]) for line in code if line[0] == NUMBER["move_s"]} & {min(named) + 4}
    assert fixed + 1 < bytecode.slots


def test_rows_outside_the_slots_are_refused() -> None:
    """An instruction may not have more rows than there are, nor none."""
    source = describe(program(), "halve_rows", True, "cpu")
    check(encode(program()), source)
    for rows in (0, 1 << 20):
        bytecode = encode(program())
        numbers = [NUMBER[name] for name in AT_ROW]
        first = next(k for k in range(0, len(bytecode.code), WORDS) if bytecode.code[k] in numbers)
        bytecode.code[first + WORDS + 2] = rows
        with pytest.raises(ValueError, match="outside of the program"):
            check(bytecode, source)


def test_each_kind_of_array_has_its_first_slot(monkeypatch: pytest.MonkeyPatch) -> None:
    """A loop's copies lie behind its results and behind what it keeps of each step."""
    monkeypatch.setattr(array_slots, "new_arrays", lambda program: {4: 10})
    nodes = {4: ("", ()), 1: (GIVEN, (1,)), 2: (KEPT_ROWS, ("", 7)), 3: (BEGUN, ("run", 0, 1))}
    arrays = [SimpleNamespace(size=size, is_written=size == 6) for size in (4, 6)]
    for kept, copies in ((False, 3), (True, 3 + 2 * (2 + 6))):
        repetition = SimpleNamespace(times=2, kept=kept)
        sizes = {"inputs": {COLUMN: (2,)}, "results": {"out": (3,)}}
        routine = SimpleNamespace(arrays=arrays, repetition=repetition, **sizes)
        roots = {root: SimpleNamespace(root=root) for root in nodes}
        graph = SimpleNamespace(nodes=nodes, arrays=roots)
        program: Any = SimpleNamespace(graph=graph, routines={"run": routine})
        to: Any = SimpleNamespace(new_slots=lambda size: 1000 + size)
        regions = {"run": SimpleNamespace(out=100)}
        slots = ArraySlots(to, program, regions, given=[20, 30], kept=50)
        assert [slots.first(each) for each in nodes] == [1010, 30, 57, 100 + copies + 4]
