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


def test_what_goes_with_the_robot_goes_with_its_motion() -> None:
    """Sliders, and what is drawn over it."""
    page = viewer.show(MODEL)
    try:
        page.over("gravity torques")
        page.trajectory(MODEL, np.linspace([0.0, 0.0], [1.0, -1.0], 11), loop=False, speed=4.0)
        until(lambda: not page.player.playing.value)
        page.player.stop()
        assert [x.value for x in page.controls.sliders.values()] == pytest.approx([1.0, -1.0])
        _, *labels = page._over["robot"]._handles["gravity torques"]
        wanted = wd.gravity_torques(MODEL, np.array([[1.0, -1.0]]))[0]
        assert [float(x.text) for x in labels] == pytest.approx(list(wanted), rel=5e-3)
    finally:
        page.stop()
