"""Contact points: their heights, and their velocities as functions of v."""

from __future__ import annotations

import numpy as np
import pytest
from states import states

import warpdyn as wd
from warpdyn.algebra.spatial import Vector
from warpdyn.algorithms.simulation.contact_rows import (
    ContactPoint,
    PointContact,
    contact_rows,
    joint_coordinates,
)
from warpdyn.execution.request.evaluate import tree_of

QUADRUPED = wd.load_robot("quadruped")
FOOT = ContactPoint("FL_foot", (0.01, 0.0, -0.02), 0.022)
SOLE = tuple(
    ContactPoint("RR_foot", (x, y, 0.0), 0.01) for x in (-0.05, 0.05) for y in (-0.02, 0.03)
)


def lowest(model: wd.Model, q: np.ndarray, point: ContactPoint) -> np.ndarray:
    """The lowest point of the sphere, in the world."""
    T = wd.oracle(wd.fk, model, q, frame=point.link)
    return T[:3, :3] @ np.array(point.centre) + T[:3, 3] - np.array([0, 0, point.radius])


@pytest.mark.parametrize("points", [(FOOT,), SOLE, (*SOLE, FOOT)], ids=["one", "four", "five"])
@pytest.mark.parametrize("model", [QUADRUPED, wd.load_robot("quadruped", floating_base=False)])
def test_rows_equal_the_jacobian_at_the_contact_point(
    model: wd.Model, points: tuple[ContactPoint, ...]
) -> None:
    """Rows are in the world's axes. Points of one body share six rows."""
    tree, q, v = tree_of(model), states(model, 1).q[0], states(model, 1).v[0]
    contacts, rows = contact_rows(tree, q.tolist(), points)
    assert len(rows) == 3 * (FOOT in points) + 6 * (len(points) > 1)
    moving = (np.array(rows, dtype=float) @ v).tolist()
    for point, contact in zip(points, contacts, strict=True):
        T = wd.oracle(wd.fk, model, q, frame=point.link)
        where = lowest(model, q, point)
        J = wd.oracle(
            wd.jacobian,
            model,
            q,
            frame=point.link,
            reference="local_world_aligned",
            point=(T[:3, :3].T @ (where - T[:3, 3])).tolist(),
        )
        assert np.allclose([*contact.velocity(moving)], (J @ v)[:3], atol=1e-12)
        assert abs(contact.height - where[2]) < 1e-12


def test_impulses_on_rows_have_the_power_of_the_impulse() -> None:
    """Rows of an impulse times rows of a velocity equal impulse times velocity of the point."""
    q, v = states(QUADRUPED, 1).q[0], states(QUADRUPED, 1).v[0]
    contacts, rows = contact_rows(tree_of(QUADRUPED), q.tolist(), (*SOLE, FOOT))
    moving = (np.array(rows, dtype=float) @ v).tolist()
    impulse = Vector(0.3, -1.0, 2.0)
    for contact in contacts:
        on_rows = contact.on_rows(impulse)
        part = moving[contact.first : contact.first + contact.rows]
        assert np.isclose(np.dot(on_rows, part), impulse.dot(contact.velocity(moving)))


def test_a_spin_has_the_entries_of_its_friction_moments() -> None:
    """A contact with one moment has the entry about the normal, a contact with three has all
    entries.
    """
    rows = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    one, three = (PointContact(0.0, 0, None, moments=n) for n in (1, 3))
    assert [*one.spin(rows[:4])] == [0.0, 0.0, 4.0]
    assert [*three.spin(rows)] == [4.0, 5.0, 6.0]
    shared = PointContact(0.0, 0, Vector(0.0, 0.0, -0.1), moments=3)
    assert [*shared.spin([*rows, 7.0])] == [*three.spin([*rows, 7.0])] == [4.0, 5.0, 6.0]


def test_heights_do_not_depend_on_the_order_of_the_quaternion() -> None:
    """A model with w first has the same points."""
    other = wd.load_robot("quadruped", quaternion="wxyz")
    q = states(QUADRUPED, 1).q[0]
    turned = q[[0, 1, 2, 6, 3, 4, 5, *range(7, QUADRUPED.nq)]]
    one, rows = contact_rows(tree_of(QUADRUPED), q.tolist(), (FOOT,))
    two, same = contact_rows(tree_of(other), turned.tolist(), (FOOT,))
    assert np.isclose(one[0].height, two[0].height, atol=1e-12)
    assert np.allclose(np.array(rows, float), np.array(same, float), atol=1e-12)


def test_joint_coordinates_exclude_those_of_free_bodies() -> None:
    assert joint_coordinates(tree_of(QUADRUPED)) == [*range(6, 18)]
    assert joint_coordinates(tree_of(wd.load_robot("panda"))) == [*range(8)]
