"""Memory of pairs between two steps: impulse and feature of each contact of each pair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ....algebra.row_arrays import RowArray, loop
from ....algebra.rows_by_number import RowsByNumber
from ....algebra.scalar import Scalar, select_less
from ....model.tree import Tree
from ...collision.contact import NONE
from ..compliant_contact import Surface
from ..contact_rows import ContactPoint, impulse_width
from ..contact_shapes import ContactPair
from ..uneven_ground import Terrain
from .ground_points import point_pairs
from .pair_groups import PairGroup, pair_groups, point_groups

INFINITE = float("inf")
"""A bound that every finite number is below."""


def no_contact(group: PairGroup) -> list[float]:
    """The row of a contact that did not exist."""
    return [NONE, *[0.0] * (impulse_width([group.moments]) + 3 * group.located)]


@dataclass(frozen=True)
class PairMemory:
    """The memory of the pairs of a group.

    `rows`: for each contact of each pair its feature and its impulse in the world's axes [N s], with
    its moment if it has friction moments [N m s], then its position if that is kept [m]; then rows
    for slots without a pair. All steps of a launch read `members`, the numbers of the two shapes of
    each pair, and `properties`, its friction, stiffness and dissipation, then those of its torsional
    friction, rolling friction and restitution that it has, and of a soft normal force the inverse mass;
    other properties are those of `surface`.
    `terrain`: the ground of points; None for pairs, and for the plane z = 0. `filled`: one number,
    above 0 if some contact may be in the memory.
    """

    group: PairGroup
    rows: RowArray
    members: RowsByNumber
    properties: RowsByNumber
    surface: Surface
    terrain: Terrain | None
    filled: RowArray

    @property
    def arrays(self) -> list[RowArray]:
        """The arrays that a loop of steps must have."""
        return [self.rows, self.filled, *self.members.arrays, *self.properties.arrays]

    @classmethod
    def of(
        cls,
        group: PairGroup,
        pairs: Sequence[ContactPair],
        surfaces: Sequence[Surface],
        impulses: Sequence[Sequence[Scalar]],
        features: Sequence[Scalar],
        terrain: Terrain | None = None,
    ) -> PairMemory:
        """The memory of a group, from the contact properties, impulses and features of all
        pairs."""
        width = impulse_width([group.moments])
        nowhere = [0.0] * (3 * group.located)
        rows: list[Sequence[Scalar]] = [
            [features[k], *impulses[k][:width], *nowhere] for k in _places(group, pairs)
        ]
        members = RowsByNumber([[float(m) for m in pair] for pair in group.members])
        properties = RowsByNumber([_properties(group, surfaces[n]) for n in group.pairs])
        rows += [no_contact(group)] * group.contacts
        first = surfaces[group.pairs[0]]
        # The last launch may have left contacts, so the first step clears the memory.
        filled = RowArray([[1.0]])
        return cls(group, RowArray(rows), members, properties, first, terrain, filled)

    def contact(self, pair: Scalar, k: Scalar) -> Scalar:
        """The row of contact k of a pair, by its number in the group."""
        return pair * float(self.group.contacts) + k

    def clear(self, count: Scalar) -> None:
        """Forget all contacts, before `count` contacts are written. Loops over a memory without
        contacts are left out: most pairs of a robot's links never touch."""

        def step(k: Scalar, state: list[Scalar], arrays: Sequence[RowArray]) -> Sequence[Scalar]:
            arrays[0][k] = no_contact(self.group)
            return state

        def fill(_: Scalar, state: list[Scalar], arrays: Sequence[RowArray]) -> Sequence[Scalar]:
            arrays[0][0.0] = [count]
            return state

        (filled,) = self.filled[0]
        rows = float(len(self.rows))
        loop(len(self.rows), step, [], [self.rows], select_less(0.0, filled, rows, 0.0))
        loop(1, fill, [], [self.filled])

    def clear_if_infinite(self, size: Scalar) -> None:
        """Set all numbers of its contacts to 0 in environments where `size` is not finite. The loop
        is left out where it is finite in all of them."""
        count = len(self.rows)

        def step(k: Scalar, state: list[Scalar], arrays: Sequence[RowArray]) -> Sequence[Scalar]:
            (rows,) = arrays
            rows[k] = [select_less(size, INFINITE, x, 0.0) for x in rows[k]]
            return state

        needed = select_less(size, INFINITE, 0.0, float(count))
        loop(count, step, [], [self.rows], needed)

    def spread(
        self,
        pairs: Sequence[ContactPair],
        dt: float,
        impulses: list[Sequence[Scalar]],
        features: list[Scalar],
        forces: list[list[Scalar]],
    ) -> None:
        """Write the impulses and features of its contacts to their places among all contacts, and the
        forces on the second shapes in a step of `dt` seconds to those among all pairs [N]."""
        width = impulse_width([self.group.moments])
        for row, k in enumerate(_places(self.group, pairs)):
            features[k], *impulse = self.rows[row]
            impulses[k] = impulse[:width]
        on_pairs = self._forces(dt)
        for n, pair in enumerate(self.group.pairs):
            forces[pair] = on_pairs[n]

    def _forces(self, dt: float) -> RowArray:
        """The force on the second shape of each pair in a step of `dt` seconds [N]. The loop is left
        out where no environment has a contact."""

        def step(n: Scalar, state: list[Scalar], arrays: Sequence[RowArray]) -> Sequence[Scalar]:
            total: list[Scalar] = [0.0, 0.0, 0.0]
            for c in range(self.group.contacts):
                impulse = self.rows[self.contact(n, float(c))][1:4]
                total = [x + dx for x, dx in zip(total, impulse, strict=True)]
            arrays[0][n] = [x * (1.0 / dt) for x in total]
            return state

        count = len(self.group)
        forces = RowArray([[0.0, 0.0, 0.0]] * count)
        (filled,) = self.filled[0]
        needed = select_less(0.0, filled, float(count), 0.0)
        loop(count, step, [], [forces, self.rows], needed)
        return forces

    def spread_positions(
        self, pairs: Sequence[ContactPair], positions: list[Sequence[Scalar]]
    ) -> None:
        """Write the positions of its contacts to their places among all contacts."""
        for row, k in enumerate(_places(self.group, pairs)):
            positions[k] = self.rows[row][-3:]


