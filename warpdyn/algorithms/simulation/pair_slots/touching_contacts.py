"""The contacts of near pairs that may touch in this step: the exact test behind the broad phase.

Rows of joints make a contact expensive, and most near pairs touch at one of their contacts or at
none. So the narrow phase of a group without free bodies comes first, and only contacts that may
touch take a slot of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from ....algebra.row_arrays import RowArray, loop
from ....algebra.scalar import Scalar, is_number, select_less, select_less_equal
from ....algebra.spatial import Vector
from ...collision.contact import FAR, Contact
from .ground_points import MARGIN, REACHES
from .pairs_at import FoundPair, PairsAt, Slot

ROW = 12
"""Numbers of a `FoundContact`."""


class FoundContact(NamedTuple):
    """A contact of a pair: the numbers of the pair and of the contact in it, those of the bodies of
    both shapes among the carriers, and the contact."""

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
        # Rows beyond the count have no values, except for the first. The last row takes a far contact.
        self.array = RowArray.without_values(self.slots + 1, ROW)

        def visit(k: Scalar, state: list[Scalar], _: Sequence[RowArray]) -> Sequence[Scalar]:
            (number,), (count,) = numbers[k], state
            found = pairs.pair(number)
            for c, contact in enumerate(found.contacts):
                self.known = self.known and is_number(contact.feature)
                # The next contact overwrites one that is far.
                self.array[count] = FoundContact(number, float(c), found.carriers, contact).numbers
                far = contact.gap - (found.reach * REACHES + MARGIN)
                count = count + select_less_equal(far, 0.0, 1.0, 0.0)
            return [count]

        arrays = [self.array, numbers, *pairs.arrays]
        (self.count,) = loop(group.slots, visit, [0.0], arrays, near)

    def slot(self, k: Scalar) -> Slot:
        """The contact in slot k."""
        found = self._contact(k)
        pair = FoundPair([found.contact], 0.0, [], [], found.carriers)
        return self.pairs.slot_of(found.pair, pair, [found.place], self.known)

    def rows(self, k: Scalar) -> list[Scalar]:
        """Its row in the memory."""
        found = self._contact(k)
        return [self.pairs.memory.contact(found.pair, found.place)]

    def _contact(self, k: Scalar) -> FoundContact:
        """The contact in slot k. Beyond the count it is where the first one is, but far away, and its
        pair is none. The first row has a contact in any environment that computes a slot."""
        rows = zip(self.array[k], self.array[0.0], strict=True)
        found = FoundContact.of([select_less(k, self.count, x, first) for x, first in rows])
        gap = select_less(k, self.count, found.contact.gap, FAR)
        pair = select_less(k, self.count, found.pair, float(len(self.pairs.group)))
        return found._replace(pair=pair, contact=replace(found.contact, gap=gap))
