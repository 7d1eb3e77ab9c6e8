"""What pairs pass from one step to the next: impulse and feature of each contact of each pair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ....algebra.row_arrays import RowArray, loop
from ....algebra.rows_by_number import RowsByNumber
from ....algebra.scalar import Scalar
from ...collision.contact import NONE
from ..compliant_contact import Surface
from ..contact_shapes import ContactPair
from .pair_groups import PairGroup

NOTHING = [NONE, 0.0, 0.0, 0.0]
"""The row of a contact that did not exist."""


@dataclass(frozen=True)
class PairMemory:
    """The memory of the pairs of a group.

    `rows`: for each contact of each pair its feature and its impulse in the world's axes [N s]; then
    rows for slots without a pair. All steps of a launch read `members`, the numbers of the two
    shapes of each pair, and `properties`, its friction, stiffness and dissipation and, if it has
    one, its restitution; other properties are those of `surface`.
    """

    group: PairGroup
    rows: RowArray
    members: RowsByNumber
    properties: RowsByNumber
    surface: Surface

    @property
    def arrays(self) -> list[RowArray]:
        """The arrays that a loop of steps must have."""
        return [self.rows, *self.members.arrays, *self.properties.arrays]

    @classmethod
    def of(
        cls,
        group: PairGroup,
        pairs: Sequence[ContactPair],
        surfaces: Sequence[Surface],
        impulses: Sequence[Sequence[Scalar]],
        features: Sequence[Scalar],
    ) -> PairMemory:
        """The memory of a group, from the contact properties, impulses and features of all
        pairs."""
        rows: list[Sequence[Scalar]] = [[features[k], *impulses[k]] for k in _places(group, pairs)]
        members = RowsByNumber([[float(m) for m in pair] for pair in group.members])
        properties = RowsByNumber([_properties(surfaces[n]) for n in group.pairs])
        rows += [NOTHING] * group.contacts
        return cls(group, RowArray(rows), members, properties, surfaces[group.pairs[0]])

    def contact(self, pair: Scalar, k: int) -> Scalar:
        """The row of contact k of a pair, by its number in the group."""
        return pair * float(self.group.contacts) + float(k)

    def clear(self) -> None:
        """Forget all contacts."""

        def step(k: Scalar, state: list[Scalar], arrays: Sequence[RowArray]) -> Sequence[Scalar]:
            arrays[0][k] = NOTHING
            return state

        loop(len(self.rows), step, [], [self.rows])

    def spread(
        self,
        pairs: Sequence[ContactPair],
        impulses: list[Sequence[Scalar]],
        features: list[Scalar],
    ) -> None:
        """Write the impulses and features of its contacts to their places among all contacts."""
        for row, k in enumerate(_places(self.group, pairs)):
            features[k], *impulse = self.rows[row]
            impulses[k] = impulse


def _properties(surface: Surface) -> list[Scalar]:
    """Friction, stiffness and dissipation of a pair, and its restitution if it has one."""
    restitution = [] if surface.restitution is None else [surface.restitution[0]]
    return [surface.friction[0], surface.stiffness, surface.dissipation, *restitution]


def _places(group: PairGroup, pairs: Sequence[ContactPair]) -> list[int]:
    """Numbers of the contacts of a group among those of all pairs."""
    first = [0]
    for pair in pairs:
        first.append(first[-1] + pair.contacts)
    return [first[n] + c for n in group.pairs for c in range(group.contacts)]
