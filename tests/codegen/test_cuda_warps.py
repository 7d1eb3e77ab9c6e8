"""Blocks of several warps: which programs have them, and the contents of their code.
tests/cuda_device/test_warps_on_device.py compares their numbers with those of one warp."""

from __future__ import annotations

import re
from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from cut_programs import program_of
from every_statement import limbs

from warpdyn.codegen import cuda_warps
from warpdyn.codegen import cuda_warps as chosen
from warpdyn.codegen.cuda import STATIC_BYTES, CudaThread
from warpdyn.codegen.cuda_rows import LANES
from warpdyn.codegen.cuda_warps import CudaWarps, best_thread, is_fast_in_one_warp, thread_of_cut
from warpdyn.codegen.targets import FOR_FEW, write
from warpdyn.codegen.warp_cut import Dependencies
from warpdyn.codegen.warp_parts import places_of
from warpdyn.recording.order import values_alive
from warpdyn.recording.program import Program, record


@pytest.mark.parametrize(
    ("robot", "function", "is_cut"),
    [
        ("panda", "rnea", False),
        ("quadruped_floating", "rnea", True),
        ("humanoid_floating", "aba", True),
    ],
)
def test_programs_of_robots_with_limbs_are_divided_among_warps(
    robot: str, function: str, is_cut: bool
) -> None:
    thread = best_thread(program_of(robot, function), True)
    assert isinstance(thread, CudaWarps) == is_cut
    assert thread.staging.size * 4 <= STATIC_BYTES


def test_a_program_without_statements_has_one_warp() -> None:
    """Its results are inputs and constants, such as the velocities of joints as rates of q."""
    program = record(lambda q, v: [v[0], 1.0, v[1]], {"q": (2,), "v": (2,)})
    for target in ("cpu", "cuda"):
        assert write(program, "rates", True, target).warps == 1
    assert not isinstance(best_thread(program, True), CudaWarps)


def test_a_source_states_its_number_of_warps() -> None:
    program = program_of("quadruped_floating", "rnea")
    source = write(program, "rnea", True, "cuda_few")
    assert source.warps == 4 and f"bar.sync 1, {4 * LANES};" in source.code
    assert write(program_of("panda", "rnea"), "rnea", True, "cuda").warps == 1
    assert write(program, "rnea", True, "cpu").warps == 1


@pytest.mark.parametrize("single", [True, False])
def test_all_warps_reach_the_same_number_of_barriers(single: bool) -> None:
    program = program_of("quadruped_floating", "crba")
    needs = Dependencies(program)
    thread = next(
        filter(
            None,
            (thread_of_cut(program, single, cut, needs, STATIC_BYTES) for cut in needs.cuts(4)),
        )
    )
    _, *parts = thread.source().split("if (warp == ")
    assert len(parts) == 4 + 1  # the last one stores the constants
    barriers = {part.count("bar.sync") for part in parts[:4]}
    assert barriers == {thread.parts.phases}


def test_pieces_of_different_warps_share_memory_in_different_phases_only() -> None:
    program = program_of("quadruped_floating", "crba")
    needs = Dependencies(program)
    thread = next(
        filter(
            None, (thread_of_cut(program, True, cut, needs, STATIC_BYTES) for cut in needs.cuts(4))
        )
    )
    times = thread.parts.times()
    phases: dict[object, list[int]] = {}
    for k, time in enumerate(times):
        piece = thread.staging.piece_of(k)
        if piece is not None and time is not None:
            phases.setdefault(piece, []).append(time[0])
    placed = [piece for piece in thread.staging.pieces if piece.offset is not None]
    ranges = {p: np.arange(LANES * p.width) + (p.offset or 0) for p in placed}
    first_piece = LANES * thread.parts.slots
    for one, two in combinations(placed, 2):
        if one.warp != two.warp and np.intersect1d(ranges[one], ranges[two]).size:
            apart = max(phases[one]) < min(phases[two]) or max(phases[two]) < min(phases[one])
            assert apart
    assert all(r.min() >= first_piece for r in ranges.values())


@pytest.mark.parametrize(("robot", "function"), [("humanoid", "fk"), ("quadruped", "crba")])
def test_each_warp_has_the_angles_and_the_results_that_it_computes(
    robot: str, function: str
) -> None:
    """Some pieces of these results have no shared memory of their own. They pass through memory that no other piece
    has."""
    program = program_of(f"{robot}_floating", function)
    needs = Dependencies(program)
    cut = min(needs.cuts(4), key=lambda each: each.cost)
    thread = CudaWarps(program, True, cut, needs, 256, STATIC_BYTES)
    code = thread.source()
    for part in code.split("if (warp == ")[1:-1]:
        read = set(re.findall(r"sincos_near\(near(\d+)", part))
        assert set(re.findall(r"T near(\d+) = ", part)) == read
        assert ("far" in part) == bool(read)  # the humanoid's fourth warp has no angle
    outputs = [each for each in program.outputs if each.node is not None]
    assert all(f"= {'-' * each.negative}t{each.node};" in code for each in outputs)

    staging, places = thread.staging, places_of(cut)
    assert staging.relay is not None
    widest = max(piece.width for piece in staging.pieces if piece.offset is None)
    end_of_relay = staging.relay + thread.warps * LANES * widest
    for piece in staging.pieces:
        results = [o.node for k, o in enumerate(program.outputs) if staging.piece_of(k) is piece]
        # Each warp reads the inputs. The first one stores those that are results.
        nodes = [node for node in results if node is not None]
        computed = Counter(warp for node in nodes for warp in places.get(node, (0,)))
        assert computed[piece.warp] == max(computed.values())
        if piece.offset is not None:
            before_relay = piece.offset + LANES * piece.width <= staging.relay
            assert before_relay or piece.offset >= end_of_relay


