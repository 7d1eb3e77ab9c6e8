"""Sweeps over the contacts of pairs, together with all other constraints of a step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from ....algebra.linear import Factors
from ....algebra.row_arrays import RowArray, loop
from ....algebra.scalar import Scalar, absolute, sqrt
from ....model.tree import WORLD, Tree
from ...frames import body_placements
from ..constraint_sweeps import (
    AlongPaths,
    Constraint,
    ConstraintRows,
    RowVelocities,
    impulses_on_rows,
)
from .ground_points import moving_points
from .group_slots import GroupSlots, NearPairs, Reaction, Selection
from .near_pairs import near_pairs, near_points
from .numbered_bodies import FreeBodiesAt
from .pair_groups import Mover
from .pair_memory import PairMemory
from .pairs_at import Moment, PairsAt
from .slot_contact import short_dot
from .touching_contacts import TouchingContacts, touch_one_by_one


class OtherConstraints(NamedTuple):
    """Constraints other than pairs, on separate rows: those before the pairs in a sweep, and those
    after them, with the impulses of the last step."""

    rows: ConstraintRows
    before: Sequence[Constraint]
    after: Sequence[Constraint]
    warm_before: Sequence[Scalar]
    warm_after: Sequence[Scalar]


class SweepResult(NamedTuple):
    """Velocities after the sweeps; impulses of the other constraints; the reaction s = Z l of all
    constraints; and the number of near pairs that had no slot."""

    v: list[Scalar]
    impulses: list[Scalar]
    reaction: list[Scalar]
    left_out: Scalar


def slot_sweeps(
    tree: Tree,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    free: Sequence[Scalar],
    mass: Factors,
    dt: float,
    touching: Sequence[PairMemory],
    others: OtherConstraints,
    sweeps: int,
) -> SweepResult:
    """Velocities after `sweeps` sweeps, which start from the last step's impulses.

    `touching`: the memory of groups of pairs, and of points on the ground. `v`, `free`: velocities
    before the step, and after it without constraints.
    """
    sides = [side for memory in touching for side in memory.group.sides]
    carriers = sorted({body for side in sides for body in side.bodies} - {WORLD})
    X = body_placements(tree, q, carriers)
    moment = Moment(X, v, free, mass, dt)
    numbered = sorted({b for s in sides if s.mover is Mover.FREE_BODY for b in s.bodies})
    bodies = FreeBodiesAt.at(tree, X, mass, v, free, numbered)
    slots, left_out = _slots(tree, moment, touching, bodies)
    turns = OtherTurns(tree, bodies, others, moment)
    # The sweeps correct the last step's impulses, so the reaction at the start includes them.
    reaction = turns.begin()
    for each in slots:
        reaction = each.fill(reaction)
    first, second = list(others.warm_before), list(others.warm_after)
    rows = turns.rows_without_bodies

    def sweep(_: Scalar, state: list[Scalar], __: Sequence[RowArray]) -> Sequence[Scalar]:
        rest = iter(state)
        one, two, of_rows = ([next(rest) for _ in x] for x in (first, second, rows))
        w = turns.with_rows(reaction, of_rows)
        one, w = turns.turn(others.before, one, w)
        for each in slots:
            w = each.turn(w)
        two, w = turns.turn(others.after, two, w)
        return [*one, *two, *(w.rows[k] for k in rows)]

    arrays = [array for each in slots for array in each.arrays]
    arrays += [] if reaction.bodies is None else [reaction.bodies]
    begin = [*first, *second, *(reaction.rows[k] for k in rows)]
    end = loop(sweeps, sweep, begin, arrays)
    count = len(first) + len(second)
    whole = turns.whole(turns.with_rows(reaction, end[count:]))
    for each in slots:
        each.remember()
    unscaled = [w * root for w, root in zip(whole, turns.roots, strict=True)]
    after = [x + dx for x, dx in zip(free, mass.solve(unscaled), strict=True)]
    return SweepResult(after, end[:count], unscaled, left_out)


def _slots(
    tree: Tree, moment: Moment, touching: Sequence[PairMemory], bodies: FreeBodiesAt
) -> tuple[list[GroupSlots], Scalar]:
    """The slots of each group, and the number of near pairs without one."""
    slots = []
    left_out: Scalar = 0.0
    for memory in touching:
        pairs = PairsAt(tree, memory, moment, bodies)
        if memory.group.on_ground:
            points = moving_points(tree, moment.X, memory.group.sides[1], moment.free)
            numbers, near, _ = near_points(memory, points, moment.dt)
        else:
            by_contact = touch_one_by_one(memory.group)
            numbers, near, without = near_pairs(memory, pairs.moving, by_contact)
            left_out = left_out + without
        selection: Selection = NearPairs(pairs, numbers, near)
        if touch_one_by_one(memory.group):
            selection = TouchingContacts(pairs, numbers, near)
        slots.append(GroupSlots.at(pairs, selection))
    return slots, left_out


@dataclass(frozen=True)
class AlongShortPaths(AlongPaths):
    """`AlongPaths` with short sums: each constraint waits for the one before it, and a long sum
    takes most of that time."""

    def __getitem__(self, rows: slice) -> list[Scalar]:
        """Velocities of some rows."""
        free, Y = self.free[rows], self.rows.Y[rows]
        return [v + short_dot(y, self.values) for v, y in zip(free, Y, strict=True)]


class OtherTurns:
    """The other constraints between the turns of the slots, on the same reaction."""

    def __init__(self, tree: Tree, bodies: FreeBodiesAt, others: OtherConstraints, moment: Moment):
        mass, self.others = moment.mass, others
        of_coordinates = mass.rows_of_coordinates
        self.columns = [[of_coordinates[k] for k in tree.bodies[i].v_index] for i in bodies.bodies]
        self.roots = [sqrt(absolute(x)) for x in mass.reciprocal]
        scaled = [[y * x for y, x in zip(row, self.roots, strict=True)] for row in others.rows.Y]
        signed = [[y * x for y, x in zip(row, mass.signs, strict=True)] for row in scaled]
        self.constraint_rows = replace(others.rows, Y=scaled, Z=signed)
        self.unmoved = others.rows.of(moment.free)
        in_bodies = {k for column in self.columns for k in column}
        self.rows_without_bodies = [k for k in range(len(self.roots)) if k not in in_bodies]

    def with_rows(self, reaction: Reaction, rows: Sequence[Scalar]) -> Reaction:
        """The reaction with other numbers on `rows_without_bodies`."""
        w: list[Scalar] = [0.0] * len(self.roots)
        for k, x in zip(self.rows_without_bodies, rows, strict=True):
            w[k] = x
        return replace(reaction, rows=w)

    def begin(self) -> Reaction:
        """The reaction of their impulses in the last step."""
        others = self.others
        constraints = [*others.before, *others.after]
        warm = [*others.warm_before, *others.warm_after]
        w = self.constraint_rows.on_coordinates(
            impulses_on_rows(constraints, warm, len(self.constraint_rows.J))
        )
        by_body = [[w[k] for k in column] for column in self.columns]
        return Reaction(w, RowArray(by_body) if by_body else None)

    def whole(self, reaction: Reaction) -> list[Scalar]:
        """The reaction on all rows."""
        w = list(reaction.rows)
        for n, column in enumerate(self.columns):
            assert reaction.bodies is not None
            for k, x in zip(column, reaction.bodies[n], strict=True):
                w[k] = x
        return w

    def turn(
        self, constraints: Sequence[Constraint], impulses: list[Scalar], reaction: Reaction
    ) -> tuple[list[Scalar], Reaction]:
        """Impulses and reaction after these constraints took their turns."""
        if not constraints:
            return impulses, reaction
        w: RowVelocities = AlongShortPaths(self.whole(reaction), self.constraint_rows, self.unmoved)
        found: list[Scalar] = []
        for constraint in constraints:
            mine = slice(len(found), len(found) + constraint.size)
            impulse, w = constraint.update(impulses[mine], w)
            found += impulse
        for n, column in enumerate(self.columns):
            assert reaction.bodies is not None
            reaction.bodies[n] = [w.values[k] for k in column]
        return found, replace(reaction, rows=list(w.values))
