"""Division of programs among warps: each statement is computed after its operands, in few
phases."""

from __future__ import annotations

import pytest
from cut_programs import CASES, program_of

from warpdyn.algebra.scalar import repeat
from warpdyn.codegen import warp_cut as chosen
from warpdyn.codegen.warp_cut import BARRIER, Dependencies, _Closures, is_straight
from warpdyn.codegen.warp_parts import places_of
from warpdyn.recording.order import operands
from warpdyn.recording.program import record


@pytest.mark.parametrize("warps", [2, 4, 8])
@pytest.mark.parametrize(("robot", "function"), CASES)
def test_operands_come_before_their_use(robot: str, function: str, warps: int) -> None:
    """An operand is computed in an earlier phase, or earlier in the same warp. A warp leaves out no
    statement and computes none twice."""
    program = program_of(robot, function)
    needs = Dependencies(program)
    reads = {s.target: operands(s) for s in program.statements}
    for cut in needs.cuts(warps):
        places = places_of(cut)
        assert set(places) == set(needs.targets) and cut.warps == warps
        order = {target: n for n, target in enumerate(needs.targets)}
        for warp in range(warps):
            own = [target for phase in cut.phases for target in phase[warp]]
            assert len(set(own)) == len(own)
        for phase, parts in enumerate(cut.phases):
            for warp, part in enumerate(parts):
                assert list(part) == sorted(part, key=order.__getitem__)
                for x in {x for target in part for x in reads[target]} - needs.everywhere:
                    here = places[x].get(warp, phase + 1)
                    assert here <= phase or min(places[x].values()) < phase


def test_costs_count_statements_barriers_and_repetitions() -> None:
    """One part costs its statements. More parts also cost their barriers, and statements that are
    computed twice."""
    needs = Dependencies(program_of("quadruped_floating", "rnea"))
    one = needs.whole()
    assert one.longest == one.work == sum(needs.weights[target] for target in needs.targets)
    for cut in needs.cuts(4):
        assert cut.work >= one.work
        assert cut.longest >= cut.work / 4 + BARRIER * len(cut.phases)


def test_legs_are_computed_at_the_same_time() -> None:
    """Four legs on four warps take less than half of the time, with at most a quarter computed
    twice."""
    needs = Dependencies(program_of("quadruped_floating", "rnea"))
    one, best = needs.whole(), min(needs.cuts(4), key=lambda cut: cut.cost)
    assert best.longest < 0.5 * one.longest and best.work < 1.25 * one.work
    assert len(best.phases) <= 4


def test_independent_results_need_one_phase() -> None:
    def products(x: list) -> list:
        found = []
        for k in range(4):
            y = x[k]
            for n in range(100):
                y = y * y + float(n + k)
            found.append(y)
        return found

    needs = Dependencies(record(products, {"x": (4,)}))
    best = min(needs.cuts(4), key=lambda cut: cut.cost)
    assert len(best.phases) == 1 and best.work <= needs.whole().work + 4


def test_the_largest_closures_within_a_size() -> None:
    """A chain of three statements that cost two bits each, on one input, has closures of sizes 3, 5
    and 7. A limit includes its own size.
    """
    closures = _Closures([1, 2, 3], {1: [0], 2: [1], 3: [2]}, dict.fromkeys((1, 2, 3), 2))
    assert closures.size == {1: 3, 2: 5, 3: 7}
    assert closures.total == 6 and closures.statements == 0b111111
    assert [f"{closures.of[n]:b}" for n in (1, 2, 3)] == ["1000011", "1001111", "1111111"]
    sizes = (2.9, 3.0, 4.9, 5.0, 6.9, 7.0, 99.0)
    assert [closures.largest_within(x) for x in sizes] == [[], [1], [1], [2], [2], [3], [3]]


def test_programs_with_loops_are_not_divided() -> None:
    assert is_straight(record(lambda x: [x[0] * x[0]], {"x": (1,)}))
    assert not is_straight(
        record(lambda x: repeat(lambda s: [s[0] * x[0]], [x[0]], 3), {"x": (1,)})
    )


def test_documented_numbers() -> None:
    """They are measured, or given by other software. Another value needs another reason."""
    assert chosen.BARRIER == 60
    assert chosen.LATENCY == 467
    assert chosen.WEIGHTS == {
        "sin": 10,
        "cos": 10,
        "exp": 10,
        "log": 10,
        "rcp": 8,
        "sqrt": 8,
        "rsqrt": 12,
        "atan2": 40,
    }
    assert chosen.GROWTH == 1.35
    assert chosen.EAGERNESS == (1, 2.5, 7)
    assert chosen.LARGE == 10_000
    assert chosen.EAGERNESS_OF_LARGE == (2.5,)