def test_a_program_that_does_not_fit_has_one_warp() -> None:
    assert type(best_thread(program_of("quadruped_floating", "rnea"), True, 8 * 1024)) is CudaThread


def test_a_small_batch_may_request_more_shared_memory() -> None:
    """A program whose values do not fit into the memory of each block is then divided. Other
    programs do not change."""
    program = program_of("quadruped_floating", "rnea_derivatives")
    whole = best_thread(program, False)
    assert whole.warps == 1 and whole.asked_bytes == 0
    few = write(program, "derivatives", False, "cuda_few_220")
    assert few.warps > 1 and STATIC_BYTES < few.shared_bytes <= FOR_FEW["cuda_few_220"]
    assert "extern __shared__" in few.code
    rnea = program_of("quadruped_floating", "rnea")
    for target in FOR_FEW:
        source = write(rnea, "rnea", True, target)
        assert source.code == write(rnea, "rnea", True, "cuda_few").code
        assert source.warps == 4 and source.shared_bytes == 0


@pytest.mark.parametrize(
    ("robot", "function", "single", "warps"),
    [
        ("quadruped_floating", "rnea", True, 1),
        ("humanoid_floating", "rnea", True, 1),
        ("humanoid_floating", "rnea", False, 4),  # a double takes two registers
        ("quadruped_floating", "crba", True, 4),  # many results
        ("humanoid_floating", "aba", True, 2),  # many values
    ],
)
def test_many_environments_keep_short_programs_in_one_warp(
    robot: str, function: str, single: bool, warps: int
) -> None:
    program = program_of(robot, function)
    assert write(program, function, single, "cuda").warps == warps
    assert write(program, function, single, "cuda_few_220").warps == 4


def test_no_result_is_written_before_all_warps_have_read_their_inputs() -> None:
    """A result may overwrite an input."""
    program = program_of("quadruped_floating", "rnea")
    needs = Dependencies(program)
    thread = next(
        filter(
            None, (thread_of_cut(program, True, cut, needs, STATIC_BYTES) for cut in needs.cuts(4))
        )
    )
    _, *parts = thread.source().split("if (warp == ")
    for part in parts[:4]:
        front, _, _ = part.partition("bar.sync")
        assert "r_out" not in front and "stage" not in front


def test_documented_numbers() -> None:
    """They are measured, or given by other software. Another value needs another reason."""
    assert chosen.WARPS == 4
    assert chosen.FEWER_WARPS == 2
    assert chosen.GOOD_CUT == 0.6
    assert chosen.WORTH == 0.8
    assert chosen.SM_90_BYTES == 225_280
    assert chosen.SM_86_BYTES == 98_304
    assert chosen.REGISTERS == 255
    assert chosen.STATEMENTS_PER_RESULT == 10
    assert chosen.PIECE_BYTES == (256, 128)


def limbs_program() -> Program:
    return record(lambda x: limbs(x, None), {"x": (4,)})


def test_pieces_need_room_after_the_exchanged_values() -> None:
    """If no room is left, results have no place, so the division into warps is not used."""
    program = limbs_program()
    needs = Dependencies(program)
    (cut, *_) = needs.cuts(4)
    whole = thread_of_cut(program, True, cut, needs, STATIC_BYTES)
    assert whole is not None and whole.staging.pieces
    begin = whole._exchange + LANES * whole.parts.slots
    for size, fits in ((begin, False), (whole.staging.size - 1, None), (whole.staging.size, True)):
        found = thread_of_cut(program, True, cut, needs, 4 * size)
        if fits is not None:
            assert (found is not None) is fits
        if found is not None:
            assert found.staging.size <= size
            assert all(
                piece.offset is not None or found.staging.relay for piece in found.staging.pieces
            )


def test_the_number_of_live_values_decides_whether_one_warp_is_fast() -> None:
    """One warp is fast up to the registers of a thread, if at most one statement in ten is a
    result.
    """
    program = limbs_program()
    alive = values_alive(program.statements)
    assert is_fast_in_one_warp(program, True)
    with pytest.MonkeyPatch.context() as patch:
        for registers, fast in ((alive, True), (alive - 1, False)):
            patch.setattr(cuda_warps, "REGISTERS", registers)
            assert is_fast_in_one_warp(program, True) is fast
            patch.setattr(cuda_warps, "REGISTERS", 2 * registers + 1)
            assert is_fast_in_one_warp(program, False) is fast
    results = sum(output.node is not None for output in program.outputs)
    with pytest.MonkeyPatch.context() as patch:
        for few, fast in (
            (len(program.statements) // results, True),
            (len(program.statements) // results + 1, False),
        ):
            patch.setattr(cuda_warps, "STATEMENTS_PER_RESULT", few)
            assert is_fast_in_one_warp(program, True) is fast
