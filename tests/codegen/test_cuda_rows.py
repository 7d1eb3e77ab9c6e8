"""Rows of arrays in shared memory: each entry is in one piece, and pieces that are alive at the
same time do not overlap."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, pairwise
from math import prod
from pathlib import Path

import numpy as np
import pytest
from cuda_on_host import needs_compiler, run, write_in_one_warp
from robots import by_name
from states import error, states

import warpdyn as wd
from warpdyn.codegen import cuda_rows as chosen
from warpdyn.codegen.cuda import CudaThread
from warpdyn.codegen.cuda_rows import (
    LANES,
    PIECE_BYTES,
    ROOM,
    ROOM_BESIDE_ARRAYS,
    SECTOR_BYTES,
    Room,
    Staging,
)
from warpdyn.execution.request.call import input_shapes
from warpdyn.execution.request.evaluate import record_call
from warpdyn.recording.program import Program, record


def program_of(name: str, function: str, *arrays: str) -> Program:
    model = by_name(name).model
    s = states(model, 2)
    call = getattr(wd, function).describe(model, *(getattr(s, x) for x in arrays))
    return record_call(call, input_shapes(call), True)


CASES = {
    "few numbers": ("panda", "rnea", "q", "v", "a"),
    "constants": ("panda", "fk", "q"),
    "more than shared memory": ("humanoid_floating", "crba", "q"),
}


def test_single_numbers_are_not_copied_to_shared_memory() -> None:
    """Neighbouring threads already read neighbouring numbers. The same holds for numbers that are
    passed by value."""
    program = record(
        lambda one, two, dt: [one[0] * two[0], two[1] * dt[0]],
        {"one": (1,), "two": (2,), "dt": (2,)},
    )
    staging = Staging(replace(program, numbers=("dt",)), 4, ROOM)
    staging.place_inputs()
    assert [(rows.array, rows.size) for rows in staging.inputs.values()] == [("a_two", 2)]


@pytest.mark.parametrize("room", [ROOM, ROOM_BESIDE_ARRAYS])
@pytest.mark.parametrize("number_bytes", [4, 8])
@pytest.mark.parametrize("case", CASES)
def test_pieces_cover_the_rows_and_do_not_overlap(case: str, number_bytes: int, room: Room) -> None:
    """They cover all entries that are not constant, in complete sectors of memory."""
    program = program_of(*CASES[case])
    staging = Staging(program, number_bytes, room)
    staging.place_inputs()
    assert staging.size * number_bytes <= room.inputs
    staging.place_results(program.statements)
    relay = LANES * max(piece.width for piece in staging.pieces) * number_bytes
    most = room.total if staging.relay is None else max(room.total, room.inputs + relay)
    assert staging.size * number_bytes <= most
    sector = SECTOR_BYTES // number_bytes
    entries = [(p.array, p.start + k) for p in staging.pieces for k in range(p.size)]
    assert len(set(entries)) == len(entries)
    assert all(
        p.start % sector == 0 and p.size * number_bytes <= PIECE_BYTES for p in staging.pieces
    )
    assert (staging.relay is not None) == any(p.offset is None for p in staging.pieces)
    if staging.relay is not None:  # no piece is in the shared memory that the others pass through
        end = staging.relay + relay // number_bytes
        assert staging.size >= end
        assert all(p.offset is None or p.offset >= end for p in staging.pieces)
    order = {s.target: n for n, s in enumerate(program.statements)}
    alive = {}
    for k, output in enumerate(program.outputs):
        piece = staging.piece_of(k)
        if output.node is None or piece is None:
            assert output.node is None or prod(program.results[program.places[k][0]]) == 1
            continue
        alive.setdefault(piece, []).append(order[output.node])
    inputs = sum(LANES * rows.width for rows in staging.inputs.values())
    for first, second in combinations([p for p in staging.pieces if p.offset is not None], 2):
        apart = max(alive[first]) < min(alive[second]) or max(alive[second]) < min(alive[first])
        low, high = sorted((first, second), key=lambda p: p.offset)  # type: ignore[arg-type, return-value]
        assert apart or low.offset + LANES * low.width <= high.offset  # type: ignore[operator]
    assert all(p.offset is None or p.offset >= inputs for p in staging.pieces)
    if (case, number_bytes, room) == ("constants", 4, ROOM):
        assert staging.relay is None  # all have room, since results of other times share memory


def test_at_most_four_lanes_share_a_memory_bank() -> None:
    """Lanes that access the same bank of shared memory wait for each other."""
    staging = Staging(program_of("humanoid_floating", "rnea", "q", "v", "a"), 4)
    staging.place_inputs()
    for rows in staging.inputs.values():
        banks = np.arange(LANES) * rows.width % LANES
        assert np.bincount(banks).max() <= 4 and rows.width >= rows.size


def test_inputs_are_adjacent_in_shared_memory() -> None:
    thread = CudaThread(program_of("panda", "rnea", "q", "v", "a"), True)
    offsets = [rows.offset for rows in thread.staging.inputs.values()]
    assert offsets == sorted(offsets) and len(offsets) == 3
    sizes = [LANES * rows.width for rows in thread.staging.inputs.values()]
    assert [b - a for a, b in pairwise(offsets)] == sizes[:-1]  # type: ignore[operator]


@needs_compiler
def test_rows_that_exceed_shared_memory_are_written(tmp_path: Path) -> None:
    """Most pieces of a mass matrix of 35 x 35 are first in the thread's own memory. The result is
    in rows, and in columns."""
    model = by_name("humanoid_floating").model
    s = states(model, 5)
    call = wd.crba.describe(model, s.q)
    source = write_in_one_warp(record_call(call, input_shapes(call), False), "crba", False)
    assert "_late" in source.code
    expected = wd.oracle(wd.crba, model, s.q)
    for side_by_side in (False, True):
        memory = np.full((5, model.nv, model.nv), np.nan)
        out = (
            np.moveaxis(np.full((model.nv, model.nv, 5), np.nan), -1, 0) if side_by_side else memory
        )
        folder = tmp_path / str(side_by_side)
        folder.mkdir()
        run(source, {"q": s.q}, out, folder=folder)
        assert error(out, expected) <= 1e-12


def test_documented_numbers() -> None:
    """They are measured, or given by other software. Another value needs another reason."""
    assert chosen.LANES == 32
    assert chosen.ROOM == (27648, 14336)
    assert chosen.ROOM_BESIDE_ARRAYS == (8192, 4096)
    assert chosen.SECTOR_BYTES == 32
    assert chosen.PIECE_BYTES == 256
