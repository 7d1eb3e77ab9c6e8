"""Steps that kinematic algorithms share: paths, carriers and placements, one frame and several."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from robots import Robot, by_name, random_trees
from states import error, states

import warpdyn as wd
from warpdyn.algebra.pose_forms import homogeneous
from warpdyn.algebra.spatial import IDENTITY, Placement, Vector
from warpdyn.algorithms import frames
from warpdyn.execution.request.evaluate import tree_of
from warpdyn.model.tree import WORLD, Frame, Tree

ROUND_OFF = 1e-13
"""Relative to the largest entry of a pose."""


def carriers(tree: Tree, body: int) -> list[int]:
    """The body, all bodies that carry it, and the world, by parents only."""
    chain = [body]
    while chain[-1] != WORLD:
        chain.append(tree.bodies[chain[-1]].parent)
    return chain


def test_the_common_carrier_is_the_last_body_that_carries_all(robot: Robot) -> None:
    """It carries each of the bodies, or is one of them, and none of its children does, in any
    order.
    """
    tree = tree_of(robot.model)
    for i in range(len(tree.bodies)):
        for j in range(i + 1):
            common = set(carriers(tree, i)) & set(carriers(tree, j))
            assert frames.common_carrier(tree, (i, j)) == max(common)
            assert frames.common_carrier(tree, (j, i)) == max(common)
    everything = range(len(tree.bodies))
    assert frames.common_carrier(tree, [*everything, WORLD]) == WORLD


def test_a_path_can_be_split_at_any_body_on_it(robot: Robot) -> None:
    """path(i) is path(j) followed by the bodies beyond j, for every j on it.

    Beyond a body itself there is none.
    """
    tree = tree_of(robot.model)
    for i in range(len(tree.bodies)):
        assert frames.path_beyond(tree, i) == tree.path(i) == carriers(tree, i)[-2::-1]
        for j in tree.path(i):
            assert tree.path(j) + frames.path_beyond(tree, i, j) == tree.path(i)
        assert frames.path_beyond(tree, i, i) == []
        assert tree.ancestors(i) == tree.path(i)[:-1][::-1]


@settings(max_examples=30)
@given(random_trees())
def test_placements_compose_along_the_tree(robot: Robot) -> None:
    """X0[i] = X0[parent] X[i], in the world and in any body on the path: X0[i] = X0[root]
    X_root[i].
    """
    tree = tree_of(robot.model)
    q = states(robot.model, 1).q[0].tolist()
    everything = list(range(len(tree.bodies)))
    X0 = frames.body_placements(tree, q, everything)
    for i, body in enumerate(tree.bodies):
        whole = np.array(homogeneous(X0[i]))
        step = np.array(homogeneous(body.placement(q)))
        assert error(np.array(homogeneous(X0[body.parent])) @ step, whole) <= ROUND_OFF
        for root in tree.path(i):
            seen = frames.body_placements(tree, q, [i], root)
            assert sorted(seen) == sorted([root, *frames.path_beyond(tree, i, root)])
            from_root = np.array(homogeneous(X0[root])) @ np.array(homogeneous(seen[i]))
            assert error(from_root, whole) <= ROUND_OFF


def test_only_bodies_on_the_path_are_placed() -> None:
    """Other branches are left out."""
    tree = tree_of(by_name("branches").model)
    q = states(by_name("branches").model, 1).q[0].tolist()
    foot, other = (tree.frames[name].body for name in ("c1", "a2"))
    assert other not in tree.path(foot)
    assert set(frames.body_placements(tree, q, [foot])) == {WORLD, *tree.path(foot)}


def test_a_frame_moved_to_a_point_keeps_its_body_and_axes() -> None:
    """Its origin is that point, in the frame's coordinates. None returns the frame itself."""
    frame = tree_of(by_name("rooted").model).frames["tool"]
    assert frames.at_point(frame, None) is frame
    moved = frames.at_point(frame, [0.1, -0.2, 0.3])
    assert moved.body == frame.body and moved.placement.R is frame.placement.R
    T = np.array(homogeneous(frame.placement))
    assert list(moved.placement.p) == pytest.approx((T @ [0.1, -0.2, 0.3, 1.0])[:3], abs=ROUND_OFF)
    turned = Frame(2, Placement(IDENTITY, Vector(1.0, 2.0, 3.0)))
    assert list(frames.at_point(turned, [1.0, 1.0, 1.0]).placement.p) == [2.0, 3.0, 4.0]


def test_functions_of_one_frame_and_of_several_are_converted() -> None:
    """of_one returns the only result of several, and of_several lists those of one.

    The point is the last array.
    """

    def several(tree: None, q: list, *, frames: tuple, scale: float = 1.0) -> list:
        return [(name, q[0] * scale) for name in frames]

    one = frames.for_one_frame(several)
    assert one(None, [2.0], frame="a", scale=3.0) == ("a", 6.0)
    assert frames.for_frames(one)(None, [2.0], frames=("a", "b")) == several(
        None, [2.0], frames=("a", "b")
    )

    def at(tree: None, q: list, v: list, *, point: list, frame: str) -> tuple:
        return q, v, point, frame

    assert frames.with_point(at)(None, [1], [2], [3], frame="a") == ([1], [2], [3], "a")


def test_parts_are_the_rows_of_a_spatial_vector() -> None:
    """Linear before angular."""
    six = ["x", "y", "z", "rx", "ry", "rz"]
    assert six[frames.PARTS["linear"]] + six[frames.PARTS["angular"]] == six[frames.PARTS["both"]]


def test_placements_equal_forward_kinematics(robot: Robot) -> None:
    """The pose of a link is that of its body times its constant placement."""
    model, tree = robot.model, tree_of(robot.model)
    q = states(model, 1).q[0]
    X0 = frames.body_placements(tree, q.tolist(), list(range(len(tree.bodies))))
    found = [
        homogeneous(X0[f.body].compose(f.placement)) for f in map(tree.frames.get, model.link_names)
    ]
    assert error(np.array(found), wd.oracle(wd.fk, model, q)) <= ROUND_OFF
