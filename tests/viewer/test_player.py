"""The player of motions: play, loop, speed and stop."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import warpdyn as wd

viewer = pytest.importorskip("warpdyn.viewer")
from warpdyn.viewer.player import FASTEST, SLOWEST

MODEL = wd.load_robot("double_pendulum")


def until(condition: Any, seconds: float = 20.0) -> None:
    """Wait for an event in another thread."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)


def test_a_motion_plays_once_and_ends_at_its_last_row() -> None:
    """The robot follows the time bar."""
    page = viewer.Viewer(port=0)
    try:
        q = np.linspace([0.0, 0.0], [1.0, -1.0], 11)
        page.trajectory(MODEL, q, np.linspace(0, 0.5, 11), loop=False, speed=4.0)
        player = page.player
        until(lambda: not player.playing.value)
        until(lambda: np.allclose(page.robots["robot"].q[0], [1.0, -1.0], atol=1e-6))
        player.go_to(0.25)
        assert np.allclose(page.robots["robot"].q[0], [0.5, -0.5], atol=1e-6)
        page.trajectory(MODEL, q)  # another motion replaces it
        assert page.player is not player and not player._thread.is_alive()
        player.stop()  # a second stop has no effect
    finally:
        page.stop()
    assert not page.player._thread.is_alive()


def test_sliders_and_overlays_follow_a_motion() -> None:
    """The overlay is that of gravity torques."""
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


def test_a_person_may_move_the_time_bar() -> None:
    """The robot follows the bar. Values that the player itself writes move the robot only once."""
    page, told = viewer.Viewer(port=0), list[float]()
    try:
        q, times = np.linspace([0.0, 0.0], [1.0, -1.0], 11), np.linspace(2.0, 2.5, 11)
        page.trajectory(MODEL, q, times)
        player = page.player
        assert player.loop.value and player.playing.value and player.speed.value == 1.0
        assert (player.bar.min, player.bar.max) == (2.0, 2.5)
        assert (player.speed.min, player.speed.max) == (SLOWEST, FASTEST)
        player.playing.value = False
        time.sleep(0.1)  # a frame that is being shown
        player._follow = told.append
        player.bar.value = 2.1
        player._on_move(SimpleNamespace(client=None))
        assert told == []
        player._on_move(SimpleNamespace(client=object()))
        assert told == [2.1]
        assert page.robots["robot"].q[0] == pytest.approx([0.2, -0.2], abs=1e-6)
    finally:
        page.stop()


def test_a_loop_restarts_and_speeds_may_exceed_the_slider() -> None:
    """A fast motion restarts again and again, and continues to play."""
    page, told = viewer.Viewer(port=0), list[float]()
    try:
        page.trajectory(MODEL, np.zeros((3, 2)), np.array([1.0, 1.5, 2.0]), speed=50.0)
        player = page.player
        assert player.speed.max == 50.0
        player._follow = told.append
        until(lambda: told.count(1.0) > 1)
        assert player.playing.value and set(told) <= {x for x in told if 1.0 <= x <= 2.0}
        player.stop()
        page.trajectory(MODEL, np.zeros((1, 2)), np.array([3.0]), speed=0.01)
        assert page.player.bar.max == pytest.approx(3.001) and page.player.speed.min == 0.01
    finally:
        page.stop()
