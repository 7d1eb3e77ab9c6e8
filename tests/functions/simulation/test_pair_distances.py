"""Distances of pairs of shapes: smallest gaps, their rates, and own kernels."""

from __future__ import annotations

import numpy as np
import pytest
from cube_and_ball import MODEL, PAIRS, at

import warpdyn as wd
from warpdyn.algorithms.simulation.contact_shapes import ContactPair, ContactShape
from warpdyn.functions.simulation.pair_gaps import pair_gaps

ARM = wd.load_robot("panda").with_object("crate", wd.description.Box(0.2, 0.3, 0.4), mass=1.0)
SELF = wd.ContactPairs(ARM).only(("panda_hand", "panda_link2"), ("panda_hand", "crate"))


def states(count: int) -> np.ndarray:
    """Random arms with the crate near them."""
    q = wd.random_configuration(ARM, count, seed=3)
    q[:, -7:-4] = np.random.default_rng(3).uniform(-0.6, 0.6, (count, 3))
    return q


def test_a_distance_is_the_smallest_gap_of_a_pair() -> None:
    gaps = pair_gaps(MODEL, at(0.15, 0.4), pairs=PAIRS).gaps[0]
    distances = wd.pair_distances(MODEL, at(0.15, 0.4), pairs=PAIRS)
    assert distances.shape == (1, 3)
    assert distances[0] == pytest.approx([gaps[0], gaps[1:5].min(), gaps[5]], abs=1e-9)


def test_the_rate_of_a_distance_is_that_of_differences() -> None:
    q, step = states(50), 1e-6
    v = np.random.default_rng(0).normal(size=(50, ARM.nv))

    def distances_at(h: float) -> np.ndarray:
        return wd.pair_distances(ARM, wd.integrate(ARM, q, h * v), pairs=SELF)

    rate = wd.configuration_rate(ARM, q, v)
    found = wd.jvp(wd.pair_distances, ARM, q, pairs=SELF, tangents={"q": rate})
    wanted = (distances_at(step) - distances_at(-step)) / (2 * step)
    assert np.abs(np.asarray(found) - wanted).max() < 1e-6
    slope = wd.vjp(wd.pair_distances, ARM, q, pairs=SELF, cotangents=np.ones((50, len(SELF))))
    assert (np.asarray(slope) * rate).sum(1) == pytest.approx(wanted.sum(1), abs=1e-6)


def test_adjoints_of_a_mesh_are_finite_in_single_precision() -> None:
    """Triangles of the search may be points: the derivative of the reciprocal of their areas is
    finite."""
    wedge = ((-0.1, -0.1, -0.1), (0.1, -0.1, -0.1), (0.0, 0.1, -0.1), (0.0, 0.0, 0.1))
    crate = ContactShape("crate", "box", (0.1, 0.15, 0.2))
    pair = ContactPair(ContactShape("panda_hand", "mesh", (), vertices=wedge), crate)
    q = states(50)
    double, single = (
        wd.vjp(wd.pair_distances, ARM, x, pairs=[pair], cotangents=np.ones((50, 1), x.dtype))
        for x in (q, q.astype(np.float32))
    )
    assert single == pytest.approx(double, abs=1e-3)


def test_distances_are_a_method_in_own_kernels() -> None:
    @wd.kernel
    def clearance(robot, q):
        return np.min(robot.pair_distances(q, pairs=SELF))

    q = states(5)
    assert clearance(ARM, q) == pytest.approx(wd.pair_distances(ARM, q, pairs=SELF).min(1))


def test_distances_within_one_rigid_body_are_refused() -> None:
    shape = PAIRS[0].first
    with pytest.raises(ValueError, match="parts of one rigid body"):
        wd.pair_distances(MODEL, at(0.1, 0.3), pairs=[type(PAIRS[0])(shape, shape)])
