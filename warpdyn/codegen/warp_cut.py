"""A program cut into parts that several warps of a CUDA block compute at the same time.

The parts follow from the program's dependencies: the legs of a robot, for example, depend on the
base but not on each other, and the columns of a derivative do not depend on each other. The cut has
*phases*, with a barrier between two of them. In a phase, a warp computes statements that need
nothing from the other warps' statements of the same phase. Values of earlier phases come through
shared memory, unless the warp has computed them itself. Cheap values are computed by several warps.

This is a greedy schedule in supersteps (Valiant, A bridging model for parallel computation, 1990).
Each statement has a *closure*: the statements that it needs and that no phase has computed. A phase
takes whole closures of up to a certain size. The size is the one with which most statements are
computed per cycle.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import NamedTuple

from ..recording.array_operations import ARRAY_OPERATIONS
from ..recording.order import CELL, operands
from ..recording.program import Program
from ..recording.table import LOOK

BARRIER = 60
"""Cost of a phase in statements: the barrier, and the first value that comes through shared memory."""

LATENCY = 467
"""Statements for which a warp could wait while its inputs come from memory: 700 cycles with 1.5
cycles for each statement (benchmarks/cuda_model.py)."""

WEIGHTS = {
    **dict.fromkeys(("sin", "cos", "exp", "log"), 10),
    **dict.fromkeys(("rcp", "sqrt"), 8),
    "rsqrt": 12,
    "atan2": 40,
}
"""Cost of statements that take several instructions; all other statements cost 1."""

GROWTH = 1.35
"""Ratio of the sizes of closures that are tried."""

EAGERNESS = (1, 2.5, 7)
"""Costs of a barrier that are tried, in BARRIERs: with a higher one there are fewer phases."""

LARGE, EAGERNESS_OF_LARGE = 10000, (2.5,)
"""Statements of a large program, and the one cost that is tried for it, because each cut takes seconds."""


@dataclass(frozen=True)
class WarpCut:
    """Parts of a program. Inputs, and angles that follow from them, belong to no part: each warp
    reads the ones that it needs."""

    phases: tuple[tuple[tuple[int, ...], ...], ...]
    """Targets of the statements by phase and warp, in the program's order. Cheap statements may be
    in several warps."""
    longest: int
    """Cost of the longest warp of each phase, and of the barriers."""
    work: int
    """Cost of all warps."""

    @property
    def warps(self) -> int:
        """Warps of a block."""
        return len(self.phases[0])

    @property
    def cost(self) -> float:
        """The product of the times of a small batch, which waits for the longest warps, and of a
        large batch, which keeps all of them busy."""
        return (LATENCY + self.longest) * self.work


def is_straight(program: Program) -> bool:
    """True if a program has neither routines, nor arrays, nor tables, nor random numbers, so that
    it can be cut."""
    apart = ("frame", "call", LOOK, CELL, "uniform", *ARRAY_OPERATIONS)
    return not any(s.operation in apart for s in program.fused_statements.values())


class Dependencies:
    """The costs of a program's statements, and their dependencies."""

    def __init__(self, program: Program):
        angles = set(program.angles)
        self.reads = {
            s.target: ()
            if s.operation in ("sin", "cos") and s.arguments[0] in angles
            else operands(s)
            for s in program.statements
        }
        """Nodes that each statement reads. Sines and cosines of angles need none, because each warp has
        all angles that it needs."""
        inputs = {s.target for s in program.statements if s.operation == "input"}
        self.everywhere = inputs | {s.target for s in program.angle_statements}
        """Inputs, and the statements that the angles which follow from them need."""
        self.targets = [s.target for s in program.statements if s.target not in self.everywhere]
        """All other statements, in order."""
        self.weights = {s.target: WEIGHTS.get(s.operation, 1) for s in program.statements}

    def cuts(self, warps: int) -> Iterator[WarpCut]:
        """Different cuts of the program."""
        for eagerness in EAGERNESS if len(self.targets) < LARGE else EAGERNESS_OF_LARGE:
            yield _GreedySchedule(self, warps, eagerness * BARRIER).cut()

    def whole(self) -> WarpCut:
        """The program in one part."""
        total = sum(map(self.weights.__getitem__, self.targets))
        return WarpCut(((tuple(self.targets),),), total, total)


class _Phase(NamedTuple):
    """The work of the warps in a phase: the bits of their closures, and their costs."""

    closures: list[int]
    loads: list[int]


