"""A contact in a slot: its numbers as a row, and its update in a sweep."""

from __future__ import annotations

import numpy as np
import pytest

from warpdyn.algorithms.simulation.compliant_contact import CompliantContact
from warpdyn.algorithms.simulation.constraint_sweeps import RowByRow
from warpdyn.algorithms.simulation.contact_rows import PointContact
from warpdyn.algorithms.simulation.friction_moments import FrictionMoments
from warpdyn.algorithms.simulation.pair_slots.slot_contact import (
    LAW,
    SlotContact,
    coupled_rows,
    short_dot,
)


def contact(width: int, seed: int = 0, moments: int = 0) -> SlotContact:
    draw = np.random.default_rng(seed)
    Y = draw.normal(size=(3 + moments, width))
    G = Y @ Y.T
    return SlotContact(
        unmoved=draw.normal(size=3 + moments).tolist(),
        Y=Y.tolist(),
        coupling=[G[a, b] for a, b in coupled_rows(moments)],
        moments=[0.2, 0.03, 1.0 / (G[-1, -1] + 0.03), 0.1, 0.02, 0.3][: 2 * moments + moments % 3],
        law=[0.7, 0.1, 0.01, 1.0 / (G[2, 2] + 0.1), 1.0 / (max(G[0, 0], G[1, 1]) + 0.01), 0.2],
        normal=[0.0, 0.6, 0.8],
        feature=3.0,
    )


def test_a_contact_is_converted_to_a_row_and_back() -> None:
    """The row has as many numbers as `size` returns."""
    for moments in (0, 1, 3):
        before = contact(7, moments=moments)
        numbers = before.numbers
        assert len(numbers) == SlotContact.size(7, moments)
        assert SlotContact.of_numbers(numbers, 7, moments) == before
        located = before._replace(position=(1.0, 2.0, 3.0))
        assert len(located.numbers) == SlotContact.size(7, moments, located=True)
        assert SlotContact.of_numbers(located.numbers, 7, moments) == located


@pytest.mark.parametrize("moments", [0, 1, 3])
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("width", [1, 6, 15])
def test_an_update_equals_that_of_a_compliant_contact(width: int, seed: int, moments: int) -> None:
    """The impulse and the velocities of the contact's rows after the reaction are compared."""
    each, draw = contact(width, seed, moments), np.random.default_rng(seed + 10)
    w, before = draw.normal(size=width), [*draw.normal(size=2), abs(draw.normal())]
    before += draw.normal(size=moments).tolist()
    Y = np.array(each.Y)
    law = dict(zip(LAW, each.law, strict=True))
    turning = FrictionMoments(*each.moments) if moments else None
    at = PointContact(0.0, 0, None, moments=moments)
    known = CompliantContact(at, G_nn=0.0, moments=turning, **law)
    velocities = np.array(each.unmoved) + Y @ w
    wanted, after = known.update(before, RowByRow(velocities.tolist(), (Y @ Y.T).tolist()))
    found = each.update(before, w.tolist())
    np.testing.assert_allclose(found, wanted, rtol=1e-12)
    change = np.subtract(found, before)
    pushed = each.push(w.tolist(), change.tolist(), [1.0] * width)
    np.testing.assert_allclose(np.array(each.unmoved) + Y @ pushed, after.values, rtol=1e-9)
    np.testing.assert_allclose([row.z for row in each.axes.matrix.rows], each.normal)


def test_signs_apply_to_the_reaction() -> None:
    """Equations of closed loops have negative entries of D."""
    each = contact(2)
    Y, signs = np.array(each.Y), np.array([1.0, -1.0])
    pushed = each.push([0.5, 0.25], [1.0, 2.0, 3.0], signs.tolist())
    np.testing.assert_allclose(pushed, [0.5, 0.25] + signs * (np.array([1.0, 2.0, 3.0]) @ Y))


@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 7, 23])
def test_short_dot_equals_the_dot_product(count: int) -> None:
    """Entries that are zero are skipped."""
    draw = np.random.default_rng(count)
    a, b = draw.normal(size=(2, count))
    a[1::3] = 0.0
    assert short_dot(a.tolist(), b.tolist()) == pytest.approx(a @ b, abs=1e-14)
