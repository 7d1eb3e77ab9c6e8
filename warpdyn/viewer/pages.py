"""Files of a page: a page without a server, a recording, a picture."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import imageio.v3 as imageio
import numpy as np
from viser.transforms import SO3

from .browser import PATIENCE, Browser
from .player import Player
from .stage import Page, ViewerError

SETTLING = 1.0
"""Time after a browser connects until it has all shapes and lights [s]."""


def write_page(stage: Page, player: Player | None, path: Path, rate: float) -> Path:
    """Write the page as .html or .viser."""
    if path.suffix not in (".html", ".viser"):
        raise ViewerError(f"{path} must end in .html for a page or .viser for a recording")
    serializer = _record_scene(stage, player, rate)
    try:
        if path.suffix == ".html":
            path.write_text(serializer.as_html(), encoding="utf-8")
        else:
            path.write_bytes(serializer.serialize())
    except OSError as error:
        raise ViewerError(f"{path} cannot be written: {error.strerror}") from None
    return path


def _record_scene(stage: Page, player: Player | None, rate: float) -> Any:
    """Recording of the scene, and of the playing trajectory from its beginning."""
    if player is None:
        return stage.server.get_scene_serializer()
    player.playing.value = False
    first, seconds = float(player.motion.times[0]), player.motion.seconds
    count = max(round(seconds * rate), 1)
    player.go_to(first)
    serializer = stage.server.get_scene_serializer()
    for k in range(1, count + 1):
        serializer.insert_sleep(seconds / count)
        player.go_to(first + seconds * k / count)
    return serializer


def picture_of(stage: Page, path: Path, width: int, height: int) -> Path:
    """Write a picture of the page from a headless browser, which draws it without its controls."""
    if path.suffix != ".png":
        raise ViewerError(f"{path} must end in .png")
    if not path.parent.is_dir():
        raise ViewerError(f"{path} cannot be written: there is no folder {path.parent}")
    with Browser() as browser:
        imageio.imwrite(path, PageCamera(stage, browser, width, height).picture())
    return path


class PageCamera:
    """A browser's view of a page, for one or several pictures."""

    def __init__(self, stage: Page, browser: Browser, width: int, height: int):
        self.stage, self.width, self.height = stage, width, height
        before = set(stage.server.get_clients())
        # Without this, a page that draws slowly lowers its resolution.
        self._tab = browser.open(f"{stage.address}/?fixedDpr=1", width, height)
        self._client = self._wait_for_client(before)

    def picture(self) -> np.ndarray:
        """Picture from the page's camera (height, width, 3), in the current light."""
        time.sleep(SETTLING)
        camera = self.stage.server.initial_camera
        view = {"position": camera.position, "wxyz": _camera_quaternion(camera), "fov": camera.fov}
        # A picture has the shadows of the previous one, and labels appear only after two more.
        for _ in range(3):
            self._client.get_render(32, 32, **view, timeout=PATIENCE)
        drawn = self._client.get_render(
            self.height, self.width, **view, transport_format="png", timeout=PATIENCE
        )
        opaque = drawn[..., 3:] / 255.0
        return np.rint(drawn[..., :3] * opaque + 255.0 * (1.0 - opaque)).astype(np.uint8)

    def close(self) -> None:
        """Close its tab, which would otherwise continue to draw."""
        self._tab.close()

    def _wait_for_client(self, before: set[int]) -> Any:
        """The page's client for this browser, once it has connected."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            clients = self.stage.server.get_clients().items()
            new = [client for number, client in clients if number not in before]
            if new:
                return new[0]
            time.sleep(0.1)
        raise ViewerError(
            f"the browser did not connect to {self.stage.address} within {PATIENCE:g} s: no picture"
        )


def _camera_quaternion(camera: Any) -> np.ndarray:
    """The quaternion w x y z of a camera: x right, y down, z forward."""
    ahead = camera.look_at - camera.position
    ahead /= np.linalg.norm(ahead)
    right = np.cross(ahead, (0.0, 0.0, 1.0))
    right /= np.linalg.norm(right)
    axes = np.stack([right, np.cross(ahead, right), ahead], axis=1)
    return np.asarray(SO3.from_matrix(axes).wxyz)
