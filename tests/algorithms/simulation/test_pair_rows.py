"""Contacts between bodies: rows against differences of gaps, and impulses that follow features."""

from __future__ import annotations

import numpy as np
import pytest
from states import states

import warpdyn as wd
from warpdyn.algorithms.simulation.pair_rows import (
    GROUND,
    ContactPair,
    ContactShape,
    PairContacts,
    pair_rows,
    passed_on,
)
from warpdyn.execution.request.evaluate import tree_of
from warpdyn.recording.program import record

CUBE = wd.description.Box(0.1, 0.1, 0.1)
SCENE = wd.load_robot("quadruped").with_object("cube", CUBE, mass=1.0)
ARM = wd.load_robot("panda")

BALL = ContactShape("cube", "sphere", (0.05,), (0.01, 0.02, 0.03))
PAIRS = {
    "two bodies": (SCENE, ContactPair(ContactShape("base", "sphere", (0.1,), (0.2, 0, 0)), BALL)),
    "one robot": (
        ARM,
        ContactPair(
            ContactShape("panda_link2", "sphere", (0.1,), (0, -0.1, 0)),
            ContactShape("panda_hand", "capsule", (0.03, 0.05), (0, 0, 0.1)),
        ),
    ),
    "the ground": (SCENE, ContactPair(GROUND, BALL)),
}


@pytest.mark.parametrize("model, pair", PAIRS.values(), ids=PAIRS)
def test_rows_are_the_rate_of_the_gap(model: wd.Model, pair: ContactPair) -> None:
    """The last row of a contact is along its normal, so that it times v is d gap / dt."""
    tree, dt = tree_of(model), 1e-6
    sampled = states(model, 20)
    for q, v in zip(sampled.q, sampled.v, strict=True):
        (found,), rows = pair_rows(tree, q.tolist(), [pair], 0)
        ahead, behind = (
            pair_rows(tree, wd.integrate(model, q, v * step).tolist(), [pair], 0)[0][0].points[0]
            for step in (dt, -dt)
        )
        contact = found.points[0]
        velocity = contact.velocity((np.array(rows) @ v).tolist())
        expected = (ahead.height - behind.height) / (2 * dt)
        np.testing.assert_allclose(velocity.z, expected, atol=1e-6 * (1 + abs(expected)))


def test_joints_that_carry_both_shapes_have_no_entry() -> None:
    """The first two joints of the arm carry both links of its pair."""
    model, pair = PAIRS["one robot"]
    _, rows = pair_rows(tree_of(model), states(model, 1).q[0].tolist(), [pair], 0)
    assert all(row[0] == 0.0 and row[1] == 0.0 for row in rows)
    assert any(row[2] != 0.0 for row in rows)


def test_two_pairs_share_no_rows() -> None:
    """Rows are numbered through all pairs, from the first number on."""
    model, pair = PAIRS["two bodies"]
    found, rows = pair_rows(tree_of(model), states(model, 1).q[0].tolist(), [pair, pair], 5)
    assert [point.first for each in found for point in each.points] == [5, 8] and len(rows) == 6


def test_impulses_follow_their_features() -> None:
    """A contact begins with the impulse that its feature had in the last step, in any place."""

    def started(features: list, before: list, impulses: list) -> list:
        return passed_on([PairContacts([], features)], before, impulses)

    program = record(started, {"features": (3,), "before": (3,), "impulses": (9,)})
    numbers = {"features": [7.0, 3.0, 5.0], "before": [3.0, 9.0, 7.0], "impulses": [*range(9)]}
    assert program.on_numbers(numbers)["out"] == [6, 7, 8, 0, 1, 2, 0, 0, 0]


def test_a_feature_that_is_known_keeps_its_place() -> None:
    """The one contact of two spheres costs no comparison."""
    assert passed_on([PairContacts([], [0.0])], [5.0], [1.0, 2.0, 3.0]) == [1.0, 2.0, 3.0]
