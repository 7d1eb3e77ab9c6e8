"""The page's server: where it listens, and a port that is taken."""

from __future__ import annotations

import socket
from urllib.request import urlopen

import numpy as np
import pytest

viewer = pytest.importorskip("warpdyn.viewer")
from warpdyn.viewer.stage import Page


def test_a_page_is_served_on_this_machine_alone(capsys: pytest.CaptureFixture[str]) -> None:
    """A port of 0 is a free one; nothing is printed."""
    stage = Page(port=0)
    try:
        assert stage.address.startswith("http://127.0.0.1:") and not stage.address.endswith(":0")
        with urlopen(stage.address, timeout=10) as page:
            assert b"<html" in page.read(2000)
    finally:
        stage.stop()
    assert capsys.readouterr().out == ""


def test_a_port_that_is_taken_is_refused_in_one_line() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(viewer.ViewerError, match=f"port {port} of 127.0.0.1 cannot be used"):
            Page(port=port)


def test_the_camera_sees_the_whole_of_a_box() -> None:
    """All corners lie within its field of view."""
    stage = Page(port=0)
    try:
        low, high = np.array([-1.0, 0.0, 0.2]), np.array([0.5, 2.0, 1.0])
        stage.look(low, high)
        camera = stage.server.initial_camera
        ahead = camera.look_at - camera.position
        ahead /= np.linalg.norm(ahead)
        corners = np.array(np.meshgrid(*zip(low, high, strict=True))).reshape(3, -1).T
        rays = corners - camera.position
        angles = np.arccos(rays @ ahead / np.linalg.norm(rays, axis=1))
        assert angles.max() < camera.fov / 2 + 0.1
    finally:
        stage.stop()
