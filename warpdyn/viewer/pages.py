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
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        raise ViewerError(
            "a picture needs a browser: none of chromium, google-chrome is there; "
            "on Debian and Ubuntu: apt-get install chromium"
        )
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        command = [
            *(
                browser,
                "--headless=new",
                "--no-sandbox",
                "--mute-audio",
                "--remote-debugging-port=0",
            ),
            *("--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"),
            *(f"--window-size={width},{height + BAR}", f"--user-data-dir={folder}"),
            stage.address,
        ]
        quiet = subprocess.DEVNULL
        drawing = subprocess.Popen(command, stdin=quiet, stdout=quiet, stderr=quiet)
        try:
            picture = _drawn(stage, set(stage.server.get_clients()), drawing, width, height)
        finally:
            drawing.terminate()
            drawing.wait(timeout=10.0)
    imageio.imwrite(path, picture)
    return path


def _drawn(
    stage: Page, before: set[int], drawing: subprocess.Popen[bytes], width: int, height: int
) -> np.ndarray:
    """What a browser that has just been started draws."""
    end = time.monotonic() + SECONDS
    while time.monotonic() < end and drawing.poll() is None:
        new = [c for number, c in stage.server.get_clients().items() if number not in before]
        if new:
            time.sleep(SETTLING)
            camera = stage.server.initial_camera
            return new[0].get_render(
                height,
                width,
                position=camera.position,
                wxyz=_facing(camera),
                fov=camera.fov,
                timeout=SECONDS,
            )
        time.sleep(0.1)
    said = f"ended by itself ({drawing.poll()})" if drawing.poll() is not None else "did not come"
    raise ViewerError(f"the browser {said}: no picture; `chromium --version` says whether it runs")


def _facing(camera: Any) -> np.ndarray:
    """The quaternion w x y z of a camera, x right, y down, z ahead."""
    ahead = camera.look_at - camera.position
    ahead /= np.linalg.norm(ahead)
    right = np.cross(ahead, (0.0, 0.0, 1.0))
    right /= np.linalg.norm(right)
    axes = np.stack([right, np.cross(ahead, right), ahead], axis=1)
    return np.asarray(SO3.from_matrix(axes).wxyz)