class _GreedySchedule:
    """The greedy schedule."""

    def __init__(self, needs: Dependencies, warps: int, barrier: float):
        self.needs, self.warps, self.barrier = needs, warps, barrier
        self.held: list[set[int]] = [set() for _ in range(warps)]
        """Values that each warp has computed or read."""

    def cut(self) -> WarpCut:
        """The phases, until nothing is left."""
        left, phases, longest, work = self.needs.targets, [], 0.0, 0
        while left:
            closures = _Closures(left, self.needs.reads, self.needs.weights)
            phase = self._best_phase(closures)
            parts = [closures.statements_in(mask) for mask in phase.closures]
            for part, mask, held in zip(parts, phase.closures, self.held, strict=True):
                held.update(part, closures.leaves_in(mask))
            phases.append(tuple(map(tuple, parts)))
            longest += max(phase.loads) + BARRIER
            work += sum(phase.loads)
            taken = {target for part in parts for target in part}
            left = [target for target in left if target not in taken]
        return WarpCut(tuple(phases), int(longest), work)

    def _best_phase(self, closures: _Closures) -> _Phase:
        """The phase that computes most per cycle."""
        best, most = None, 0.0
        held = [closures.leaf_bits(values) for values in self.held]
        for size in reversed(list(closures.sizes_to_try(self.warps))):
            computed = min(self.warps * size, closures.total)
            if computed <= most * (self.barrier + 2 * computed / self.warps):
                continue  # the bound if all warps were full and nothing were computed twice
            candidates = closures.largest_within(size)
            for ordered in (candidates, sorted(candidates, key=lambda i: -closures.size[i])):
                phase = self._fill(closures, ordered, size, held)
                rate = self._rate(closures, phase)
                if rate > most:
                    best, most = phase, rate
        assert best is not None, "the smallest closure is a single statement, which fits"
        return best

    def _rate(self, closures: _Closures, phase: _Phase) -> float:
        union = 0
        for mask in phase.closures:
            union |= mask
        computed = (union & closures.statements).bit_count()
        return computed / (self.barrier + max(phase.loads) + sum(phase.loads) / self.warps)

    def _fill(
        self, closures: _Closures, candidates: Sequence[int], size: float, held: Sequence[int]
    ) -> _Phase:
        """Give each closure to the warp that has most of it already, if it has room. `held`: the leaves
        that each warp has."""
        taken, loads = [0] * self.warps, [0] * self.warps
        for target in candidates:
            closure = closures.of[target]
            choices = []
            for k in range(self.warps):
                more = (closure & ~taken[k] & ~held[k]).bit_count()
                if loads[k] + more <= size:
                    choices.append((more, loads[k], k))
            if choices:
                more, _, k = min(choices)
                taken[k] |= closure
                loads[k] += more
        return _Phase(taken, loads)


class _Closures:
    """For each statement that is left, all that it needs, as bits of an integer. A statement has as
    many bits as it costs; a *leaf*, a value of an earlier phase or an input, has one bit."""

    def __init__(
        self, targets: Sequence[int], reads: Mapping[int, Sequence[int]], weights: Mapping[int, int]
    ):
        self.targets = targets
        self._bits: dict[int, int] = {}
        self._leaves: dict[int, int] = {}
        self.of: dict[int, int] = {}
        end = 0
        for target in targets:
            self._bits[target] = ((1 << weights[target]) - 1) << end
            end += weights[target]
        self.statements = (1 << end) - 1
        self.total = end
        for target in targets:
            closure = self._bits[target]
            for x in reads[target]:
                if x not in self._bits and x not in self._leaves:
                    self._leaves[x] = 1 << end
                    end += 1
                closure |= self.of[x] if x in self._bits else self._leaves[x]
            self.of[target] = closure
        self.size = {target: closure.bit_count() for target, closure in self.of.items()}
        self._next = dict.fromkeys(targets, inf)
        """Size of the smallest larger closure with each statement."""
        for target in targets:
            for x in reads[target]:
                if x in self._next:
                    self._next[x] = min(self._next[x], self.size[target])

    def sizes_to_try(self, warps: int) -> Iterator[float]:
        """Sizes of closures, from small ones to all that is left."""
        size = max(16.0, self.total / (40 * warps), min(self.size.values()))
        while size < 1.3 * self.total + 60:
            yield size
            size *= GROWTH

    def largest_within(self, size: float) -> list[int]:
        """Statements with closures of at most this size that are not contained in a larger one of
        them."""
        return [target for target in self.targets if self.size[target] <= size < self._next[target]]

    def leaf_bits(self, values: set[int]) -> int:
        """Bits of the leaves that are among these values."""
        mask = 0
        for x, bit in self._leaves.items():
            if x in values:
                mask |= bit
        return mask

    def statements_in(self, mask: int) -> list[int]:
        """Statements of the closures in a mask."""
        return [target for target in self.targets if self._bits[target] & mask]

    def leaves_in(self, mask: int) -> list[int]:
        """Leaves of the closures in a mask."""
        return [x for x, bit in self._leaves.items() if bit & mask]
