"""Closed loops of a tree: bodies, columns and placements."""

from __future__ import annotations

import numpy as np
from loop_robots import CONNECT, COUPLE, WELD, tied

import warpdyn as wd
from warpdyn.execution.request.evaluate import tree_of
from warpdyn.model.tree_loops import CoupledJoints, JoinedFrames


def test_ends_are_frames_of_bodies() -> None:
    """A frame's own placement is part of its end's; a changed placement is that of both ends."""
    (loop,) = tree_of(tied(WELD)).loops
    assert isinstance(loop, JoinedFrames) and loop.rows == 6 and loop.welded
    assert (loop.first.body, loop.second.body) == (3, 7)
    moved = loop.with_placements(lambda X: X.compose(X).as_matrix())
    assert moved.first.placement.p.x != loop.first.placement.p.x
    assert tree_of(tied(CONNECT)).loops[0].rows == 3


def test_mimic_joints_count_as_their_leaders() -> None:
    """Ratio and offset of the chain of followers."""
    (loop,) = tree_of(tied(COUPLE)).loops
    assert isinstance(loop, CoupledJoints) and loop.rows == 1
    assert (loop.first.v_index, loop.first.ratio) == (1, 1.0) and loop.with_placements(id) is loop
    builder = wd.ModelBuilder("r").add_link("a")
    for name, mimic in (("b", None), ("c", ("jb", -2.0, 0.1))):
        builder.add_link(name, 1.0, inertia=np.eye(3))
        builder.add_joint(f"j{name}", "continuous", "a", name, mimic=mimic)
    (loop,) = tree_of(builder.couple("jc", None, (0.5,)).build()).loops
    assert loop.first == (0, 0, -2.0, 0.1) and loop.second is None
    assert wd.oracle(wd.loops.errors, builder.build(), np.array([-0.2]))[0] < 1e-15
