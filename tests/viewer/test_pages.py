"""Pages in a real browser: robots are drawn at their poses, live and in a page without a server."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import warpdyn as wd

viewer = pytest.importorskip("warpdyn.viewer")
import imageio.v3 as imageio
from painted import (
    BENT,
    BLUE,
    GREEN,
    HEIGHT,
    MODEL,
    WIDTH,
    colors_of,
    drag,
    evaluate,
    expected_links,
    likeness,
    likeness_of_colors,
    picture,
    silhouette,
    wait_until_drawn,
)
from waiting import wait_until

from warpdyn.viewer.pages import PageCamera

TIMES = np.linspace(0, 10, 501)
MOTION = {"shoulder": -0.15 + 0.45 * np.sin(TIMES), "elbow": -0.6 - 0.3 * np.cos(TIMES)}
THUMB = """(() => {
    const box = document.querySelector("[role=slider]").getBoundingClientRect();
    return [box.x + box.width / 2, box.y + box.height / 2];
})()"""
"""The middle of the first slider's handle [pixels]."""


def test_a_page_opens_without_a_server(browser: Any, tmp_path: Path) -> None:
    """No port is open, the page requests nothing, and the motion plays."""
    shown = viewer.Viewer(port=0)
    shown.add(MODEL)
    shown.look()
    shown.trajectory(MODEL, MOTION, TIMES)
    path = shown.record(tmp_path / "arm.html")
    rows = np.stack([MOTION["shoulder"], MOTION["elbow"]], axis=1)[:250:10]
    poses = np.asarray(wd.fk(MODEL, rows, form="pose"))
    solids = shown.robots["robot"].drawn.solids
    shown.stop()
    with socket.socket() as nobody, pytest.raises(ConnectionRefusedError):
        nobody.connect((shown.stage.server.get_host(), shown.stage.server.get_port()))
    asked = "performance.getEntriesByType('resource').map((x) => x.name)"
    seen: set[int] = set()
    canvas = "document.querySelector('canvas')?.clientHeight ?? 0"
    tab = browser.open(path.as_uri(), WIDTH, HEIGHT)
    wait_until(lambda: 0 < evaluate(tab, canvas) < HEIGHT, "a canvas above the time bar")
    height = evaluate(tab, canvas)
    tab.close()  # a page that plays uses all cores
    frames = [silhouette(shown, solids, each, height) for each in poses]
    tab = browser.open(path.as_uri(), WIDTH, HEIGHT)

    def has_moved() -> bool:
        colors = colors_of(picture(tab))
        alike = [sum(likeness_of_colors(colors, x)[k] for k in (GREEN, BLUE)) / 2 for x in frames]
        if max(alike) > 0.8:
            seen.add(int(np.argmax(alike)))
        return max(seen, default=0) - min(seen, default=0) > 3

    try:
        wait_until(has_moved, "a motion through configurations of the trajectory")
        assert [x for x in evaluate(tab, asked) if x.startswith("http")] == []
    finally:
        tab.close()


def test_a_picture_is_written(browser: Any, tmp_path: Path) -> None:
    """A separate browser takes it, and it shows all links."""
    shown = viewer.show(MODEL, BENT, controls=False)
    try:
        path = shown.png(tmp_path / "arm.png", width=320, height=240)
    finally:
        shown.stop()
    pixels = np.asarray(imageio.imread(path))[..., :3]
    assert pixels.shape == (240, 320, 3)
    shares = [(colors_of(pixels) == k).mean() for k in range(3)]
    assert min(shares) > 0.01 and sum(shares) < 0.5


def test_a_ghost_at_the_robots_pose_does_not_change_the_picture(browser: Any) -> None:
    """Only the robot is visible, without stripes. Elsewhere the ghost is visible."""
    shown = viewer.show(MODEL, BENT, controls=False)
    try:
        camera = PageCamera(shown.stage, browser, 320, 240)
        pictures = [camera.picture().astype(int)]
        for place in (BENT, -BENT):
            shown.ghost(MODEL, place)
            pictures.append(camera.picture().astype(int))
        camera.close()
    finally:
        shown.stop()
    alone, same, apart = pictures
    painted = colors_of(alone) >= 0
    assert painted.sum() > 2000
    assert (np.abs(same - alone)[painted].max(-1) > 20).mean() < 0.02
    assert (np.abs(apart - alone).max(-1) > 20).sum() > 1000


def test_a_picture_without_a_browser_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = viewer.show(MODEL, controls=False)
    monkeypatch.setattr("shutil.which", lambda name: None)
    try:
        with pytest.raises(
            viewer.ViewerError, match="a picture needs a browser, but neither chromium"
        ):
            shown.png(tmp_path / "arm.png")
    finally:
        shown.stop()


def test_the_page_of_a_trajectory_is_small(tmp_path: Path) -> None:
    """Ten seconds of an arm at 50 pictures a second take less than 5 MB as a page, and less than 1
    MB as a recording."""
    panda = wd.load_robot("panda")
    shown = viewer.Viewer(port=0)
    shown.add(panda)
    try:
        shown.trajectory(panda, {"panda_joint1": np.sin(TIMES)}, TIMES)
        page, recording = (shown.record(tmp_path / n) for n in ("arm.html", "arm.viser"))
    finally:
        shown.stop()
    assert page.stat().st_size < 5e6 and 1e4 < recording.stat().st_size < 1e6
    assert b"__VISER_EMBED_DATA__" in page.read_bytes()


@pytest.fixture(scope="module")
def live(browser: Any) -> Iterator[tuple[Any, Any]]:
    """A page with the painted arm, and a tab that shows it. Its tests are the last of this file: a
    tab draws all the time, and would delay others."""
    shown = viewer.show(MODEL, BENT)
    tab = browser.open(shown.address, WIDTH, HEIGHT)
    yield shown, tab
    tab.close()
    shown.stop()


def test_each_link_is_drawn_at_its_pose(live: Any) -> None:
    """Its colour covers all of its pixels and no others, before and after the robot moves."""
    shown, tab = live
    wait_until_drawn(tab, expected_links(shown))
    shown.update(-BENT)
    wait_until_drawn(tab, expected_links(shown))


def test_a_slider_dragged_on_the_page_moves_the_robot(live: Any) -> None:
    """The first joint's slider moves it in the program, and the pixels of the later links."""
    shown, tab = live
    shown.update(BENT)
    before = wait_until_drawn(tab, expected_links(shown))
    x, y = evaluate(tab, THUMB)
    drag(tab, (x, y), (x + 25, y))
    wait_until(lambda: shown.robots["robot"].q[0, 0] > BENT[0] + 0.3, "a joint that moved")
    assert shown.robots["robot"].q[0, 1] == pytest.approx(BENT[1])
    wait_until_drawn(tab, expected_links(shown))
    red, green, _ = likeness(before, expected_links(shown))
    assert red > 0.85 and green < 0.8, "the first link stays, the second is elsewhere"
