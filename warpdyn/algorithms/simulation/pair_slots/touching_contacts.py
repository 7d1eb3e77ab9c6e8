"""The contacts of near pairs that may touch in this step: the exact test behind the broad phase.

Rows of joints make a contact expensive, and most near pairs touch at one of their contacts or at
none. For a group of links, or of many links and free bodies, the narrow phase therefore comes
first, and only contacts that may touch take a slot.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ....algebra.row_arrays import RowArray, loop, write_row_if_needed
from ....algebra.scalar import Scalar, is_number, select_less, select_less_equal
from ....algebra.spatial import Vector
from ...collision.contact import FAR, UPWARDS, Contact
from .ground_points import MARGIN, REACHES
from .pair_groups import Mover, PairGroup
from .pairs_at import FoundPair, PairsAt, Slot

ROW = 12
"""Numbers of a `FoundContact`."""

SOMEWHERE = Vector(0.1937, 0.4721, 0.8313)
"""Position of a contact that does not exist [m]. Axes of robots often pass through the origin,
where bodies on an axis do not move, but hardly ever through this point."""


FEW_PAIRS = 4
"""Number of pairs of links and free bodies up to which whole pairs have slots. The pads of a
gripper touch with all their contacts, and these share rows. Most of the many links of a hand only
come near."""


def touch_one_by_one(group: PairGroup) -> bool:
    """True if contacts of a group take slots, not whole pairs."""
    if group.on_ground:
        return False
    joints = any(side.mover is Mover.JOINTS for side in group.sides)
    return not group.free_sides or (joints and group.contacts > 1 and group.alike > FEW_PAIRS)


class FoundContact(NamedTuple):
    """A contact of a pair: the numbers of the pair and of the contact in it, those of the bodies of
    both shapes among the carriers or the free bodies, and the contact."""

    pair: Scalar
    place: Scalar
    carriers: tuple[Scalar, Scalar]
    contact: Contact

    @property
    def numbers(self) -> list[Scalar]:
        """All numbers, as a row of an array."""
        contact = self.contact
        at = *contact.position, *contact.normal, contact.feature
        return [self.pair, self.place, *self.carriers, contact.gap, *at]

    @classmethod
    def of(cls, row: Sequence[Scalar]) -> FoundContact:
        """The contact with these numbers."""
        pair, place, first, second, gap, *at, feature = row
        contact = Contact(gap, Vector(*at[:3]), Vector(*at[3:]), feature)
        return cls(pair, place, (first, second), contact)


class TouchingContacts:
    """The contacts of a group that may touch, each in a slot."""

    def __init__(self, pairs: PairsAt, numbers: RowArray, near: Scalar):
        """`numbers`: of the pairs that are near. `near`: how many these are (`near_pairs`)."""
        group = pairs.group
        self.pairs, self.known = pairs, True
        self.slots, self.contacts = group.slots * group.contacts, 1
        # Rows beyond the count have no values. The last row takes a far contact.
        self.array = RowArray.without_values(self.slots + 1, ROW)

        def visit(k: Scalar, state: list[Scalar], _: Sequence[RowArray]) -> Sequence[Scalar]:
            (number,), (count,) = numbers[k], state
            found, reach = pairs.pair(number), pairs.reach(number)
            for c, contact in enumerate(found.contacts):
                self.known = self.known and is_number(contact.feature)
                row = FoundContact(number, float(c), found.carriers, contact).numbers
                far = contact.gap - (reach * REACHES + MARGIN)
                touches = select_less_equal(far, 0.0, 1.0, 0.0)
                # The next contact overwrites one that is far.
                write_row_if_needed(touches, self.array, count, row)
                count = count + touches
            return [count]

        moving = [array for rows in pairs.moving for array in rows.arrays]
        others = {id(array): array for array in [*pairs.arrays, *moving]}
        arrays = [self.array, numbers, *others.values()]
        (self.count,) = loop(group.slots, visit, [0.0], arrays, near)

    def slot(self, k: Scalar) -> Slot:
        """The contact in slot k."""
        found = self._contact(k)
        numbers = [found.carriers[side] for side in self.pairs.group.free_sides]
        bodies = [self.pairs.free[n] for n in numbers]
        pair = FoundPair([found.contact], numbers, bodies, found.carriers)
        return self.pairs.slot_of(found.pair, pair, [found.place], self.known)

    def rows(self, k: Scalar) -> list[Scalar]:
        """Its row in the memory."""
        found = self._contact(k)
        return [self.pairs.memory.contact(found.pair, found.place)]

    def _contact(self, k: Scalar) -> FoundContact:
        """The contact in slot k. Beyond the count it is far away, between the bodies of the first
        pair, and its pair is none."""
        group = self.pairs.group
        first, second = (
            self.pairs.number_of(side, side.bodies[m])
            for side, m in zip(group.sides, group.members[0], strict=True)
        )
        far = Contact(FAR, SOMEWHERE, UPWARDS, 0.0)
        nothing = FoundContact(float(len(group)), 0.0, (first, second), far).numbers
        rows = zip(self.array[k], nothing, strict=True)
        return FoundContact.of([select_less(k, self.count, x, other) for x, other in rows])
