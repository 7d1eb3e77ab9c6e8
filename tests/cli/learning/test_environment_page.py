"""A page with the robots of environments: where they are drawn."""

from __future__ import annotations

import numpy as np
import pytest

rl = pytest.importorskip("warpdyn.rl")
pytest.importorskip("warpdyn.viewer")

from warpdyn.cli.learning.environment_page import SIDE, EnvironmentPage


def test_robots_are_drawn_where_their_arrays_say() -> None:
    """A robot that leaves its area enters it again on the other side."""
    task = rl.QuadrupedVelocity()
    q = np.tile([0, 0, task.height, 0, 0, 0, 1.0, *task.stance], (2, 1))
    shown = EnvironmentPage(task, {"q": q}, host="127.0.0.1", port=0)
    try:
        q[:, 0] = 0.5, 3.0
        shown.update({"q": q})
        view = shown.page.robots["robot"]
        assert np.allclose(view.q[:, 0], [0.5, 3.0 - SIDE], atol=1e-5)
    finally:
        shown.page.stop()
