"""Frames of a robot as bytes."""

from __future__ import annotations

import numpy as np
import pytest

rl = pytest.importorskip("warpdyn.rl")

from warpdyn.rl.pictures.camera import Camera
from warpdyn.rl.pictures.robot_stage import Stage


def test_a_frame_shows_the_robot() -> None:
    """It has the requested size and is mostly white. Another configuration gives another frame."""
    task = rl.CartpoleSwingUp()
    camera = Camera(task, (160, 120))
    frames = [camera.frame(np.array([0.0, angle])) for angle in (0.0, 1.0, 0.0)]
    assert all(x.shape == (120, 160, 3) and x.dtype == np.uint8 for x in frames)
    assert (frames[0] != frames[1]).any() and (frames[0] == frames[2]).all()
    assert 0.0 < (frames[0] < 250).any(axis=2).mean() < 0.5


def test_a_robot_is_drawn_at_its_place_in_a_height_map(monkeypatch: pytest.MonkeyPatch) -> None:
    """A robot without a place is drawn at the origin."""
    places: list[list[float]] = []
    monkeypatch.setattr(Stage, "show", lambda _, poses, origin: places.append(origin.tolist()))
    camera = Camera(rl.CartpoleSwingUp(), (16, 16))
    for place in (None, np.array([1.0, 2.0, 3.0])):
        camera.frame(np.zeros(2), place)
    assert places == [[0.0, 0.0, 0.0], [1.0, 2.0, 3.0]]
