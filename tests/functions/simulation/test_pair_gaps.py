"""Closest points of pairs: positions and gaps of a heap."""

from __future__ import annotations

import pytest
from cube_and_ball import MODEL, PAIRS, at

from warpdyn.functions.simulation.pair_gaps import pair_gaps


def test_gaps_are_distances_and_negative_for_overlaps() -> None:
    """A ball above a cube above the ground: one contact, the four corners of the cube, one of the
    ball.
    """
    positions, gaps = pair_gaps(MODEL, at(0.15, 0.4), pairs=PAIRS)
    assert positions.shape == (1, 6, 3)
    assert gaps[0] == pytest.approx([0.05, *[0.05] * 4, 0.3], abs=1e-12)
    assert positions[0, 0] == pytest.approx([0.0, 0.0, 0.275], abs=1e-12)
    corners = {tuple(x) for x in positions[0, 1:5, :2].round(9).tolist()}
    assert corners == {(x, y) for x in (-0.1, 0.1) for y in (-0.1, 0.1)}
    overlapping = pair_gaps(MODEL, at(0.09, 0.27), pairs=PAIRS).gaps[0]
    assert overlapping == pytest.approx([-0.02, *[-0.01] * 4, 0.17], abs=1e-12)


def test_a_pair_within_one_rigid_body_is_refused() -> None:
    """A step refuses such a pair, too."""
    shape = PAIRS[0].first
    with pytest.raises(ValueError, match="parts of one rigid body"):
        pair_gaps(MODEL, at(0.1, 0.3), pairs=[type(PAIRS[0])(shape, shape)])
