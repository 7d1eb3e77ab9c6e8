"""Scaled rows of contacts in a slot."""

from __future__ import annotations

import numpy as np
import pytest

import warpdyn as wd
from warpdyn.algebra.linear import factorise
from warpdyn.algebra.spatial import Vector
from warpdyn.algorithms.collision.contact import Contact
from warpdyn.algorithms.crba import crba
from warpdyn.algorithms.simulation.compliant_contact import Surface
from warpdyn.algorithms.simulation.constraint_sweeps import rows_of
from warpdyn.algorithms.simulation.contact_rows import components
from warpdyn.algorithms.simulation.contact_shapes import GROUND, ContactPair, ContactShape
from warpdyn.algorithms.simulation.pair_slots import pairs_at
from warpdyn.algorithms.simulation.pair_slots.pair_memory import TouchingBodies
from warpdyn.algorithms.simulation.pair_slots.slot_rows import (
    RowsAlongTwist,
    have_one_normal,
    scaled_rows,
)
from warpdyn.algorithms.simulation.pair_slots.slot_sweeps import OtherConstraints, slot_sweeps
from warpdyn.execution.request.evaluate import tree_of

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
def test_rows_along_a_twist_equal_the_rows_of_each_position(moments: int) -> None:
    """The velocity of a point is that of the first one plus angular velocity times offset."""
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


def test_three_contacts_with_one_normal_share_rows() -> None:
    """Fewer contacts, and contacts with different normals, have separate rows."""
    up, side = Vector(0.0, 0.0, 1.0), Vector(1.0, 0.0, 0.0)
    contacts = [Contact(0.0, Vector(0.0, 0.0, 0.0), n, 0.0) for n in (up, up, up, side)]
    assert have_one_normal(contacts[:3])
    assert not have_one_normal(contacts[:2]) and not have_one_normal(contacts)


def impulses_of_a_heap(moments: int) -> tuple[np.ndarray, np.ndarray]:
    """Velocities and impulses of two cubes and a ball, one above the other, on the ground.

    Faces have one normal, and a ball has single contacts.
    """
    box, model = (
        wd.description.Box(0.1, 0.1, 0.1),
        wd.ModelBuilder("floor").add_link("floor").build(),
    )
    for name in ("a", "b", "ball"):
        model = model.with_object(name, box, mass=0.5)
    q = np.zeros(model.nq)
    for n, turn in enumerate(np.random.default_rng(4).normal(size=(3, 4)) * 0.01):
        turn += [0, 0, 0, 1]
        place = [0.003 * n, -0.002 * n, 0.0495 + 0.0985 * n]
        q[7 * n : 7 * n + 7] = [*place, *turn / np.linalg.norm(turn)]
    a, b = (ContactShape(name, "box", (0.05,) * 3) for name in ("a", "b"))
    ball = ContactShape("ball", "sphere", (0.05,))
    pairs = [ContactPair(GROUND, a), ContactPair(a, b), ContactPair(b, ball)]
    count = sum(pair.contacts for pair in pairs)
    surfaces = [
        Surface([0.6] * x, 1e4, 0.005, 1.0, torsional=[0.01] * x, rolling=[0.002] * x)
        for x in (pair.contacts for pair in pairs)
    ]
    tree, v = tree_of(model), np.random.default_rng(1).normal(size=model.nv) * 0.2
    mass = factorise([list(row) for row in crba(tree, q.tolist())])
    touching = TouchingBodies.of(
        tree,
        pairs,
        None,
        surfaces,
        [[0.0] * (3 + moments)] * count,
        [0.0] * count,
        [moments] * len(pairs),
    )
    others = OtherConstraints(rows_of([], mass), (), (), (), ())
    free = (v - 0.02).tolist()
    found = slot_sweeps(tree, q.tolist(), v.tolist(), free, mass, 0.002, touching.memory, others, 4)
    return np.array(found.v, float), np.array(touching.results(0.002)[0], float)


@pytest.mark.parametrize("moments", [0, 3])
def test_shared_rows_give_the_forces_of_separate_rows(
    monkeypatch: pytest.MonkeyPatch, moments: int
) -> None:
    """Impulses agree to rounding, for faces and for a ball that rolls on a face."""
    shared, kinds = impulses_of_a_heap(moments), set()

    def separate(contacts: list[Contact]) -> bool:
        kinds.add(have_one_normal(contacts))
        return False

    monkeypatch.setattr(pairs_at, "have_one_normal", separate)
    for found, wanted in zip(shared, impulses_of_a_heap(moments), strict=True):
        np.testing.assert_allclose(found, wanted, atol=1e-12)
    assert kinds == {True, False}
    assert (np.linalg.norm(shared[1], axis=1) > 1e-4).sum() >= 6
