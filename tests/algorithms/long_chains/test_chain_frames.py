"""Frames of long chains: poses of the bodies, and numbers between them that are zero."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hand_made_urdf import joint, link, urdf
from long_chains import SWEPT, chain, snake
from states import states

import warpdyn as wd
from warpdyn.algebra.spatial import HERE, Placement
from warpdyn.algorithms.long_chains import chain_rows
from warpdyn.algorithms.long_chains.chain_frames import (
    LONGEST_SHIFT,
    ChainFrame,
    axis_frames,
    chain_frames,
    hartenberg_frames,
    is_revolute,
)
from warpdyn.algorithms.long_chains.chain_rows import (
    chain_bodies,
    inertia_entries,
    placement_of,
)
from warpdyn.execution.request.evaluate import tree_of
from warpdyn.model.tree import WORLD, Tree

EXACT = 1e-14
"""Products of a few rotations."""


def as_numbers(X: Placement) -> np.ndarray:
    return np.array([*(x for row in X.as_matrix().R.matrix.rows for x in row), *X.p])  # type: ignore[union-attr]


@pytest.mark.parametrize("frames", [axis_frames, hartenberg_frames], ids=lambda f: f.__name__)
@pytest.mark.parametrize("name", SWEPT)
def test_placements_between_frames_equal_those_of_the_bodies(
    name: str, frames: Callable[[Tree], list[ChainFrame]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A row has the placement of its body between the frames, and its inertia."""
    monkeypatch.setattr(chain_rows, "chain_frames", frames)
    tree, q = tree_of(SWEPT[name]()), states(SWEPT[name](), 1).q[0].tolist()
    bodies = chain_bodies(tree, q)
    for i, body in enumerate(tree.bodies):
        if not is_revolute(body):
            continue
        above = HERE if body.parent == WORLD else bodies[body.parent].turn
        found = above.compose(placement_of(bodies[i].row).whole).compose(bodies[i].turn.inverse())
        assert np.abs(as_numbers(found) - as_numbers(body.placement(q))).max() <= EXACT
        moved = bodies[i].turn.inertia_to_parent(bodies[i].inertia)
        assert inertia_entries(moved) == pytest.approx(inertia_entries(body.inertia), abs=EXACT)


def test_each_row_of_a_chain_has_one_rotation_between_its_axes() -> None:
    """Exactly, and no displacement along the axis."""
    tree = tree_of(chain(12))
    rows = [body.row[2:] for body in chain_bodies(tree, [0.3] * tree.nq)]
    for row in rows[1:]:
        assert row[:4] == [1.0, 0.0, 0.0, 0.0] and row[6] == row[11] == 0.0
        assert (
            row[4] == row[8]
            and row[5] == -row[7]
            and np.hypot(row[4], row[7]) == pytest.approx(1.0)
        )
    assert rows[0][:4] != [1.0, 0.0, 0.0, 0.0]


def test_axes_at_right_angles_need_no_recorded_number() -> None:
    """The rotations of a snake are quarter turns, and its joints keep their zero."""
    tree = tree_of(snake(9))
    rows = [body.row[2:] for body in chain_bodies(tree, [0.3] * tree.nq)]
    assert {tuple(row[4:6]) for row in rows[1:]} == {(0.0, 1.0), (0.0, -1.0)}
    assert all(frame.offset == 0.0 for frame in chain_frames(tree))


def test_frames_of_parallel_axes_stay_near_their_bodies() -> None:
    """The nearest point of a staircase's axes moves away.

    Beyond the reach the body's own origin is used.
    """
    links = [link(f"l{k}", 0.5, (0.05, 0, 0.01), [1e-3, 0, 0, 2e-3, 0, 2e-3]) for k in range(9)]
    joints = [
        joint(
            f"j{k}",
            "continuous",
            f"l{k - 1}" if k else "base",
            f"l{k}",
            (0.1, 0, 0.2),
            axis=(0, 0, 1),
        )
        for k in range(9)
    ]
    tree = tree_of(wd.load(urdf("stairs", link("base"), *links, *joints)))
    frames = chain_frames(tree)
    shifts = [np.linalg.norm(list(frame.turn.p)) for frame in frames]
    length = np.hypot(0.1, 0.2)
    assert max(shifts) <= LONGEST_SHIFT * length and sorted(shifts)[-1] > length
    assert [frame.is_nearest for frame in frames].count(False) > 1
    q = [0.1 * k for k in range(9)]
    bodies = chain_bodies(tree, q)
    for i, body in enumerate(tree.bodies[1:], 1):
        found = bodies[body.parent].turn.compose(placement_of(bodies[i].row).whole)
        found = found.compose(bodies[i].turn.inverse())
        assert np.abs(as_numbers(found) - as_numbers(body.placement(q))).max() <= EXACT


def test_varying_placements_keep_their_frames() -> None:
    """Symbols have no angle. `aba` of a long chain with varying placements is recorded in frames
    with permuted axes.
    """
    model = snake(51)
    placement = np.zeros((2, model.nv, 7))
    placement[:, :, 0], placement[:, :, 6] = 0.1, 1.0
    placement[1, :, 0] = 0.12
    s = states(model, 2)
    params = model.params(placement=placement[:, : len(model.joints)])
    found = wd.oracle(wd.aba, model, s.q, s.v, s.tau, params=params)
    plain = wd.oracle(wd.aba, model, s.q[:1], s.v[:1], s.tau[:1])
    assert np.abs(found[0] - plain[0]).max() <= 1e-9 * np.abs(plain).max()
    assert np.abs(found[1] - plain[0]).max() > 1e-3
