"""A motion that plays by itself, and stops."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

import warpdyn as wd

viewer = pytest.importorskip("warpdyn.viewer")
MODEL = wd.load_robot("double_pendulum")


def until(condition: Any, seconds: float = 20.0) -> None:
    """Wait for what happens in another thread."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)


def test_it_plays_once_and_stays_at_the_end() -> None:
    """The robot is where the bar says; without a loop it ends at the last row."""
    page = viewer.Viewer(port=0)
    try:
        q = np.linspace([0.0, 0.0], [1.0, -1.0], 11)
        page.trajectory(MODEL, q, np.linspace(0, 0.5, 11), loop=False, speed=4.0)
        player = page.player
        until(lambda: not player.playing.value)
        until(lambda: np.allclose(page.robots["robot"].q[0], [1.0, -1.0], atol=1e-6))
        player.go_to(0.25)
        assert np.allclose(page.robots["robot"].q[0], [0.5, -0.5], atol=1e-6)
        page.trajectory(MODEL, q)  # another one takes its place
        assert page.player is not player and not player._thread.is_alive()
        player.stop()  # twice is once
    finally:
        page.stop()
    assert not page.player._thread.is_alive()
