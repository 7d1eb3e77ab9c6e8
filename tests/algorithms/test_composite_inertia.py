"""Composite inertias: total mass, sums of parts, and inertia about the centre of mass."""

from __future__ import annotations

import numpy as np
import pytest
from robots import ROBOTS, Robot, by_name
from states import error, states

import warpdyn as wd
from warpdyn.algebra.spatial import Inertia, Placement, Symmetric, Vector, as_matrix
from warpdyn.algorithms.composite_inertia import (
    about_com,
    composites,
    composites_near_com,
    root_axes,
)
from warpdyn.algorithms.frames import body_placements, path_beyond
from warpdyn.execution.request.evaluate import tree_of
from warpdyn.model.tree import WORLD

ROUND_OFF = 1e-12
"""Relative to the largest entry: sums over some thirty bodies."""


def numbers(inertia: Inertia) -> np.ndarray:
    return np.array([inertia.mass, *inertia.h, *inertia.J.entries])


def test_a_composite_is_the_sum_of_the_inertias_beyond_it(robot: Robot) -> None:
    """The inertia of body i and of all bodies that it carries, each moved to i."""
    model, tree = robot.model, tree_of(robot.model)
    q = states(model, 1).q[0].tolist()
    base = tree.frames[model.root].body
    X, inertia = composites(tree, q, base)
    assert set(X) == set(range(len(tree.bodies))) - {base}
    for i in range(len(tree.bodies)):
        carried = [j for j in range(len(tree.bodies)) if i in tree.path(j)]
        total = np.zeros(10)
        for j in carried:
            placed = body_placements(tree, q, [j], i)[j]
            assert set(path_beyond(tree, j, i)) <= set(carried)
            total += numbers(placed.inertia_to_parent(tree.bodies[j].inertia))
        assert error(numbers(inertia[i]), total) <= ROUND_OFF


def test_the_composite_at_the_root_is_the_whole_robot(robot: Robot) -> None:
    """The composite has the total mass, root-fixed links included. Its first moment gives the
    centre of mass.
    """
    model, tree = robot.model, tree_of(robot.model)
    q = states(model, 1).q[0]
    base = tree.frames[model.root].body
    whole = composites(tree, q.tolist(), base)[1][base]
    assert whole.mass == pytest.approx(model.total_mass, rel=ROUND_OFF)
    c, _ = about_com(whole)
    T = wd.oracle(wd.fk, model, q, frame=model.root)
    found = (T @ [*c, 1.0])[:3]
    assert error(found, wd.oracle(wd.com, model, q), np.ones(1)) <= ROUND_OFF


def test_reference_points_near_the_com_do_not_change_the_inertia(robot: Robot) -> None:
    """The inertia about the centre of mass is the same from points near it and from the root link's
    origin. Placements lead from point to point.
    """
    model, tree = robot.model, tree_of(robot.model)
    q = states(model, 1).q[0].tolist()
    base = tree.frames[model.root].body
    X, inertia = composites(tree, q, base)
    r, moved, referred = composites_near_com(tree, q, base)
    c, whole = about_com(inertia[base])
    rest, again = about_com(referred[base])
    assert error(np.array([*(r[base] + rest)]), np.array([*c]), np.ones(1)) <= ROUND_OFF
    assert error(numbers(again), numbers(whole), numbers(inertia[base])) <= ROUND_OFF
    for i, body in enumerate(tree.bodies):
        if i != base:
            there = X[i].point_to_parent(r[i]) - r[body.parent]
            assert error(np.array([*moved[i].p]), np.array([*there]), np.ones(1)) <= ROUND_OFF


@pytest.mark.parametrize(("name", "slid"), [("slides", 3), ("planar", 1), ("axes", 0)])
def test_sliding_bodies_are_referred_to_the_centre_of_mass(name: str, slid: int) -> None:
    """The root link, and joints of rails behind it up to the first hinge.

    For a fixed robot there are none.
    """
    model = by_name(name).model
    tree = tree_of(model)
    base = tree.frames[model.root].body
    r, _, _ = composites_near_com(tree, states(model, 1).q[0].tolist(), base)
    assert sum(any(point) for point in r.values()) == slid


def test_the_first_moment_about_the_centre_of_mass_is_zero() -> None:
    """Moved back to the origin, the inertia is the original one."""
    J = Symmetric(0.9, 0.1, -0.2, 1.1, 0.05, 1.3)
    whole = Inertia.at_com(2.5, Vector(0.3, -0.2, 0.7), J)
    c, central = about_com(whole)
    assert list(c) == pytest.approx([0.3, -0.2, 0.7], abs=1e-15)
    assert list(central.h) == [0.0, 0.0, 0.0] and central.mass == 2.5
    assert list(central.J.entries) == pytest.approx(list(J.entries), abs=1e-15)
    identity = as_matrix(
        Placement(root_axes(tree_of(by_name("single").model), [], WORLD, "base"), c).R
    )
    back = Placement(identity, c).inertia_to_parent(central)
    assert numbers(back) == pytest.approx(numbers(whole), abs=1e-14)


@pytest.mark.parametrize("robot", [r for r in ROBOTS if r.floating], ids=lambda r: r.name)
def test_root_axes_of_a_floating_base_are_those_requested(robot: Robot) -> None:
    """The world's axes give the rotation of the base, its own axes give the identity."""
    model, tree = robot.model, tree_of(robot.model)
    q = states(model, 1).q[0]
    base = tree.frames[model.root].body
    R = np.array(
        [list(row) for row in as_matrix(root_axes(tree, q.tolist(), base, "world")).matrix.rows]
    )
    assert error(R, wd.oracle(wd.fk, model, q, frame=model.root)[:3, :3]) <= ROUND_OFF
    own = as_matrix(root_axes(tree, q.tolist(), base, "base")).matrix.rows
    assert np.array_equal([list(row) for row in own], np.eye(3))


def test_a_fixed_root_has_the_axes_of_the_world() -> None:
    """All requested axes are those of the world."""
    tree = tree_of(by_name("rooted").model)
    for axes in ("base", "world"):
        rows = as_matrix(root_axes(tree, [0.3], WORLD, axes)).matrix.rows
        assert np.array_equal([list(row) for row in rows], np.eye(3))
