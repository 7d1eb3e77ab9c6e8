"""Gaps and positions of pairs in a scene, on numbers."""

from __future__ import annotations

import numpy as np

import warpdyn as wd
from warpdyn.algorithms.simulation.contact_shapes import GROUND, ContactPair, ContactShape
from warpdyn.algorithms.simulation.pair_gaps import pair_gaps
from warpdyn.execution.request.evaluate import tree_of

MODEL = (
    wd.ModelBuilder("table")
    .add_link("table")
    .build()
    .with_object("ball", wd.description.Sphere(0.1), mass=1.0)
)


def test_pair_gaps_work_for_shapes_of_bodies_the_world_and_the_root() -> None:
    """A ball above the ground, above a box of the root link, and next to a fixed ball."""
    ball = ContactShape("ball", "sphere", (0.1,))
    top = ContactShape("table", "box", (0.5, 0.5, 0.1), (0.0, 0.0, 0.2))
    fixed = ContactShape(None, "sphere", (0.05,), (1.0, 0.0, 0.7))
    pairs = [ContactPair(other, ball) for other in (GROUND, top, fixed)]
    positions, gaps = pair_gaps(tree_of(MODEL), [0.0, 0.0, 0.7, 0.0, 0.0, 0.0, 1.0], pairs)
    np.testing.assert_allclose(gaps, [0.6, 0.3, 0.85], atol=1e-12)
    np.testing.assert_allclose(positions[1], [0.0, 0.0, 0.45], atol=1e-12)
