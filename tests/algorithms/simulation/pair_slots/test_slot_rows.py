"""Scaled rows of contacts in a slot."""

from __future__ import annotations

import numpy as np
import pytest

from warpdyn.algebra.linear import factorise
from warpdyn.algebra.spatial import Vector
from warpdyn.algorithms.collision.contact import Contact
from warpdyn.algorithms.simulation.contact_rows import components
from warpdyn.algorithms.simulation.pair_slots.slot_rows import (
    RowsAlongTwist,
    have_one_normal,
    scaled_rows,
)

RANDOM = np.random.default_rng(0)
SIZE = 7
ROOT = RANDOM.normal(size=(SIZE, SIZE))
H = ROOT @ ROOT.T + np.eye(SIZE)
MASS = factorise(H.tolist())


def test_products_of_scaled_rows_are_responses() -> None:
    """Y Y^T = J H^-1 J^T, the velocities of rows for unit impulses on rows."""
    J = RANDOM.normal(size=(4, SIZE))
    rows = scaled_rows(J.tolist(), MASS)
    np.testing.assert_allclose(np.array(rows.Y) @ np.array(rows.Z).T, J @ np.linalg.solve(H, J.T))


@pytest.mark.parametrize("moments", [0, 1, 3])
def test_rows_along_a_twist_are_those_of_each_place(moments: int) -> None:
    """The velocity of a point is that of the first one and the angular velocity across the offset."""
    twist = RANDOM.normal(size=(6, SIZE))
    offsets = [Vector(0.0, 0.0, 0.0), *(Vector(*x) for x in RANDOM.normal(size=(3, 3)))]
    J = []
    for d in offsets:
        linear = np.array([np.array([*d]) for _ in range(SIZE)])
        J += [*(twist[:3] + np.cross(twist[3:].T, linear).T)]
        J += [*np.array([components(Vector(*w), moments) for w in twist[3:].T]).T]
    found = RowsAlongTwist.at(twist.tolist(), offsets, moments, MASS)
    wanted = scaled_rows([row.tolist() for row in J], MASS)
    for name in ("J", "Y", "Z"):
        np.testing.assert_allclose(getattr(found, name), getattr(wanted, name), atol=1e-12)
    v = RANDOM.normal(size=SIZE).tolist()
    np.testing.assert_allclose(found.of(v), wanted.of(v), atol=1e-12)


def test_contacts_with_one_normal() -> None:
    """Rows are shared from three contacts on."""
    up, side = Vector(0.0, 0.0, 1.0), Vector(1.0, 0.0, 0.0)
    contacts = [Contact(0.0, Vector(0.0, 0.0, 0.0), n, 0.0) for n in (up, up, up, side)]
    assert have_one_normal(contacts[:3])
    assert not have_one_normal(contacts[:2]) and not have_one_normal(contacts)
