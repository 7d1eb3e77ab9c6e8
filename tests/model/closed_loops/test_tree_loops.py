"""Closed loops of a tree: bodies, columns and placements."""

from __future__ import annotations

import numpy as np
from loop_robots import CONNECT, COUPLE, HINGE, WELD, two_arms

import warpdyn as wd
from warpdyn.execution.request.evaluate import tree_of
from warpdyn.model.closed_loops.tree_loops import CoupledJoints, JoinedFrames


def test_ends_are_frames_of_bodies() -> None:
    """The end includes the frame's own placement. A change of placements changes both ends."""
    (loop,) = tree_of(two_arms(WELD)).loops
    frames = loop.frames
    assert isinstance(frames, JoinedFrames) and frames.turns == 3 and loop.joints is None
    assert (frames.first.body, frames.second.body) == (3, 7)
    moved = loop.with_placements(lambda X: X.compose(X).as_matrix()).frames
    assert moved is not None and moved.first.placement.p.x != frames.first.placement.p.x
    kinds = [tree_of(two_arms(each)).loops[0].frames for each in (CONNECT, HINGE)]
    assert [each.turns for each in kinds if each] == [0, 2]


def test_mimic_joints_count_as_their_leaders() -> None:
    """The ratio and offset are those of their chain."""
    (loop,) = tree_of(two_arms(COUPLE)).loops
    joints = loop.joints
    assert isinstance(joints, CoupledJoints) and loop.frames is None
    assert (joints.first.v_index, joints.first.ratio) == (1, 1.0)
    assert loop.with_placements(id) is loop  # type: ignore[arg-type]
    builder = wd.ModelBuilder("r").add_link("a")
    for name, mimic in (("b", None), ("c", ("jb", -2.0, 0.1))):
        builder.add_link(name, 1.0, inertia=np.eye(3))
        builder.add_joint(f"j{name}", "continuous", "a", name, mimic=mimic)
    joints = tree_of(builder.couple("jc", None, (0.5,)).build()).loops[0].joints
    assert joints is not None and joints.first == (0, 0, -2.0, 0.1) and joints.second is None
    assert abs(wd.oracle(wd.loops.errors, builder.build(), np.array([-0.2]))[0]) < 1e-15
