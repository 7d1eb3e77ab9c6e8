"""Tables of the values of a large result. test_cpu checks how blocks of arrays are read and
written."""

from __future__ import annotations

import numpy as np
import pytest

import warpdyn as wd
from warpdyn.codegen import headers
from warpdyn.codegen import tiles as chosen
from warpdyn.codegen.tiles import (
    DIRECT,
    LONG,
    STAGED,
    STAGED_LATE,
    DistinctValues,
    InPlace,
    Tile,
    _stage,
    array_of,
)
from warpdyn.execution.request.evaluate import record_call
from warpdyn.recording.program import Output, Program


def record_function(function, model: wd.Model) -> Program:
    """The program of a function of q."""
    call = function.describe(model, np.zeros((1, model.nq)))
    return record_call(call, {"q": (model.nq,)}, False)


@pytest.mark.parametrize("function", [wd.crba, wd.fk])
@pytest.mark.parametrize("name", ["panda", "quadruped"])
def test_entries_share_a_slot_if_they_are_the_same_value(function, name: str) -> None:
    """The same node, sign and constant make the same value. Every slot is one of the tile's."""
    (outputs,) = record_function(function, wd.load_robot(name)).outputs_of.values()
    values = DistinctValues(Tile("r_out", (len(outputs),)), outputs)
    pairs = {
        (slot, (o.node, o.negative, o.constant))
        for slot, o in zip(values.slot, outputs, strict=True)
    }
    assert len(pairs) == values.slots == len({slot for slot, _ in pairs})
    assert {slot for slot, _ in pairs} == set(range(values.slots))
    assert values.slots < len(outputs)


def test_constants_come_last() -> None:
    """They are put into the tile once, and the program writes no other value among them."""
    outputs = [Output(None, 1.0), Output(5), Output(None, 0.0), Output(3), Output(None, 1.0)]
    values = DistinctValues(Tile("r_out", (5,)), outputs)
    assert values.slot == [2, 0, 3, 1, 2]
    tables, write = values.tables(False)
    puts = [line for line in tables if line.startswith("for (auto& tile")]
    assert [line.split("tile[")[1][0] for line in puts] == ["2", "3"]
    assert "rows_out" in write and "r_out_constant[] = {0, 2, 4}" in tables[-1]


def test_a_result_without_constants_has_no_table_of_them() -> None:
    """There is no constant to write and none to skip."""
    tables, write = DistinctValues(
        Tile("r_out", (2,)), [Output(1), Output(1, negative=True)]
    ).tables(True)
    assert write == "" and not [line for line in tables if "auto& tile" in line]
    assert "static const char r_out_still[] = {0};" in tables


def test_runs_of_constants_are_marked() -> None:
    """Each run of half as many entries as there are lanes has one mark: constants, zeros, or
    neither."""
    zeros, negative = [Output(None, 0.0)] * 7, Output(None, -0.0)
    outputs = [*zeros, Output(None, 0.0), Output(1), *zeros, *zeros, negative, Output(None, 2.0)]
    for single, wanted in ((False, "3, 3, 0, 3, 3, 1, 1"), (True, "3, 0, 1, 1")):
        tables, _ = DistinctValues(Tile("r_out", (25,)), outputs).tables(single)
        assert f"r_out_still[] = {{{wanted}}};" in tables[2]


def test_small_vectors_are_accessed_in_place() -> None:
    """All inputs are, and results of one trailing dimension up to DIRECT entries. Other results
    have a tile."""
    assert isinstance(array_of("r_tau", (DIRECT,)), InPlace)
    assert isinstance(array_of("r_tau", (DIRECT + 1,)), Tile)
    assert isinstance(array_of("r_M", (2, 2)), Tile)
    assert isinstance(array_of("a_T", (4, 4)), InPlace)
    values = DistinctValues(array_of("r_tau", (3,)), [Output(1), Output(1), Output(None, 0.0)])
    assert values.slot == [0, 1, 2]


@pytest.mark.parametrize(
    ("shape", "conditions", "loops"),
    [
        ((3, 2, 4), ["[12] == 8", "[13] == 4", "[14] == 1"], "3 2 4"),
        ((3, 1), ["[12] == 1"], "3 1 1"),
        ((2, 3), ["[12] == 3", "[13] == 1"], "2 3 1"),
        ((1,), [], "1 1 1"),
        ((), [], "1 1 1"),
    ],
)
def test_entries_are_dense_if_each_step_is_the_size_of_what_follows(
    shape: tuple[int, ...], conditions: list[str], loops: str
) -> None:
    """A dimension of one entry has no step. `even` allows any last step."""
    lines = [*array_of("a_x", shape).declare(10, 4, 2)]
    last = 12 + max(len(shape) - 1, 0)
    assert lines[0] == "const T* const a_x = (const T*)args[10];"
    assert lines[1] == f"const I64 a_x_env = args[11], a_x_step = args[{last}];"
    dense = " && ".join(f"args{each}" for each in conditions) or "true"
    even = " && ".join(f"args{each} * a_x_step" for each in conditions) or "true"
    assert lines[2] == f"const bool a_x_dense = {dense}, a_x_even = {even};"
    bounds = (
        f"for (I64 {i} = 0; {i} < {n}; ++{i})" for i, n in zip("xyz", loops.split(), strict=True)
    )
    assert lines[5].startswith(f"else {{ int k = 0; {' '.join(bounds)} a_x_offset[k++] = ")
    assert lines[5].endswith("= x * args[12] + y * args[13] + z * args[14]; }")


def test_only_long_results_over_an_input_are_compared_with_it() -> None:
    """Only lines that differ are then written."""
    for size, over, compare in (
        (LONG, "a_y", "(const T*)r_x == a_y"),
        (LONG - 1, "a_y", "false"),
        (LONG, None, "false"),
    ):
        assert f", {compare}, r_x_stage" in Tile("r_x", (size,), over).scatter()


def test_only_inputs_with_entries_are_gathered() -> None:
    for name, shape, gathers in (("a_x", (3,), 1), ("a_x", (0,), 0), ("r_x", (3,), 0)):
        lines = [*InPlace(name, shape).fill()]
        assert sum("Lanes::gather(" in line for line in lines) == gathers


def test_rows_of_medium_size_are_assembled_before_they_are_written() -> None:
    """From more entries than lanes up to STAGED_LATE. Beyond STAGED only batches that are larger than
    the last cache are."""
    for size, least in (
        (headers.lane_count(True), None),
        (headers.lane_count(True) + 1, 0),
        (STAGED, 0),
        (STAGED + 1, 1),
        (STAGED_LATE, 1),
        (STAGED_LATE + 1, None),
    ):
        stage = [*_stage("r_x", size)][-1]
        if least is None:
            assert stage == "Lanes::Stage* const r_x_stage = nullptr;"
        else:
            assert f"r_x_stage = stream > {least} && r_x_dense && r_x_env == {size} " in stage


def test_documented_numbers() -> None:
    """They are measured, or given by other software. Another value needs another reason."""
    assert chosen.DIRECT == 64
    assert chosen.STAGED == 128
    assert chosen.STAGED_LATE == 640
    assert chosen.LONG == 128
