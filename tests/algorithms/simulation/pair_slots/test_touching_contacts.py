"""The exact test after the broad phase, which selects the contacts that take a slot."""

from __future__ import annotations

from itertools import cycle

import numpy as np
import pytest
from slot_pairs import contact_gaps, pairs_at
from states import states

import warpdyn as wd
from warpdyn.algorithms.simulation.contact_shapes import ContactPair, ContactShape
from warpdyn.algorithms.simulation.pair_slots import touching_contacts
from warpdyn.algorithms.simulation.pair_slots.ground_points import MARGIN, REACHES
from warpdyn.algorithms.simulation.pair_slots.near_pairs import near_pairs
from warpdyn.algorithms.simulation.pair_slots.pair_groups import pair_groups
from warpdyn.algorithms.simulation.pair_slots.pairs_at import PairsAt
from warpdyn.algorithms.simulation.pair_slots.touching_contacts import (
    FoundContact,
    TouchingContacts,
    touch_one_by_one,
)
from warpdyn.execution.request.evaluate import tree_of

ARM = wd.load_robot("panda")
SAMPLED = states(ARM, 40)
PAIRS = [
    ContactPair(
        ContactShape(f"panda_link{a}", "capsule", (0.08, 0.15)),
        ContactShape(f"panda_link{b}", "capsule", (0.08, 0.15), (0.0, 0.0, 0.05)),
    )
    for a, b in ((1, 4), (2, 5), (1, 6), (3, 6), (2, 7))
]


def test_contacts_that_may_touch_take_a_slot() -> None:
    """Those that touch now or after the step, and none that is farther than its shapes can move.

    Each equals the contact of the narrow phase.
    """
    counts, tree, dt = set(), tree_of(ARM), 0.002
    for q, v in zip(SAMPLED.q, SAMPLED.v, strict=True):
        pairs = pairs_at(ARM, PAIRS, q, v, v)
        numbers, near, _ = near_pairs(pairs.memory, pairs.moving)
        touching = TouchingContacts(pairs, numbers, near)
        found = [FoundContact.of(touching.array[float(k)]) for k in range(int(touching.count))]
        chosen = {(int(each.pair), int(each.place)) for each in found}
        now, later = (
            {
                (n, c): gap
                for n, pair in enumerate(PAIRS)
                for c, gap in enumerate(contact_gaps(tree, x.tolist(), pair))
            }
            for x in (q, q + v * dt)
        )
        assert {key for key in now if min(now[key], later[key]) < 0} <= chosen
        for each in found:
            gap = now[int(each.pair), int(each.place)]
            assert each.contact.gap == pytest.approx(gap, abs=1e-12)
            assert gap <= pairs.reach(each.pair) * REACHES + MARGIN
        counts.add(len(chosen))
        assert touching.known and touching.slots == 2 * pairs.group.slots
    assert {0, 1, 2} <= counts


def test_a_slot_beyond_the_count_has_no_contact() -> None:
    """Its contact is far away, and its row in the memory belongs to no pair."""
    for q, v in zip(SAMPLED.q, SAMPLED.v, strict=True):
        pairs = pairs_at(ARM, PAIRS, q, v, v)
        numbers, near, _ = near_pairs(pairs.memory, pairs.moving)
        touching = TouchingContacts(pairs, numbers, near)
        if touching.count > 0 and touching.count < touching.slots:
            (contact,) = touching.slot(touching.count).contacts
            nothing = [0.0, 0.0, 0.0]
            assert contact.update(nothing, [0.0] * pairs.width) == nothing
            assert touching.rows(touching.count) == [2.0 * len(PAIRS)]
            return
    pytest.fail("no state has a contact")


@pytest.mark.parametrize("count, wanted", [(4, False), (5, True)])
def test_contacts_of_many_links_and_a_free_body_take_slots(count: int, wanted: bool) -> None:
    """Whole pairs take slots if there are few links. The contacts of a pair then share rows."""
    scene = ARM.with_object("cube", wd.description.Box(0.1, 0.1, 0.1), mass=1.0)
    cube = ContactShape("cube", "box", (0.05, 0.05, 0.05))
    links = [ContactShape(f"panda_link{n}", "box", (0.05, 0.04, 0.03)) for n in range(1, 1 + count)]
    (group,) = pair_groups(tree_of(scene), [ContactPair(link, cube) for link in links])
    assert touch_one_by_one(group) is wanted


def test_environments_with_fewer_contacts_have_the_same_bits() -> None:
    """Alone, and next to one with more contacts."""
    several = np.argsort([count_contacts(q, v) for q, v in zip(SAMPLED.q, SAMPLED.v, strict=True)])
    q, v = (np.float32(x[several[[0, 15, -1]]]) for x in (SAMPLED.q, SAMPLED.v))
    together = wd.step(ARM, q, v, 0 * v, pairs=PAIRS, dt=0.001)
    assert np.isfinite(together.v).all()
    for n in range(3):
        alone = wd.step(ARM, q[n : n + 1], v[n : n + 1], 0 * v[:1], pairs=PAIRS, dt=0.001)
        np.testing.assert_array_equal(alone.v[0], together.v[n])


def count_contacts(q: np.ndarray, v: np.ndarray) -> int:
    pairs = pairs_at(ARM, PAIRS, q, v, v)
    numbers, near, _ = near_pairs(pairs.memory, pairs.moving)
    return int(TouchingContacts(pairs, numbers, near).count)


def test_features_of_contacts_in_slots_are_known_if_all_are_numbers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Some features count as computed."""
    cases = zip(SAMPLED.q, SAMPLED.v, strict=True)
    near = next(each for each in (pairs_at(ARM, PAIRS, q, v, v) for q, v in cases) if _near(each))
    for features, wanted in (([True], True), ([True, False], False), ([False, True], False)):
        turns = cycle(features)
        monkeypatch.setattr(touching_contacts, "is_number", lambda x, turns=turns: next(turns))
        numbers, count, _ = near_pairs(near.memory, near.moving)
        assert TouchingContacts(near, numbers, count).known == wanted


def _near(pairs: PairsAt) -> bool:
    """True if some pairs are near."""
    return bool(near_pairs(pairs.memory, pairs.moving)[1] > 0)
