"""Inputs and outputs of routines, copied by tables: the same values at the same places."""

from __future__ import annotations

import re

import numpy as np
import pytest

import warpdyn as wd
from warpdyn.codegen import lanes
from warpdyn.codegen import table_copies as chosen
from warpdyn.codegen.cpu_routines import PART, routines
from warpdyn.codegen.emit import Region
from warpdyn.codegen.partition import split_statements
from warpdyn.codegen.table_copies import COPY, PUT, copy_source, put_source, with_copies
from warpdyn.codegen.targets import write
from warpdyn.codegen.tiles import array_of
from warpdyn.execution.request.evaluate import record_call
from warpdyn.recording.order import Statement
from warpdyn.recording.program import Program


@pytest.fixture(scope="module")
def program() -> Program:
    """Derivatives of a floating robot, whose columns are solved by routines."""
    model = wd.load_robot("humanoid")
    q, v = np.zeros((1, model.nq)), np.zeros((1, model.nv))
    call = wd.aba_derivatives.describe(model, q, v, v)
    shapes = {"q": (model.nq,), "v": (model.nv,), "tau": (model.nv,)}
    recorded = record_call(call, shapes, True)
    assert recorded.routines
    return recorded


@pytest.fixture(scope="module")
def parts(program: Program) -> list[list[Statement]]:
    return split_statements(program.statements, PART, lambda s: s.operation == "input")[0]


def value_sources(parts: list[list[Statement]]) -> list[tuple]:
    """The source of each value that routines read, in order: a slot of the workspace, or a node."""
    found = []
    for part in parts:
        slots = {s.target: s.arguments[0] for s in part if s.operation == "recall"}
        copies: dict[int, tuple[str, int]] = {}
        reader: tuple = ()
        for s in part:
            if s.operation == COPY:
                reader, pairs = s.arguments[:2], s.arguments[2:]
                copies = {k: ("slot", n) for k, n in zip(pairs[::2], pairs[1::2], strict=True)}
            elif s.operation in ("frame", "call"):
                assert reader in ((), (s.arguments[0], s.operation == "call"))
                values = s.arguments[1 if s.operation == "frame" else 2 :]
                for k, x in enumerate(values):
                    known = ("slot", slots[x]) if x in slots and isinstance(x, int) else x
                    found.append((s.target, k, copies[k] if x is None else known))
                copies, reader = {}, ()
    return found


def test_routines_get_the_same_inputs(program: Program, parts: list[list[Statement]]) -> None:
    """The inputs come from the same slots or nodes, most of them by tables."""
    stored: set[int] = set()
    moved = [with_copies(program, part, stored) for part in parts]
    assert value_sources(moved) == value_sources(parts)
    tabled = sum(len(s.arguments) // 2 - 1 for part in moved for s in part if s.operation == COPY)
    assert tabled > len(value_sources(parts)) / 2


def test_every_output_is_stored_once(program: Program, parts: list[list[Statement]]) -> None:
    """It is stored by a table or directly after its value, from the right entry of the routine's
    results."""
    stored: set[int] = set()
    entries: list[int] = []
    made = {s.target: s for s in program.statements}
    for part in parts:
        for s in with_copies(program, part, stored):
            if s.operation == PUT:
                _, *rest = s.arguments
                for output, negative, k in zip(rest[::3], rest[1::3], rest[2::3], strict=True):
                    node = program.outputs[output].node
                    assert node is not None
                    assert (made[node].operation, made[node].arguments[2]) == ("of", k)
                    assert negative is program.outputs[output].negative
                    entries.append(output)
            elif s.target not in stored:
                stored.add(s.target)
                entries += program.stores.get(s.target, [])
    assert sorted(entries) == [k for k, o in enumerate(program.outputs) if o.node is not None]


def test_values_with_other_uses_are_still_declared(
    program: Program, parts: list[list[Statement]]
) -> None:
    """A part declares every value with which it computes."""
    for part in parts:
        kept = [s for s in part if s.operation not in ("recall", "of")]
        moved = with_copies(program, part, set())
        after = {s.target for s in moved}
        assert all(s.target in after for s in kept)
        for s in moved:
            if s.operation in ("add", "sub", "mul", "fma", "fms", "fnma"):
                assert all(x in after for x in s.arguments if isinstance(x, int))


def test_tables_contain_pairs_of_slots_and_entries() -> None:
    """A result of one dimension is stored in its place."""
    table = lanes.Constants(True)
    regions = {"routine0": Region("Lanes::routine0", "a", "b", "c")}
    dialect = lanes.in_lanes(table, lambda a, k: "", lambda k, x: "", regions)
    text = copy_source(Statement(-1, COPY, ("routine0", True, 3, 7, 4, 9)), dialect)
    assert "{3, 7, 4, 9}" in text and "Lanes::copy(b, work, pairs, 2);" in text
    large, small = array_of("r_x", (9, 9)), array_of("r_y", (4,))
    statement = Statement(-1, PUT, ("routine0", 0, False, "5", 1, True, "6", 2, True, "7"))
    text = put_source(statement, dialect, [(large, 11), (large, 12), (small, 2)])
    assert "{11, 5}; Lanes::put(r_x, r_x_place, r_x_now, c, pairs, 1, false);" in text
    assert "{12, 6}; Lanes::put(r_x, r_x_place, r_x_now, c, pairs, 1, true);" in text
    assert re.search(r"r_y \+ 2 \* .* = -\(c\)\[7\];", text)


def test_programs_without_routines_have_no_tables() -> None:
    """Their source does not change."""
    model = wd.load_robot("cartpole")
    q = np.zeros((1, model.nq))
    call = wd.crba.describe(model, q)
    source = write(record_call(call, {"q": (model.nq,)}, True), "crba", True, "cpu")
    assert " copy(" not in source.full_source and " put(" not in source.full_source
    assert "Lanes::copy(" not in source.code and "Lanes::put(" not in source.code


def test_a_program_with_routines_copies_by_tables(program: Program) -> None:
    """One table has the columns of each call, and at most one each of its results and signs."""
    code = write(program, "aba_derivatives", True, "cpu").full_source
    calls = sum(s.operation == "call" for s in program.statements)
    assert code.count(" copy(") == code.count(" put(") > 0
    assert code.count("Lanes::copy(") > calls / 2
    assert 0 < code.count("Lanes::put(") <= 2 * calls * len(program.results)
    assert routines(program, lanes.Constants(True), 0)[0].keys() == program.routines.keys()


def test_documented_numbers() -> None:
    """They are measured, or given by other software. Another value needs another reason."""
    assert chosen._BESIDE == {"frame": 1, "call": 2}
