"""`python -m benchmarks.closed_loops`: both simulate the same leg, and it is timed."""

from __future__ import annotations

import numpy as np

from benchmarks.closed_loops import LEG, load_both, measure


def test_both_have_the_same_leg() -> None:
    """Coordinates and mass, and the equations of its loops."""
    model, peer = load_both(LEG)
    assert (model.nq, model.nv) == (peer.nq, peer.nv)
    assert np.isclose(model.total_mass, peer.body_mass.sum())
    assert sum(loop.rows for loop in model.loops) == 3 * peer.neq


def test_a_measurement_has_figures() -> None:
    """Of a few environments in two rounds."""
    rows, ours, theirs, ratio = measure(LEG, 8, 2)
    assert rows == 6 and ours > 0 and theirs > 0 and ratio > 0