def _properties(group: PairGroup, surface: Surface) -> list[Scalar]:
    """The properties of a pair that differ within its group."""
    restitution = [] if surface.restitution is None else [surface.restitution[0]]
    always = surface.friction[0], surface.stiffness, surface.dissipation
    soft = [] if surface.soft_normal is None else [surface.soft_normal.normal]
    return [*always, *_moment_properties(group, surface), *restitution, *soft]


def _moment_properties(group: PairGroup, surface: Surface) -> list[Scalar]:
    """Coefficients of torsional and rolling friction, as far as the group has moments."""
    each = [surface.torsional, surface.rolling][: (group.moments + 1) // 2]
    return [0.0 if numbers is None else numbers[0] for numbers in each]


def _places(group: PairGroup, pairs: Sequence[ContactPair]) -> list[int]:
    """Numbers of the contacts of a group among those of all pairs."""
    first = [0]
    for pair in pairs:
        first.append(first[-1] + pair.contacts)
    return [first[n] + c for n in group.pairs for c in range(group.contacts)]


@dataclass(frozen=True)
class TouchingBodies:
    """The pairs of a scene during a launch, and the memory of each group of them."""

    pairs: Sequence[ContactPair]
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
        moments: Sequence[int] = (),
        located: bool = False,
    ) -> TouchingBodies:
        """The pairs of a tree with the impulses and features of the last step's contacts. `moments`:
        the number of friction moments of each pair. `located`: keep positions of contacts."""
        groups = [
            replace(each, located=located) for each in pair_groups(tree, pairs, slots, moments)
        ]
        return cls(
            pairs, [PairMemory.of(group, pairs, surfaces, impulses, features) for group in groups]
        )

    @classmethod
    def of_points(
        cls,
        tree: Tree,
        points: Sequence[ContactPoint],
        surfaces: Sequence[Surface],
        impulses: Sequence[Sequence[Scalar]],
        terrain: Terrain | None,
        moments: Sequence[int] = (),
    ) -> TouchingBodies:
        """Points on the ground with the impulses of the last step, each with a slot."""
        pairs, features = point_pairs(points), [0.0] * len(points)
        memory = [
            PairMemory.of(group, pairs, surfaces, impulses, features, terrain)
            for group in point_groups(tree, pairs, moments)
        ]
        return cls(pairs, memory)

    def results(self, dt: float) -> tuple[list[Sequence[Scalar]], list[Scalar], list[list[Scalar]]]:
        """Impulses and features of the contacts of all pairs, and the forces on the second shapes in a
        step of `dt` seconds. If some pairs have friction moments, each impulse has six entries."""
        count = sum(pair.contacts for pair in self.pairs)
        impulses: list[Sequence[Scalar]] = [[]] * count
        features: list[Scalar] = [0.0] * count
        forces: list[list[Scalar]] = [[]] * len(self.pairs)
        for each in self.memory:
            each.spread(self.pairs, dt, impulses, features, forces)
        if any(each.group.moments for each in self.memory):
            impulses = [[*each, *[0.0] * (6 - len(each))] for each in impulses]
        return impulses, features, forces

    @property
    def positions(self) -> list[Sequence[Scalar]]:
        """Positions of the contacts of all pairs in the world [m], if they are kept."""
        found: list[Sequence[Scalar]] = [[]] * sum(pair.contacts for pair in self.pairs)
        for each in self.memory:
            each.spread_positions(self.pairs, found)
        return found
