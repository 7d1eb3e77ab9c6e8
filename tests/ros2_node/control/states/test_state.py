"""The arrays of all robots and the views of one robot."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
from fleets import MODEL

from ros2_node.control.states.state import State


def test_a_row_shares_memory_with_the_arrays():
    """Values written into a robot's row appear in its row of the arrays, and nowhere else."""
    both = State.of_robots(MODEL, 3)
    row = both.row(1)
    for field in fields(State):
        array, view = getattr(both, field.name), getattr(row, field.name)
        assert array.shape == (3, *view.shape) and np.shares_memory(array, view)
        others = array[[0, 2]].copy()
        view[...] = 5.0
        assert (array[1] == 5.0).all()
        np.testing.assert_array_equal(array[[0, 2]], others)


def test_robots_begin_at_rest_without_a_torque():
    """Positions are neutral, velocities zero, and torques NaN."""
    state = State.of_robots(MODEL, 2)
    np.testing.assert_array_equal(state.q, np.tile(MODEL.neutral, (2, 1)))
    assert not state.v.any() and not state.a.any() and not state.wrench.any()
    assert np.isnan(state.torque).all()
    assert state.wrench.shape == (2, MODEL.nlinks, 6) and state.torque.shape == (2, MODEL.nv)
