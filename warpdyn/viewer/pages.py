"""What a page shows as a file: a page that needs no server, a recording, a picture."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import imageio.v3 as imageio
import numpy as np
from viser.transforms import SO3

from .playing import Player
from .stage import Page, ViewerError

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")

SECONDS = 120.0
"""How long a browser may take for a picture; it may have to draw without a graphics card."""


BAR = 160
"""What a browser's window has above the page [pixels]."""

SETTLING = 1.0
"""After a browser has come, until shapes and lights have reached it [s]."""


def written(stage: Page, player: Player | None, path: Path, rate: float) -> Path:
    """The page as .html or .viser."""
    if path.suffix not in (".html", ".viser"):
        raise ViewerError(f"{path} should end in .html, a page, or .viser, a recording")
    serializer = _recorded(stage, player, rate)
    try:
        if path.suffix == ".html":
            path.write_text(serializer.as_html(), encoding="utf-8")
        else:
            path.write_bytes(serializer.serialize())
    except OSError as error:
        raise ViewerError(f"{path} cannot be written: {error.strerror}") from None
    return path


def _recorded(stage: Page, player: Player | None, rate: float) -> Any:
    """What is shown, and the trajectory that plays, from its beginning."""
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
    """A picture of the page by a headless browser, which draws it without its controls."""
    if path.suffix != ".png":
        raise ViewerError(f"{path} should end in .png")
    with HeadlessBrowser(stage, width, height) as browser:
        imageio.imwrite(path, browser.picture())
    return path


class HeadlessBrowser:
    """A browser without a window that looks at a page, for one picture of it or several."""

    def __init__(self, stage: Page, width: int, height: int):
        self.stage, self.width, self.height = stage, width, height
        name = next(filter(None, map(shutil.which, BROWSERS)), None)
        if name is None:
            raise ViewerError(
                "a picture needs a browser: none of chromium, google-chrome is there; "
                "on Debian and Ubuntu: apt-get install chromium"
            )
        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        before = set(stage.server.get_clients())
        command = [
            *(name, "--headless=new", "--no-sandbox", "--mute-audio", "--remote-debugging-port=0"),
            *("--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"),
            *(f"--window-size={width},{height + BAR}", f"--user-data-dir={self._folder.name}"),
            stage.address,
        ]
        quiet = subprocess.DEVNULL
        self._drawing = subprocess.Popen(command, stdin=quiet, stdout=quiet, stderr=quiet)
        try:
            self._client = self._come(before)
        except BaseException:
            self.close()
            raise

    def picture(self) -> np.ndarray:
        """What the page's camera sees (height, width, 3), its shadows by the lights that are there now."""
        time.sleep(SETTLING)
        camera = self.stage.server.initial_camera
        view = {"position": camera.position, "wxyz": _facing(camera), "fov": camera.fov}
        # The light of a picture is that of the one before it.
        self._client.get_render(32, 32, **view, timeout=SECONDS)
        drawn = self._client.get_render(
            self.height, self.width, **view, transport_format="png", timeout=SECONDS
        )
        opaque = drawn[..., 3:] / 255.0
        return np.rint(drawn[..., :3] * opaque + 255.0 * (1.0 - opaque)).astype(np.uint8)

    def close(self) -> None:
        """End it."""
        self._drawing.terminate()
        self._drawing.wait(timeout=10.0)
        self._folder.cleanup()

    def __enter__(self) -> HeadlessBrowser:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _come(self, before: set[int]) -> Any:
        """The page's client that this browser is."""
        end = time.monotonic() + SECONDS
        while time.monotonic() < end and self._drawing.poll() is None:
            clients = self.stage.server.get_clients().items()
            new = [client for number, client in clients if number not in before]
            if new:
                return new[0]
            time.sleep(0.1)
        code = self._drawing.poll()
        said = "did not come" if code is None else f"ended by itself ({code})"
        raise ViewerError(
            f"the browser {said}: no picture; `chromium --version` says whether it runs"
        )


def _facing(camera: Any) -> np.ndarray:
    """The quaternion w x y z of a camera, x right, y down, z ahead."""
    ahead = camera.look_at - camera.position
    ahead /= np.linalg.norm(ahead)
    right = np.cross(ahead, (0.0, 0.0, 1.0))
    right /= np.linalg.norm(right)
    axes = np.stack([right, np.cross(ahead, right), ahead], axis=1)
    return np.asarray(SO3.from_matrix(axes).wxyz)
