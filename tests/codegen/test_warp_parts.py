"""Statements of each warp: values are exchanged through slots, which are not overwritten too
early."""

from __future__ import annotations

from itertools import combinations
from random import Random

import pytest
from cut_programs import CASES, program_of

from warpdyn.codegen.warp_cut import Dependencies, WarpCut
from warpdyn.codegen.warp_parts import FETCH, PUT, STORE, WarpParts, places_of, share_slots
from warpdyn.recording.order import operands
from warpdyn.recording.program import Program


def owners_of(program: Program, cut: WarpCut) -> list[int | None]:
    """Random warps that store the outputs."""
    draw = Random(0)
    return [None if o.node is None else draw.randrange(cut.warps) for o in program.outputs]


@pytest.mark.parametrize(("robot", "function"), CASES)
def test_each_warp_has_its_operands(robot: str, function: str) -> None:
    """A simulated run through the phases finds each value that is read in its slot. It stores each
    output once.
    """
    program = program_of(robot, function)
    needs = Dependencies(program)
    for cut in needs.cuts(4):
        owners = owners_of(program, cut)
        parts = WarpParts(program, cut, needs, owners)
        have = [{s.target for s in front} for front in parts.front]
        slots: dict[int, int] = {}
        stored = set()
        for phase in range(parts.phases):
            written: dict[int, int] = {}
            for warp in range(4):
                for s in parts.statements[warp][phase]:
                    if s.operation == FETCH:
                        assert slots[s.arguments[0]] == s.target
                    elif s.operation == PUT:
                        assert s.target in have[warp] and s.arguments[0] not in written
                        written[s.arguments[0]] = s.target
                    elif s.operation == STORE:
                        assert s.target in have[warp]
                        stored.add((warp, s.target))
                    elif s.operation != "input":
                        assert have[warp].issuperset(operands(s))
                    have[warp].add(s.target)
            read = {
                s.arguments[0]
                for warp in range(4)
                for s in parts.statements[warp][phase]
                if s.operation == FETCH
            }
            assert not read & written.keys(), "a slot is read and written in one phase"
            slots |= written
        for output, warp in zip(program.outputs, owners, strict=True):
            if output.node is not None:
                assert warp is not None
                computes = warp in places_of(cut).get(output.node, {})
                assert computes != ((warp, output.node) in stored)


def test_times_follow_the_phases() -> None:
    program = program_of("quadruped_floating", "crba")
    needs = Dependencies(program)
    (cut, *_) = needs.cuts(4)
    owners = owners_of(program, cut)
    parts = WarpParts(program, cut, needs, owners)
    for output, owner, time in zip(program.outputs, owners, parts.times(), strict=True):
        assert (time is None) == (output.node is None)
        if time is not None and output.node not in needs.everywhere:
            places = parts.places[output.node]
            assert time[0] == places.get(owner, min(places.values()) + 1)


def test_early_inputs_come_first() -> None:
    """Inputs that are not in shared memory are read before the first barrier, by each warp that
    needs them."""
    program = program_of("panda", "rnea")
    needs = Dependencies(program)
    (cut, *_) = needs.cuts(2)
    early = {s.target for s in program.statements if s.operation == "input"}
    parts = WarpParts(program, cut, needs, owners_of(program, cut), early)
    for front, phases in zip(parts.front, parts.statements, strict=True):
        assert not [s for part in phases for s in part if s.operation == "input"]
        assert early & {s.target for s in front}


def test_values_that_are_not_alive_together_share_slots() -> None:
    draw = Random(1)
    spans = {}
    for value in range(100):
        begin = draw.randrange(8)
        spans[value] = begin, begin + draw.randrange(1, 4)
    slot, count = share_slots(spans)
    for a, b in combinations(spans, 2):
        if slot[a] == slot[b]:
            assert spans[a][1] < spans[b][0] or spans[b][1] < spans[a][0]
    most = max(sum(a <= t <= b for a, b in spans.values()) for t in range(12))
    assert count == most
