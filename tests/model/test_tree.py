"""The tree: lumped fixed joints, aligned axes, resolved mimic joints, and rounded constants."""

from __future__ import annotations

import numpy as np
import pytest
from hand_made_urdf import joint, link, urdf
from robots import Robot, by_name
from states import states

import warpdyn as wd
from warpdyn.algebra.spatial import as_matrix
from warpdyn.algorithms.crba import crba
from warpdyn.execution.request.evaluate import tree_of
from warpdyn.model.lumping import build_tree
from warpdyn.model.tree import WORLD

ROUND_OFF = 1e-13
"""Relative to the numbers of the description."""


def test_parents_come_first(robot: Robot) -> None:
    """Every body is attached to the world or to an earlier body. Every link has a frame in one of
    them."""
    tree = tree_of(robot.model)
    assert all(WORLD <= body.parent < i for i, body in enumerate(tree.bodies))
    assert set(tree.frames) == set(robot.model.link_names)
    assert all(WORLD <= frame.body < len(tree.bodies) for frame in tree.frames.values())
    assert (tree.nq, tree.nv) == (robot.model.nq, robot.model.nv)


def test_each_moving_joint_has_one_body(robot: Robot) -> None:
    """Fixed joints have none, joints of two axes two. Mimic joints have bodies that share
    columns."""
    model, tree = robot.model, tree_of(robot.model)
    moving = [j.name for j in model.joints if j.kind.nv for _ in j.kind.parts]
    assert sorted(body.joint for body in tree.bodies) == sorted(
        [*moving, *(["floating_base"] if model.floating_base else [])]
    )
    columns = {k for body in tree.bodies for k in body.v_index}
    assert columns == set(range(model.nv))
    assert tree.shares_coordinates == robot.has_mimic


def test_mass_is_conserved(robot: Robot) -> None:
    """Bodies have the mass of their links. Mass outside the tree is fixed to the world."""
    model, tree = robot.model, tree_of(robot.model)
    moving = sum(link.mass for link in model.links if tree.frames[link.name].body != WORLD)
    assert sum(body.inertia.mass for body in tree.bodies) == pytest.approx(moving, rel=ROUND_OFF)


def test_transforms_of_the_tree_are_rotations(robot: Robot) -> None:
    """They are orthonormal, also after snapping, and joints move about one coordinate axis."""
    tree = tree_of(robot.model)
    for each in (tree, tree.snap(2.0**-25), tree.snap(2.0**-52)):
        for X in [body.X_tree for body in each.bodies] + [
            frame.placement for frame in each.frames.values()
        ]:
            R = np.array([list(row) for row in as_matrix(X.R).matrix.rows])
            assert np.max(np.abs(R @ R.T - np.eye(3))) <= 1e-6 and np.linalg.det(R) > 0
    for body in tree.bodies:
        assert body.axis in (0, 1, 2) and len(body.q_index) == body.kind.nq


def test_snapping_does_not_change_the_inertia_matrix(robot: Robot) -> None:
    """The two are equal up to rounding, in float64."""
    tree = tree_of(robot.model)
    q = states(robot.model, 1).q[0].tolist()
    M, snapped = np.array(crba(tree, q)), np.array(crba(tree.snap(2.0**-52), q))
    assert np.max(np.abs(M - snapped)) <= ROUND_OFF * np.max(np.abs(M))


def test_snapping_removes_rounding_errors_of_right_angles() -> None:
    """A right angle written as 1.5707963267948966 leaves 6e-17 in a rotation. The snapped tree has
    zeros and ones."""
    tree = build_tree(by_name("ur5e").model)
    entries = {
        abs(x)
        for b in tree.snap(2.0**-52).bodies
        for row in as_matrix(b.X_tree.R).matrix.rows
        for x in row
    }
    assert not any(0 < x < 1e-12 for x in entries)


def test_mimic_chains_are_resolved() -> None:
    """third = 2 (-0.5 lead + 0.3) - 0.1 = -lead + 0.5, about a reversed axis."""
    bodies = {body.joint: body for body in tree_of(by_name("mimic_chain").model).bodies}
    third, lead = bodies["third"], bodies["lead"]
    assert third.q_index == lead.q_index and third.v_index == lead.v_index
    assert (third.multiplier, third.offset) == pytest.approx((1.0, -0.5))
    assert (bodies["slide"].multiplier, bodies["slide"].offset) == pytest.approx((0.1, 0.05))


def test_the_rotor_of_a_mimic_joint_counts_by_its_ratio_squared() -> None:
    """Its armature at the leader is never negative, whichever way the joint turns."""
    model = by_name("mimic_chain").model.with_armature({"lead": 2.0, "second": 2.0, "slide": 2.0})
    rotors = {body.joint: body.rotor_inertia for body in tree_of(model).bodies}
    assert rotors["lead"] == 2.0
    assert rotors["second"] == pytest.approx(2.0 * 0.5**2)
    assert rotors["slide"] == pytest.approx(2.0 * 0.1**2)


def test_a_robot_without_joints_has_no_coordinates() -> None:
    """A single link is such a robot. With a free base it is a body."""
    text = urdf(
        "stone",
        link("rock", 2.0, (0.1, 0, 0)),
        link("moss"),
        joint("grown", "fixed", "rock", "moss", (0, 0, 0.2)),
    )
    fixed, free = wd.load_urdf(text), wd.load_urdf(text, floating_base=True)
    assert tree_of(fixed).bodies == () and fixed.nq == fixed.nv == 0
    empty = np.zeros((3, 0))
    assert wd.rnea(fixed, empty, empty, empty).shape == (3, 0)
    assert wd.aba(fixed, empty, empty, empty).shape == (3, 0)
    assert np.array_equal(
        wd.fk(fixed, empty, frame="moss"),
        np.tile(wd.oracle(wd.fk, fixed, np.zeros(0), frame="moss"), (3, 1, 1)),
    )
    assert wd.jacobian(fixed, empty, frame="moss").shape == (3, 6, 0)
    M = wd.crba(free, free.neutral)
    assert M[0, 0] == 2.0 and M.shape == (6, 6)


def test_the_inertia_matrix_without_joints_is_empty() -> None:
    """crba returns (B, 0, 0)."""
    model = wd.load_urdf(urdf("stone", link("rock", 2.0)))
    assert wd.crba(model, np.zeros((3, 0))).shape == (3, 0, 0)
