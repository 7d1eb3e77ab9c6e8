"""The statements of each warp of a cut program (`warp_cut`), with the values that warps exchange.

A value that another warp needs is written to a slot of shared memory in the phase in which it is
computed, and read in later phases. A slot is used again after the last phase that reads it.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence

from ..recording.order import Statement, operands
from ..recording.program import Program
from .warp_cut import Dependencies, WarpCut

PUT, FETCH, STORE = "put", "fetch", "store"
"""Statements about a value: `put(slot)` writes it to shared memory, `fetch(slot)` reads it from there,
and `store()` stores it as an output."""


class WarpParts:
    """The statements of each warp.

    `owners`: the warp that stores each output; None for constants. `early`: targets of inputs that
    each warp reads before the first phase.
    """

    def __init__(
        self,
        program: Program,
        cut: WarpCut,
        needs: Dependencies,
        owners: Sequence[int | None],
        early: Container[int] = (),
    ):
        self.program, self.cut, self.owners, self._early = program, cut, owners, early
        self._reads, self._known = needs.reads, needs.everywhere
        self._statement = {s.target: s for s in program.statements}
        self.places = places_of(cut)
        late = self._late_outputs()
        self.phases = max([len(cut.phases), *(phase + 1 for phase, _ in late)])
        """Number of phases; a last one may only store outputs of other warps."""
        last: dict[int, int] = {}
        drafts = [self._draft(warp, late, last) for warp in range(cut.warps)]
        homes = {target: min(self.places[target].items(), key=lambda x: x[::-1]) for target in last}
        """Warp and phase of the first computation of each exchanged value."""
        spans = {target: (homes[target][1], end) for target, end in last.items()}
        self.slot, self.slots = share_slots(spans)
        """The slot of each exchanged value, and the number of slots."""
        self.statements = [
            [self._with_slots(warp, part, homes) for part in draft]
            for warp, draft in enumerate(drafts)
        ]
        """Statements by warp and phase."""
        self.front = [self._needed_in_front(part) for part in self.statements]
        """Statements of each warp before the first phase: early inputs, and what angles need."""

    def _late_outputs(self) -> dict[tuple[int, int], list[int]]:
        """Values that a warp stores as outputs without computing them, by phase and warp."""
        late: dict[tuple[int, int], list[int]] = {}
        for output, warp in zip(self.program.outputs, self.owners, strict=True):
            places = self.places.get(output.node, {}) if output.node is not None else {}
            if output.node is None or warp is None or warp in places:
                continue
            phase = min(places.values()) + 1 if places else 0  # inputs are available from the start
            values = late.setdefault((phase, warp), [])
            if output.node not in values:
                values.append(output.node)
        return late

    def _draft(
        self, warp: int, late: Mapping[tuple[int, int], list[int]], last: dict[int, int]
    ) -> list[list[Statement]]:
        """A warp's statements by phase, without slots. `last` collects when values of other warps are
        read last."""
        have: set[int] = set()
        phases = []
        for phase in range(self.phases):
            part: list[Statement] = []

            def take(values: Iterable[int], part: list[Statement] = part, at: int = phase) -> None:
                """Read the values that this warp does not have."""
                for x in values:
                    if x in have:
                        continue
                    have.add(x)
                    if x not in self._known:
                        part.append(Statement(x, FETCH, ()))
                        last[x] = max(at, last.get(x, 0))
                    elif self._statement[x].operation == "input" and x not in self._early:
                        part.append(self._statement[x])

            for target in late.get((phase, warp), ()):
                take([target])
                part.append(Statement(target, STORE, ()))
            own = self.cut.phases[phase][warp] if phase < len(self.cut.phases) else ()
            for target in own:
                take(self._reads[target])
                part.append(self._statement[target])
                have.add(target)
            phases.append(part)
        return phases

    def _with_slots(
        self, warp: int, part: Sequence[Statement], homes: Mapping[int, tuple[int, int]]
    ) -> list[Statement]:
        """The statements, with slots for the values that the warp reads from other warps and writes
        for them."""
        complete = []
        for s in part:
            if s.operation == FETCH:
                complete.append(Statement(s.target, FETCH, (self.slot[s.target],)))
                continue
            complete.append(s)
            if s.operation != STORE and s.target in homes and homes[s.target][0] == warp:
                complete.append(Statement(s.target, PUT, (self.slot[s.target],)))
        return complete

    def _needed_in_front(self, phases: Sequence[Sequence[Statement]]) -> list[Statement]:
        needed: set[int] = set()
        for s in (s for part in phases for s in part):
            needed.update((s.target,) if s.operation == STORE else operands(s))
        angles = self.program.angle_statements
        for s in reversed(angles):
            if s.target in needed:
                needed.update(operands(s))
        computed = {s.target for s in angles}
        inputs = [
            s
            for s in self.program.statements
            if s.target in self._early and s.target in needed and s.target not in computed
        ]
        return [*inputs, *(s for s in angles if s.target in needed)]

    def times(self) -> list[tuple[int, int] | None]:
        """The phase in which each output is stored, and the number of the statement in its warp."""
        stored: list[dict[int, tuple[int, int]]] = [{} for _ in self.statements]
        for warp, phases in enumerate(self.statements):
            number = 0
            for phase, part in enumerate(phases):
                for s in part:
                    if s.operation not in (FETCH, PUT):
                        stored[warp][s.target] = phase, number
                    number += 1
        return [
            None if output.node is None or warp is None else stored[warp][output.node]
            for output, warp in zip(self.program.outputs, self.owners, strict=True)
        ]


def places_of(cut: WarpCut) -> dict[int, dict[int, int]]:
    """The phase in which each warp computes a statement, by its target and the warp."""
    places: dict[int, dict[int, int]] = {}
    for phase, parts in enumerate(cut.phases):
        for warp, part in enumerate(parts):
            for target in part:
                places.setdefault(target, {})[warp] = phase
    return places


def share_slots(spans: Mapping[int, tuple[int, int]]) -> tuple[dict[int, int], int]:
    """A slot for each value, and the number of slots.

    `spans`: the phase that writes each value, and the last one that reads it.
    """
    slot: dict[int, int] = {}
    taken: list[int] = []
    """Last phase that reads each slot."""
    for target in sorted(spans, key=lambda target: spans[target]):
        begin, end = spans[target]
        place = next((k for k, until in enumerate(taken) if until < begin), len(taken))
        taken[place : place + 1] = [end]
        slot[target] = place
    return slot, len(taken)
