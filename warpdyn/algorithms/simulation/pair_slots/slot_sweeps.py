"""Sweeps over the contacts of pairs, together with all other constraints of a step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from ....algebra.linear import Factors
from ....algebra.row_arrays import RowArray, loop
from ....algebra.scalar import Scalar, sqrt
from ....model.tree import WORLD, Tree
from ...frames import body_placements
from ..compliant_contact import Surface
from ..constraint_sweeps import (
    AlongPaths,
    Constraint,
    ConstraintRows,
    RowVelocities,
    impulses_on_rows,
)
from ..contact_shapes import ContactPair
from .group_slots import GroupSlots, Reaction
from .near_pairs import moving_shapes, near_pairs
from .numbered_bodies import FreeBodiesAt
from .pair_groups import Mover, PairGroup, pair_groups
from .pair_memory import PairMemory
from .pairs_at import Moment, PairsAt


@dataclass(frozen=True)
class TouchingBodies:
    """The pairs of a scene during a launch: their groups, contact properties and memory."""

    pairs: Sequence[ContactPair]
    groups: Sequence[PairGroup]
    surfaces: Sequence[Surface]
    memory: Sequence[PairMemory]

    @classmethod
    def of(
        cls,
        tree: Tree,
        pairs: Sequence[ContactPair],
        slots: int | None,
        surfaces: Sequence[Surface],
        impulses: Sequence[Sequence[Scalar]],
        features: Sequence[Scalar],
    ) -> TouchingBodies:
        """The pairs of a tree with the impulses and features of the last step's contacts."""
        groups = pair_groups(tree, pairs, slots)
        memory = [PairMemory.of(group, pairs, impulses, features) for group in groups]
        return cls(pairs, groups, surfaces, memory)

    @property
    def arrays(self) -> list[RowArray]:
        """The arrays that a loop of steps must have."""
        return [each.rows for each in self.memory]

    @property
    def contacts(self) -> tuple[list[Sequence[Scalar]], list[Scalar]]:
        """Impulses and features of the contacts of all pairs."""
        count = sum(pair.contacts for pair in self.pairs)
        impulses: list[Sequence[Scalar]] = [[]] * count
        features: list[Scalar] = [0.0] * count
        for each in self.memory:
            each.spread(self.pairs, impulses, features)
        return impulses, features


class OtherConstraints(NamedTuple):
    """Constraints that are not of pairs, on rows of their own: those before the pairs in a sweep,
    and those after them, with the impulses of the last step."""

    rows: ConstraintRows
    before: Sequence[Constraint]
    after: Sequence[Constraint]
    warm_before: Sequence[Scalar]
    warm_after: Sequence[Scalar]


class SweepResult(NamedTuple):
    """Velocities after the sweeps; impulses of the other constraints; the sum of Jᵀ l over the
    pairs, if the robot has closed loops; and the number of near pairs that had no slot."""

    v: list[Scalar]
    impulses: list[Scalar]
    pushed: list[Scalar]
    left_out: Scalar


def slot_sweeps(
    tree: Tree,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    free: Sequence[Scalar],
    mass: Factors,
    dt: float,
    touching: TouchingBodies,
    others: OtherConstraints,
    sweeps: int,
) -> SweepResult:
    """Velocities after `sweeps` sweeps, which start from the last step's impulses.

    `v`, `free`: velocities before the step, and after it without constraints.
    """
    sides = [side for group in touching.groups for side in group.sides]
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
    joints = turns.joints

    def sweep(_: Scalar, state: list[Scalar], __: Sequence[RowArray]) -> Sequence[Scalar]:
        rest = iter(state)
        one, two, w_joints = ([next(rest) for _ in x] for x in (first, second, joints))
        w = turns.with_joints(reaction, w_joints)
        one, w = turns.turn(others.before, one, w)
        for each in slots:
            w = each.turn(w)
        two, w = turns.turn(others.after, two, w)
        return [*one, *two, *(w.joints[k] for k in joints)]

    arrays = [array for each in slots for array in each.arrays]
    arrays += [] if reaction.bodies is None else [reaction.bodies]
    begin = [*first, *second, *(reaction.joints[k] for k in joints)]
    end = loop(sweeps, sweep, begin, arrays)
    count = len(first) + len(second)
    whole = turns.whole(turns.with_joints(reaction, end[count:]))
    change = mass.solve([w * root for w, root in zip(whole, turns.roots, strict=True)])
    pushed: list[Scalar] = [0.0] * tree.nv
    for each in slots:
        for k, x in zip(each.pairs.coordinates, each.remember(), strict=False):
            pushed[k] = pushed[k] + x
    after = [x + dx for x, dx in zip(free, change, strict=True)]
    return SweepResult(after, end[:count], pushed, left_out)


def _slots(
    tree: Tree, moment: Moment, touching: TouchingBodies, bodies: FreeBodiesAt
) -> tuple[list[GroupSlots], Scalar]:
    """The slots of each group, and the number of near pairs without one."""
    slots = []
    left_out: Scalar = 0.0
    for group, memory in zip(touching.groups, touching.memory, strict=True):
        shapes = [moving_shapes(tree, moment.X, s, moment.free, moment.dt) for s in group.sides]
        numbers, near, without = near_pairs(group, shapes)
        left_out = left_out + without
        pairs = PairsAt(tree, group, moment, bodies, touching.surfaces)
        slots.append(GroupSlots.at(pairs, numbers, near, memory))
    return slots, left_out


class OtherTurns:
    """The other constraints between the turns of the slots, on the same reaction."""

    def __init__(self, tree: Tree, bodies: FreeBodiesAt, others: OtherConstraints, moment: Moment):
        self.columns = [tree.bodies[i].v_index for i in bodies.bodies]
        self.nv, self.others = tree.nv, others
        self.roots = [sqrt(x) for x in moment.mass.reciprocal]
        rows = others.rows
        Y = [[y * x for y, x in zip(row, self.roots, strict=True)] for row in rows.Y]
        self.rows = replace(rows, Y=Y, Z=Y)
        self.unmoved = rows.of(moment.free)
        in_bodies = {k for column in self.columns for k in column}
        self.joints = [k for k in range(self.nv) if k not in in_bodies]

    def with_joints(self, reaction: Reaction, joints: Sequence[Scalar]) -> Reaction:
        """The reaction with other numbers on the joints, those of `joints`."""
        w: list[Scalar] = [0.0] * self.nv
        for k, x in zip(self.joints, joints, strict=True):
            w[k] = x
        return replace(reaction, joints=w)

    def begin(self) -> Reaction:
        """The reaction of their impulses in the last step."""
        others = self.others
        constraints = [*others.before, *others.after]
        warm = [*others.warm_before, *others.warm_after]
        w = self.rows.on_coordinates(impulses_on_rows(constraints, warm, len(self.rows.J)))
        by_body = [[w[k] for k in column] for column in self.columns]
        return Reaction(w, RowArray(by_body) if by_body else None)

    def whole(self, reaction: Reaction) -> list[Scalar]:
        """The reaction on all coordinates."""
        w = list(reaction.joints)
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
        w: RowVelocities = AlongPaths(self.whole(reaction), self.rows, self.unmoved)
        found: list[Scalar] = []
        for constraint in constraints:
            mine = slice(len(found), len(found) + constraint.size)
            impulse, w = constraint.update(impulses[mine], w)
            found += impulse
        for n, column in enumerate(self.columns):
            assert reaction.bodies is not None
            reaction.bodies[n] = [w.values[k] for k in column]
        return found, replace(reaction, joints=list(w.values))
