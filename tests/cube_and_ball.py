"""A cube and a ball, two free bodies above the ground."""

from __future__ import annotations

import numpy as np

import warpdyn as wd

MODEL = wd.ModelBuilder("world").add_link("world").build()
MODEL = MODEL.with_object("cube", wd.description.Box(0.2, 0.2, 0.2), mass=1.0)
MODEL = MODEL.with_object("ball", wd.description.Sphere(0.1), mass=1.0)
PAIRS = wd.ContactPairs(MODEL).with_ground("cube", "ball")


def at(cube: float, ball: float) -> np.ndarray:
    """Both bodies on the vertical axis at these heights."""
    return np.array([[0, 0, cube, 0, 0, 0, 1, 0, 0, ball, 0, 0, 0, 1.0]])
