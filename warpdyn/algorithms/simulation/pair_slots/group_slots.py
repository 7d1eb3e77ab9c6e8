"""The slots of a group in one step: their contacts, and a turn of all of them in a sweep."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from ....algebra.row_arrays import RowArray, loop
from ....algebra.scalar import Scalar, absolute, select_less
from ....algebra.spatial import Vector
from ..contact_rows import components, impulse_width, moment_of
from .numbered_bodies import SIX
from .pair_memory import PairMemory
from .pairs_at import PairsAt, Slot
from .slot_contact import SlotContact


@dataclass(frozen=True)
class Reaction:
    """The reaction w of all constraints: on rows of the mass matrix, and on free bodies by
    number."""

    rows: list[Scalar]
    bodies: RowArray | None

    def on_bodies(self, bodies: Sequence[Scalar]) -> list[Scalar]:
        """w on some free bodies."""
        w: list[Scalar] = []
        for n in bodies:
            assert self.bodies is not None
            w += self.bodies[n]
        return w

    def write(self, bodies: Sequence[Scalar], w: Sequence[Scalar]) -> None:
        """Write the last entries of w, six for each of these free bodies."""
        first = len(w) - SIX * len(bodies)
        for n, number in enumerate(bodies):
            assert self.bodies is not None
            self.bodies[number] = w[first + SIX * n : first + SIX * (n + 1)]


class Selection(Protocol):
    """The part of a group that a step computes: whole pairs, or single contacts of pairs.

    `slots`: the largest number of slots. `contacts`: of one slot. `count`: how many slots an
    environment needs. `array`: says which pair or contact is in each slot.
    """

    slots: int
    contacts: int
    count: Scalar
    array: RowArray

    def slot(self, k: Scalar) -> Slot:
        """The content of slot k."""
        ...

    def rows(self, k: Scalar) -> list[Scalar]:
        """The rows of the contacts in slot k in the memory."""
        ...


class NearPairs:
    """Near pairs, each in a slot with all its contacts."""

    def __init__(self, pairs: PairsAt, numbers: RowArray, near: Scalar):
        """`numbers`: of the pairs. `near`: how many these are (`near_pairs`)."""
        self.pairs, self.array, self.count = pairs, numbers, near
        self.slots, self.contacts = pairs.group.slots, pairs.group.contacts

    def slot(self, k: Scalar) -> Slot:
        """The pair in slot k."""
        return self.pairs.slot(self.array[k][0])

    def rows(self, k: Scalar) -> list[Scalar]:
        """The rows of its contacts in the memory."""
        (number,) = self.array[k]
        return [self.pairs.memory.contact(number, float(c)) for c in range(self.contacts)]


@dataclass(frozen=True)
class GroupSlots:
    """The slots of a group.

    `selection`: what is in them. `bodies`: the free bodies of each slot. `contacts`: of all slots,
    with the `impulses` on them in their axes.
    """

    pairs: PairsAt
    selection: Selection
    bodies: RowArray
    contacts: RowArray
    impulses: RowArray

    @classmethod
    def at(cls, pairs: PairsAt, selection: Selection) -> GroupSlots:
        """Slots for a selection, without contacts yet."""
        group = pairs.group
        size = SlotContact.size(pairs.width, group.moments, group.located)
        bodies = max(len(group.free_sides), 1)
        contacts = selection.slots * selection.contacts
        return cls(
            pairs,
            selection,
            bodies=RowArray.without_values(selection.slots, bodies),
            contacts=RowArray.without_values(contacts, size),
            impulses=RowArray.without_values(contacts, 3 + group.moments),
        )

    @property
    def memory(self) -> PairMemory:
        """The contacts of the last step."""
        return self.pairs.memory

    @property
    def arrays(self) -> list[RowArray]:
        """The arrays that a sweep must have."""
        return [self.bodies, self.contacts, self.impulses]

    def fill(self, reaction: Reaction) -> Reaction:
        """Compute the contacts of all slots. Returns the reaction with the impulses of the last
        step, from which the sweeps start."""
        count, pairs, memory = self.selection.contacts, self.pairs, self.memory.rows

        def step(k: Scalar, w: list[Scalar], _: Sequence[RowArray]) -> Sequence[Scalar]:
            slot = self.selection.slot(k)
            if slot.bodies:
                self.bodies[k] = slot.bodies
            # All rows are read before a contact is written.
            earlier = [[memory[row] for row in rows] for rows in slot.earlier]
            w = [*w, *reaction.on_bodies(slot.bodies)]
            for c, contact in enumerate(slot.contacts):
                impulse = _begun(contact, earlier[c], slot.known)
                place = k * float(count) + float(c)
                self.contacts[place], self.impulses[place] = contact.numbers, impulse
                w = contact.push(w, impulse, pairs.signs)
            reaction.write(slot.bodies, w)
            return w[: len(pairs.rows)]

        read = [self.selection.array, memory, *pairs.arrays]
        return self._loop(step, reaction, read)

    def turn(self, reaction: Reaction) -> Reaction:
        """Every contact sets its impulse. Returns the reaction after that."""
        count, pairs = self.selection.contacts, self.pairs

        def step(k: Scalar, w: list[Scalar], _: Sequence[RowArray]) -> Sequence[Scalar]:
            bodies = self.bodies[k] if pairs.group.free_sides else []
            w = [*w, *reaction.on_bodies(bodies)]
            for c in range(count):
                place = k * float(count) + float(c)
                contact, before = self._contact(place), self.impulses[place]
                self.impulses[place] = impulse = contact.update(before, w)
                change = [x - was for x, was in zip(impulse, before, strict=True)]
                w = contact.push(w, change, pairs.signs)
            reaction.write(bodies, w)
            return w[: len(pairs.rows)]

        return self._loop(step, reaction, [])

    def _loop(self, step: Any, reaction: Reaction, read: Sequence[RowArray]) -> Reaction:
        """The reaction after a loop over the slots with a pair, whose state is w on the rows of the
        group."""
        mine = self.pairs.rows
        arrays = [*read, *self.arrays, *([] if reaction.bodies is None else [reaction.bodies])]
        begin = [reaction.rows[k] for k in mine]
        end = loop(self.selection.slots, step, begin, arrays, self.selection.count)
        rows = list(reaction.rows)
        for k, x in zip(mine, end, strict=True):
            rows[k] = x
        return replace(reaction, rows=rows)

    def remember(self) -> None:
        """Put the contacts into the memory."""
        selection = self.selection
        self.memory.clear(selection.count)

        def step(k: Scalar, state: list[Scalar], _: Sequence[RowArray]) -> Sequence[Scalar]:
            for c, row in enumerate(selection.rows(k)):
                place = k * float(selection.contacts) + float(c)
                contact, impulse = self._contact(place), self.impulses[place]
                in_world = [*contact.axes.to_parent(Vector(*impulse[:3]))]
                if contact.moments:
                    in_world += contact.axes.to_parent(moment_of(impulse[3:]))
                self.memory.rows[row] = [contact.feature, *in_world, *contact.position]
            return state

        arrays = [selection.array, self.contacts, self.impulses, self.memory.rows]
        loop(selection.slots, step, [], arrays, selection.count)

    def _contact(self, place: Scalar) -> SlotContact:
        numbers, group = self.contacts[place], self.pairs.group
        return SlotContact.of_numbers(numbers, self.pairs.width, group.moments)


def _begun(contact: SlotContact, earlier: Sequence[Sequence[Scalar]], known: bool) -> list[Scalar]:
    """The impulse with which a contact begins, in its axes: that of the contact of the last step
    with its feature, or with `known` that of the only one."""
    moments = len(contact.Y) - 3
    total: list[Scalar] = [0.0] * impulse_width([moments])
    if known:
        ((_, *impulse),) = earlier
        total = impulse[: len(total)]
    else:
        for feature, *impulse in earlier:
            other = absolute(feature - contact.feature)
            same = [select_less(other, 0.5, x, 0.0) for x in impulse[: len(total)]]
            total = [x + dx for x, dx in zip(total, same, strict=True)]
    begun = [*contact.axes.to_child(Vector(*total[:3]))]
    if moments:
        begun += components(contact.axes.to_child(Vector(*total[3:])), moments)
    return begun
