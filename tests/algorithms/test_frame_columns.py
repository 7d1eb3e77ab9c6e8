"""Columns of a frame's Jacobian: constant subspaces moved to the frame, relative to the world or a
body.
"""

from __future__ import annotations

import numpy as np
import pytest
from robots import Robot, by_name
from states import error, states

from warpdyn.algebra.pose_forms import homogeneous
from warpdyn.algebra.spatial import Motion, Vector
from warpdyn.algorithms.frame_columns import columns_to_matrix, frame_columns, relative_columns
from warpdyn.algorithms.frames import body_placements
from warpdyn.execution.request.evaluate import tree_of
from warpdyn.model.tree import WORLD

ROUND_OFF = 1e-13
"""Relative to the largest entry (or one): motions are moved along some ten joints."""

REFERENCES = ("local", "world", "local_world_aligned")


def farthest(robot: Robot) -> str:
    tree = tree_of(robot.model)
    return max(tree.frames, key=lambda name: len(tree.path(tree.frames[name].body)))


def transform(X) -> np.ndarray:
    """The 6 by 6 matrix from motions in a frame placed by X to motions in the frame around it."""
    units = [Motion(Vector(*e[:3]), Vector(*e[3:])) for e in np.eye(6).tolist()]
    return np.array([list(X.motion_to_parent(unit)) for unit in units]).T


def test_columns_belong_to_the_joints_that_carry_the_frame(robot: Robot) -> None:
    """One list for each body that carries the frame, root first, with its joint's indices.

    The pose is that of the frame.
    """
    tree, q = tree_of(robot.model), states(robot.model, 1).q[0].tolist()
    seat = tree.frames[farthest(robot)]
    wanted = [list(tree.bodies[i].v_index) for i in tree.path(seat.body)]
    X0 = body_placements(tree, q, [seat.body])
    pose = np.array(homogeneous(X0[seat.body].compose(seat.placement)))
    for reference in REFERENCES:
        bodies, T = frame_columns(tree, q, seat, reference)
        assert [[k for k, _ in columns] for columns in bodies] == wanted
        assert error(np.array(homogeneous(T)), pose) <= ROUND_OFF


def test_a_column_is_its_subspace_moved_to_the_frame(robot: Robot) -> None:
    """World columns are X0 S, and the frame's transform moves local ones to them."""
    tree, q = tree_of(robot.model), states(robot.model, 1).q[0].tolist()
    seat = tree.frames[farthest(robot)]
    X0 = body_placements(tree, q, [seat.body])
    (local, T), (world, _) = (frame_columns(tree, q, seat, r) for r in ("local", "world"))
    for i, mine, theirs in zip(tree.path(seat.body), local, world, strict=True):
        for (_, c), (_, w), (_, S) in zip(mine, theirs, tree.bodies[i].subspace, strict=True):
            wanted = np.array(list(w))
            assert error(transform(X0[i]) @ np.array(list(S)), wanted, np.ones(1)) <= ROUND_OFF
            assert error(transform(T) @ np.array(list(c)), wanted, np.ones(1)) <= ROUND_OFF


def test_columns_relative_to_a_body_are_those_of_joints_beyond_it(robot: Robot) -> None:
    """Local columns relative to any carrier are the last of those relative to the world."""
    tree, q = tree_of(robot.model), states(robot.model, 1).q[0].tolist()
    seat = tree.frames[farthest(robot)]
    whole, _ = frame_columns(tree, q, seat, "local")
    for n, root in enumerate([WORLD, *tree.path(seat.body)]):
        bodies, _ = frame_columns(tree, q, seat, "local", root)
        found, wanted = (columns_to_matrix(tree.nv, each) for each in (bodies, whole[n:]))
        assert error(np.array(found), np.array(wanted), np.ones(1)) <= ROUND_OFF


@pytest.mark.parametrize("name", ["panda", "branches", "mimic_branches", "two_axes", "rooted"])
def test_relative_motion_changes_sign_if_both_frames_are_swapped(name: str) -> None:
    """V_ab, at the world's origin of b, is -V_ba moved there.

    A frame relative to itself does not move.
    """
    model = by_name(name).model
    tree, q = tree_of(model), states(model, 1).q[0].tolist()
    for a, b in (
        (model.link_names[-1], model.link_names[1]),
        (farthest(by_name(name)), model.root),
    ):
        one, other = tree.frames[a], tree.frames[b]
        J = columns_to_matrix(tree.nv, relative_columns(tree, q, one, other, "world"))
        back = columns_to_matrix(tree.nv, relative_columns(tree, q, other, one, "local"))
        assert error(np.array(J), -np.array(back), np.ones(1)) <= ROUND_OFF
        still = columns_to_matrix(tree.nv, relative_columns(tree, q, one, one, "world"))
        assert not np.any(still)


def test_columns_of_joints_that_share_a_coordinate_are_summed() -> None:
    """Parts are rows of the whole."""
    up, push = (
        Motion(Vector(1.0, 2.0, 3.0), Vector(4.0, 5.0, 6.0)),
        Motion(Vector(10.0, 20.0, 30.0), Vector(40.0, 50.0, 60.0)),
    )
    bodies = [[(1, up)], [(0, push), (1, push)]]
    J = columns_to_matrix(3, bodies)
    assert np.array(J).T.tolist() == [
        [10, 20, 30, 40, 50, 60],
        [11, 22, 33, 44, 55, 66],
        [0] * 6,
    ]
    assert columns_to_matrix(3, bodies, "linear") == J[:3]
    assert columns_to_matrix(3, bodies, "angular") == J[3:]
