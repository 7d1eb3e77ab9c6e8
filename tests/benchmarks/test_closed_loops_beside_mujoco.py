"""`python -m benchmarks.closed_loops`: warpdyn and MuJoCo simulate the same leg, and both are
timed."""

from __future__ import annotations

import numpy as np

from benchmarks.closed_loops import LEG, loaded, measured


def test_warpdyn_and_mujoco_have_the_same_leg() -> None:
    """Coordinates, mass, and the equations of its loops agree."""
    model, peer = loaded(LEG)
    assert (model.nq, model.nv) == (peer.nq, peer.nv)
    assert np.isclose(model.total_mass, peer.body_mass.sum())
    assert sum(loop.rows for loop in model.loops) == 3 * peer.neq


def test_a_measurement_has_positive_times() -> None:
    """It has a few environments in two rounds."""
    rows, ours, theirs, ratio = measured(LEG, 8, 2)
    assert rows == 6 and ours > 0 and theirs > 0 and ratio > 0
