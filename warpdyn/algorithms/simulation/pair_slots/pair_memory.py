"""What pairs pass from one step to the next: impulse and feature of each contact of each pair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ....algebra.row_arrays import RowArray, loop
from ....algebra.rows_by_number import RowsByNumber
from ....algebra.scalar import Scalar
from ...collision.contact import NONE
from ..contact_shapes import ContactPair
from .pair_groups import PairGroup

NOTHING = [NONE, 0.0, 0.0, 0.0]
"""The row of a contact that did not exist."""


@dataclass(frozen=True)
class PairMemory:
    """The memory of the pairs of a group.

    `rows`: for each contact of each pair its feature and its impulse in the world's axes [N s]; then
    rows for slots without a pair. `members`: the numbers of the two shapes of each pair, which all
    steps of a launch read.
    """

    group: PairGroup
    rows: RowArray
    members: RowsByNumber

    @property
    def arrays(self) -> list[RowArray]:
        """The arrays that a loop of steps must have."""
        return [self.rows, *self.members.arrays]

    @classmethod
    def of(
        cls,
        group: PairGroup,
        pairs: Sequence[ContactPair],
        impulses: Sequence[Sequence[Scalar]],
        features: Sequence[Scalar],
    ) -> PairMemory:
        """The memory with the impulses and features of all pairs' contacts."""
        rows = [[features[k], *impulses[k]] for k in _places(group, pairs)]
        members = RowsByNumber([[float(m) for m in pair] for pair in group.members])
        return cls(group, RowArray([*rows, *[NOTHING] * group.contacts]), members)

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


def _places(group: PairGroup, pairs: Sequence[ContactPair]) -> list[int]:
    """Numbers of the contacts of a group among those of all pairs."""
    first = [0]
    for pair in pairs:
        first.append(first[-1] + pair.contacts)
    return [first[n] + c for n in group.pairs for c in range(group.contacts)]
