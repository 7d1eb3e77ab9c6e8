"""The page's server: its address, and a port that is in use."""

from __future__ import annotations

import socket
import subprocess
import sys
from urllib.request import urlopen

import numpy as np
import pytest

viewer = pytest.importorskip("warpdyn.viewer")
from warpdyn.viewer.stage import Page, _free


def test_a_page_is_served_only_on_this_machine(capsys: pytest.CaptureFixture[str]) -> None:
    """Port 0 selects a free one, and nothing is printed."""
    stage = Page(port=0)
    try:
        assert stage.address.startswith("http://127.0.0.1:") and not stage.address.endswith(":0")
        with urlopen(stage.address, timeout=10) as page:
            assert b"<html" in page.read(2000)
    finally:
        stage.stop()
    assert capsys.readouterr().out == ""


def test_the_end_of_a_program_ends_its_page() -> None:
    """Nothing is printed, whether the program has stopped the page once, twice or never."""
    text = (
        "from warpdyn.viewer.stage import Page\nonce, twice, never = (Page(port=0) for _ in range(3))\n"
        "once.stop(); twice.stop(); twice.stop()\n"
    )
    command = [sys.executable, "-c", text]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=240, check=True)
    assert (ended.stdout, ended.stderr) == ("", "")


def test_a_port_in_use_is_refused_in_one_line() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(viewer.ViewerError, match=f"port {port} of 127.0.0.1 cannot be used"):
            Page(port=port)


def test_a_port_can_be_reused_at_once() -> None:
    """Closed connections of the last page still wait in the system for a minute."""
    with socket.create_server(("127.0.0.1", 0)) as last:
        port = last.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)) as browser:
            last.accept()[0].close()
            assert not browser.recv(1)
    assert _free("127.0.0.1", port) == port


def test_the_camera_sees_the_whole_box() -> None:
    """All corners of a flat, a tall and a long box are in a square page, and one of them is near
    its edge."""
    stage = Page(port=0)
    try:
        for low, high in (
            ((-1, 0, 0.2), (0.5, 2, 1)),
            ((0, 0, 0), (0.2, 0.2, 2)),
            ((0, 0, 0), (5, 1, 1)),
        ):
            stage.look(np.array(low, float), np.array(high, float))
            camera = stage.server.initial_camera
            ahead = camera.look_at - camera.position
            ahead /= np.linalg.norm(ahead)
            right = np.cross(ahead, (0, 0, 1.0))
            right /= np.linalg.norm(right)
            corners = np.array(np.meshgrid(*zip(low, high, strict=True))).reshape(3, -1).T
            rays = corners - camera.position
            across = np.stack([rays @ right, rays @ np.cross(ahead, right)]) / (rays @ ahead)
            share = np.abs(across).max() / np.tan(camera.fov / 2)
            assert 0.8 < share < 0.9
    finally:
        stage.stop()
