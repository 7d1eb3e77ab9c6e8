"""The tree: lumped fixed joints, aligned axes, resolved mimic joints, snapped constants."""

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
    """Every body hangs on the world or on a body before it; every link has a frame in one of them."""
    tree = tree_of(robot.model)
    assert all(WORLD <= body.parent < i for i, body in enumerate(tree.bodies))
    assert set(tree.frames) == set(robot.model.link_names)
    assert all(WORLD <= frame.body < len(tree.bodies) for frame in tree.frames.values())
    assert (tree.nq, tree.nv) == (robot.model.nq, robot.model.nv)


def test_one_body_for_each_moving_joint(robot: Robot) -> None:
    """Fixed joints make no bodies, joints of two axes make two; mimic joints make them but share columns."""
    model, tree = robot.model, tree_of(robot.model)
    moving = [j.name for j in model.joints if j.kind.nv for _ in j.kind.parts]
    assert sorted(body.joint for body in tree.bodies) == sorted(
        [*moving, *(["floating_base"] if model.floating_base else [])]
    )
    columns = {k for body in tree.bodies for k in body.v_index}
    assert columns == set(range(model.nv))
    assert tree.shares_coordinates == robot.has_mimic


def test_mass_is_neither_lost_nor_made(robot: Robot) -> None:
    """Bodies weigh what their links weigh; what the tree leaves out is fixed to the world."""
    model, tree = robot.model, tree_of(robot.model)
    moving = sum(link.mass for link in model.links if tree.frames[link.name].body != WORLD)
    assert sum(body.inertia.mass for body in tree.bodies) == pytest.approx(moving, rel=ROUND_OFF)


def test_rotations_stay_rotations(robot: Robot) -> None:
    """Tree transforms and frames are orthonormal, also after snapping, and joints move about one coordinate axis."""
    tree = tree_of(robot.model)
    for each in (tree, tree.snap(2.0**-25), tree.snap(2.0**-52)):
        for X in [body.X_tree for body in each.bodies] + [
            frame.placement for frame in each.frames.values()
        ]:
            R = np.array([list(row) for row in as_matrix(X.R).matrix.rows])
            assert np.max(np.abs(R @ R.T - np.eye(3))) <= 1e-6 and np.linalg.det(R) > 0
    for body in tree.bodies:
        assert body.axis in (0, 1, 2) and len(body.q_index) == body.kind.nq


def test_snapping_changes_nothing_that_counts(robot: Robot) -> None:
    """The inertia matrix of the tree snapped for float64 is the tree's, to rounding."""
    tree = tree_of(robot.model)
    q = states(robot.model, 1).q[0].tolist()
    M, snapped = np.array(crba(tree, q)), np.array(crba(tree.snap(2.0**-52), q))
    assert np.max(np.abs(M - snapped)) <= ROUND_OFF * np.max(np.abs(M))


def test_crumbs_of_right_angles_are_swept_up() -> None:
    """A right angle written as 1.5707963267948966 leaves 6e-17 in a rotation; the snapped tree has zeros and ones."""
    tree = build_tree(by_name("ur5e").model)
    entries = {
        abs(x)
        for b in tree.snap(2.0**-52).bodies
        for row in as_matrix(b.X_tree.R).matrix.rows
        for x in row
    }
    assert not any(0 < x < 1e-12 for x in entries)


def test_mimic_chains_are_followed_to_the_end() -> None:
    """third = 2 (-0.5 lead + 0.3) - 0.1 = -lead + 0.5, about a backward axis."""
    bodies = {body.joint: body for body in tree_of(by_name("mimic_chain").model).bodies}
    third, lead = bodies["third"], bodies["lead"]
    assert third.q_index == lead.q_index and third.v_index == lead.v_index
    assert (third.multiplier, third.offset) == pytest.approx((1.0, -0.5))
    assert (bodies["slide"].multiplier, bodies["slide"].offset) == pytest.approx((0.1, 0.05))


def test_a_rotor_that_follows_counts_by_the_square_of_its_speed() -> None:
    """Armature at the leader, never negative, whichever way the follower turns."""
    model = by_name("mimic_chain").model.with_armature({"lead": 2.0, "second": 2.0, "slide": 2.0})
    rotors = {body.joint: body.rotor_inertia for body in tree_of(model).bodies}
    assert rotors["lead"] == 2.0
    assert rotors["second"] == pytest.approx(2.0 * 0.5**2)
    assert rotors["slide"] == pytest.approx(2.0 * 0.1**2)


def test_a_robot_without_joints() -> None:
    """One link alone is a robot of no coordinates; free, it is a body."""
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


def test_inertia_of_a_robot_without_joints_is_a_matrix() -> None:
    """crba of a robot of no coordinates is (B, 0, 0)."""
    model = wd.load_urdf(urdf("stone", link("rock", 2.0)))
    assert wd.crba(model, np.zeros((3, 0))).shape == (3, 0, 0)
