"""The nearest physical body fulfils the conditions of a minimum."""

from __future__ import annotations

import numpy as np
import pytest

import warpdyn as wd
from warpdyn.functions.identification.nearest_body import nearest_body

LENGTH = 0.1
"""Size of the body [m], in units of which its moments are compared."""


@pytest.mark.parametrize("seed", [1, 6, 9, 11])
@pytest.mark.parametrize("smallest", [1.0, 1e-6])
def test_no_physically_consistent_body_is_nearer(seed: int, smallest: float) -> None:
    """The conditions of Karush, Kuhn and Tucker: the slope of the distance is a matrix over
    pseudo-inertias that has no negative eigenvalue, and is zero along the body itself."""
    draw = np.random.default_rng(seed)
    scale = LENGTH ** np.array([0, 1, 1, 1, 2, 2, 2, 2, 2, 2])
    body = wd.inertial.from_body(1.0, (0.05, -0.03, 0.1), np.diag([0.004, 0.005, 0.002]))
    estimate = body + 0.3 * scale * draw.normal(size=10)
    assert not wd.inertial.physically_consistent(estimate)
    turn = np.linalg.qr(draw.normal(size=(10, 10)))[0]
    information = turn * np.geomspace(smallest, 1.0, 10) @ turn.T
    found = nearest_body(estimate, information, scale)
    assert wd.inertial.physically_consistent(found)
    e = (found - estimate) / scale
    slope = 2.0 * information @ e / scale
    unit = np.eye(16).reshape(4, 4, 4, 4)
    matrix = wd.inertial.from_pseudo_inertia(0.5 * (unit + unit.swapaxes(2, 3))) @ slope
    eigenvalues = np.linalg.eigvalsh(matrix)
    assert eigenvalues[0] > -1e-8 * eigenvalues[-1]
    assert abs(slope @ found) < 1e-6 * (e @ information @ e)
