"""Pages in a real browser: a headless Chromium that draws without a graphics card."""

from __future__ import annotations

import io
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import warpdyn as wd

viewer = pytest.importorskip("warpdyn.viewer")
import imageio.v3 as imageio

from warpdyn.viewer.pages import BROWSERS

BROWSER = next(filter(None, map(shutil.which, BROWSERS)), None)
drawn_by_a_browser = pytest.mark.slow
"""Needs Chromium and the package playwright: pytest --slow tests/viewer/test_pages.py."""

WIDTH, HEIGHT = 800, 600
GL = ("--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader")
MODEL = wd.load_robot("panda")
ORANGE = (1.0, 0.45, 0.0, 1.0)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    assert BROWSER is not None, "apt-get install chromium"
    from playwright.sync_api import sync_playwright

    with sync_playwright() as runner:
        made = runner.chromium.launch(executable_path=BROWSER, args=[*GL, "--no-sandbox"])
        yield made
        made.close()


@pytest.fixture(scope="module")
def live(browser: Any) -> Iterator[tuple[Any, Any]]:
    """An orange arm, live, and the browser's page."""
    shown = viewer.show(MODEL)
    view = shown.add(MODEL, name="robot", color=ORANGE)
    shown.controls.view = shown.controls.overlays.view = view
    page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
    page.goto(shown.address)
    drawn(page)
    yield shown, page
    page.close()
    shown.stop()


def picture(page: Any) -> np.ndarray:
    return np.asarray(imageio.imread(io.BytesIO(page.screenshot(timeout=60_000))))[..., :3].astype(
        int
    )


def is_orange(pixels: np.ndarray) -> np.ndarray:
    """Lit or in shadow: red above green above blue, by much."""
    red, green, blue = np.moveaxis(pixels, -1, 0)
    return (red > 1.35 * green) & (green > 1.1 * blue) & (red > 60)


def drawn(page: Any, seconds: float = 60.0) -> np.ndarray:
    """The first picture with an arm in it."""
    for _ in range(int(seconds / 0.5)):
        pixels = picture(page)
        if is_orange(pixels).mean() > 0.01:
            return pixels
        page.wait_for_timeout(500)
    raise AssertionError("no robot was drawn")


def projected(shown: Any, points: np.ndarray) -> np.ndarray:
    """Pixels (n, 2), x to the right and y down, of points of the world."""
    camera = shown.stage.server.initial_camera
    ahead = camera.look_at - camera.position
    ahead /= np.linalg.norm(ahead)
    right = np.cross(ahead, (0, 0, 1.0))
    right /= np.linalg.norm(right)
    rays = points - camera.position
    depth = rays @ ahead
    scale = HEIGHT / 2 / np.tan(camera.fov / 2)
    x = WIDTH / 2 + scale * (rays @ right) / depth
    y = HEIGHT / 2 + scale * (rays @ np.cross(ahead, right)) / depth
    return np.stack([x, y], axis=1)


@drawn_by_a_browser
def test_the_robot_is_drawn_where_its_links_are(live: Any) -> None:
    """Its colour at the centres of links, and not beside the robot."""
    shown, page = live
    pixels = drawn(page)
    view = shown.robots["robot"]
    centres = []
    for solid in view.drawn.solids:
        pose = view.first[solid.link]
        middle = (solid.vertices.min(0) + solid.vertices.max(0)) / 2
        centres.append(pose[:3] + viewer_turned(pose[3:], middle))
    at = np.round(projected(shown, np.array(centres))).astype(int)
    seen = at[(at[:, 0] < 0.62 * WIDTH) & (at[:, 0] > 0)]  # controls are on the right
    assert len(seen) >= 8
    assert is_orange(pixels[seen[:, 1], seen[:, 0]]).mean() > 0.8
    assert not is_orange(pixels[-40:, :60]).any()


def viewer_turned(quaternion: np.ndarray, vector: np.ndarray) -> np.ndarray:
    from warpdyn.viewer.robot_view import turned

    return turned(quaternion, vector)


@drawn_by_a_browser
def test_a_slider_that_a_person_moves_moves_the_robot(live: Any) -> None:
    """By the keyboard; in the program, and on the page."""
    shown, page = live
    before, q = drawn(page), shown.robots["robot"].q[0, 0]
    page.locator("[role=slider]").first.focus()
    for _ in range(60):
        page.keyboard.press("PageUp")
    for _ in range(100):
        if abs(shown.robots["robot"].q[0, 0] - q) > 0.3:
            break
        page.wait_for_timeout(100)
    assert abs(shown.robots["robot"].q[0, 0] - q) > 0.3
    page.wait_for_timeout(2000)
    changed = is_orange(before) != is_orange(picture(page))
    assert changed.mean() > 0.01


@drawn_by_a_browser
def test_a_page_opens_without_a_server(browser: Any, tmp_path: Path) -> None:
    """A trajectory of ten seconds, in less than 5 MB."""
    shown = viewer.Viewer(port=0)
    shown.add(MODEL, color=ORANGE)
    shown.look()
    times = np.linspace(0, 10, 501)
    shown.trajectory(
        MODEL, {"panda_joint1": np.sin(times), "panda_joint4": -1.5 - np.cos(times)}, times
    )
    path = shown.record(tmp_path / "arm.html")
    shown.stop()
    assert path.stat().st_size < 5e6
    page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
    page.goto(path.as_uri())
    first = drawn(page)
    page.wait_for_timeout(1500)
    assert (is_orange(first) != is_orange(picture(page))).mean() > 0.005
    page.close()


@drawn_by_a_browser
def test_a_picture_is_written(tmp_path: Path) -> None:
    shown = viewer.show(MODEL, controls=False)
    shown.add(MODEL, color=ORANGE)
    try:
        path = shown.png(tmp_path / "arm.png", width=320, height=240)
    finally:
        shown.stop()
    pixels = np.asarray(imageio.imread(path))[..., :3].astype(int)
    assert pixels.shape == (240, 320, 3)
    assert 0.03 < is_orange(pixels).mean() < 0.5


def test_without_a_browser_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = viewer.show(MODEL, controls=False)
    monkeypatch.setattr("shutil.which", lambda name: None)
    try:
        with pytest.raises(viewer.ViewerError, match="a picture needs a browser: none of chromium"):
            shown.png(tmp_path / "arm.png")
    finally:
        shown.stop()


def test_a_trajectory_is_a_small_page(tmp_path: Path) -> None:
    """Ten seconds at 50 pictures a second: less than 5 MB as a page, less than 1 as a recording."""
    shown = viewer.Viewer(port=0)
    shown.add(MODEL, color=ORANGE)
    try:
        times = np.linspace(0, 10, 501)
        shown.trajectory(MODEL, {"panda_joint1": np.sin(times)}, times)
        page, recording = (shown.record(tmp_path / n) for n in ("arm.html", "arm.viser"))
    finally:
        shown.stop()
    assert page.stat().st_size < 5e6 and 1e4 < recording.stat().st_size < 1e6
    assert b"__VISER_EMBED_DATA__" in page.read_bytes()
