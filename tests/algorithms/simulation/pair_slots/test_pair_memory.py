"""The memory of pairs: rows of a group, and indices of its contacts among all contacts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from warpdyn.algebra.row_arrays import RowArray
from warpdyn.algorithms.simulation.compliant_contact import Surface
from warpdyn.algorithms.simulation.contact_shapes import GROUND, ContactPair, ContactShape
from warpdyn.algorithms.simulation.pair_slots.pair_groups import GroupSide, Mover, PairGroup
from warpdyn.algorithms.simulation.pair_slots.pair_memory import PairMemory, no_contact

BALL, CAPSULE = ContactShape("a", "sphere", (1.0,)), ContactShape("b", "capsule", (1.0, 1.0))
PAIRS = [ContactPair(GROUND, CAPSULE), ContactPair(GROUND, BALL), ContactPair(GROUND, CAPSULE)]
GROUP = PairGroup(
    (GroupSide(Mover.NOTHING, (GROUND,), (-1,)), GroupSide(Mover.FREE_BODY, (CAPSULE,), (1,))),
    pairs=(0, 2),
    members=((0, 0), (0, 0)),
    contacts=2,
    slots=2,
)
IMPULSES = [[float(10 * k + j) for j in range(3)] for k in range(5)]
SURFACES = [Surface([0.1 * k] * 2, 1e4, 0.01, 1.0) for k in range(3)]
FEATURES = [float(k) for k in range(5)]


def test_a_group_has_the_contacts_of_its_pairs() -> None:
    """Capsules have two contacts, and the ball between them has one."""
    memory = PairMemory.of(GROUP, PAIRS, SURFACES, IMPULSES, FEATURES)
    assert [row[0] for row in memory.rows] == [0.0, 1.0, 3.0, 4.0, -1.0, -1.0]
    assert memory.rows[memory.contact(1.0, 1)] == [4.0, 40.0, 41.0, 42.0]
    assert memory.members[1] == [0.0, 0.0] and not memory.members.arrays  # all are equal
    assert memory.properties[1] == [0.2, 1e4, 0.01]
    assert memory.arrays == [memory.rows, memory.filled, *memory.properties.arrays]
    impulses, features, forces = [[0.0] * 3] * 5, [9.0] * 5, [[0.0] * 3] * 3
    memory.spread(PAIRS, 0.5, impulses, features, forces)
    assert features == [0.0, 1.0, 9.0, 3.0, 4.0]
    assert impulses == [*IMPULSES[:2], [0.0] * 3, *IMPULSES[3:]]
    assert forces == [[20.0, 24.0, 28.0], [0.0] * 3, [140.0, 144.0, 148.0]]


def test_a_slot_without_a_pair_has_its_own_rows() -> None:
    """It writes into no row of a pair."""
    memory = PairMemory.of(GROUP, PAIRS, SURFACES, IMPULSES, FEATURES)
    assert memory.contact(2.0, 0) == 4.0 and memory.rows[4] == no_contact(GROUP)


def test_clear_removes_all_contacts() -> None:
    """Contacts of pairs that are not near any more are removed, too."""
    memory = PairMemory.of(GROUP, PAIRS, SURFACES, IMPULSES, FEATURES)
    memory.clear(2.0)
    assert [*memory.rows] == [no_contact(GROUP)] * 6 and memory.filled[0] == [2.0]


def test_only_a_memory_with_contacts_is_cleared() -> None:
    """The last launch may have left contacts. After a step without any there is nothing to clear, and
    after one with some there is."""
    memory = PairMemory.of(GROUP, PAIRS, SURFACES, IMPULSES, FEATURES)
    memory.clear(0.0)
    assert [*memory.rows] == [no_contact(GROUP)] * 6
    marked = replace(memory, rows=RowArray([[float(k)] * 4 for k in range(6)]))
    marked.clear(1.0)
    assert marked.rows[3] == [3.0] * 4, "the loop is left out"
    marked.clear(0.0)
    assert [*marked.rows] == [no_contact(GROUP)] * 6


@pytest.mark.parametrize(("moments", "more"), [(1, [2.0]), (3, [2.0, 3.0])])
def test_pairs_with_moments_store_six_entries(moments: int, more: list[float]) -> None:
    """The coefficients of the moments come before the restitution."""
    group = replace(GROUP, moments=moments)
    wide = [[*each, *(10.0 * x for x in each)] for each in IMPULSES]
    rough = Surface([0.1] * 2, 1e4, 0.01, 1.0, [0.5] * 2, torsional=[2.0] * 2, rolling=[3.0] * 2)
    memory = PairMemory.of(group, PAIRS, [rough] * 3, wide, FEATURES)
    assert memory.rows[memory.contact(1.0, 1)] == [4.0, *wide[4]]
    assert memory.properties[1] == [0.1, 1e4, 0.01, *more, 0.5]
    assert len(no_contact(group)) == 7
    plain = PairMemory.of(GROUP, PAIRS, [rough] * 3, wide, FEATURES)
    assert plain.rows[0] == [0.0, *IMPULSES[0]], "another group has moments, and this one none"


def test_positions_of_contacts_are_stored_on_request() -> None:
    """Positions follow the impulse in a row. They are zero when a step begins."""
    group = replace(GROUP, located=True)
    memory = PairMemory.of(group, PAIRS, SURFACES, IMPULSES, FEATURES)
    assert memory.rows[0] == [0.0, *IMPULSES[0], 0.0, 0.0, 0.0] and len(no_contact(group)) == 7
    rows = [[0.0, *IMPULSES[0], 7.0, 8.0, 9.0], *([*memory.rows][1:])]
    memory = replace(memory, rows=RowArray(rows))
    positions, impulses = [[0.0] * 3] * 5, [[0.0] * 3] * 5
    memory.spread_positions(PAIRS, positions)
    memory.spread(PAIRS, 0.5, impulses, [0.0] * 5, [[]] * 3)
    assert positions[0] == [7.0, 8.0, 9.0] and impulses[0] == IMPULSES[0]


@pytest.mark.parametrize("size", [1e30, float("inf"), float("nan")])
def test_the_memory_of_a_state_that_is_not_finite_is_cleared(size: float) -> None:
    """Its numbers become 0, and other environments keep theirs."""
    memory = PairMemory.of(GROUP, PAIRS, SURFACES, [[float("nan")] * 3, *IMPULSES[1:]], FEATURES)
    before = [*memory.rows]
    memory.clear_if_infinite(size)
    if size == 1e30:
        np.testing.assert_array_equal([*memory.rows], before)
    else:
        assert [*memory.rows] == [[0.0] * 4] * 6
