"""Recordings of moving robots for the site, which one shared client plays.

`python -m docs_site.recordings FOLDER` writes them, with `--posters` their pictures.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import viser

import warpdyn as wd
from benchmarks.pictures import example, walk
from warpdyn.viewer import Viewer

CLIENT = Path(viser.__file__).parent / "client" / "build" / "index.html"
"""viser's page, 0.8 MB, which plays a recording that its address names."""

RATE = 25.0
"""Pictures of a second."""

CLOSER = 0.75
"""How far the camera is, of where it would see the corners of a motion's box too."""


def write_all(folder: Path) -> None:
    """Write the client and every recording."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(CLIENT, folder / "index.html")
    for name, page in shown_pages():
        page.record(folder / f"{name}.viser", rate=RATE)


def write_posters(folder: Path) -> None:
    """Write a picture of each motion, `motion_<name>.png`, with a headless Chromium."""
    for name, page in shown_pages():
        page.png(folder / f"motion_{name}.png", width=960, height=600)


def shown_pages() -> Iterator[tuple[str, Viewer]]:
    """Page of each motion by name, at a third of its time, with the camera on the whole motion."""
    page = Viewer(port=0)
    try:
        for name, motion in MOTIONS.items():
            page.clear()
            model, q, seconds = motion()
            page.trajectory(model, q, np.linspace(0.0, seconds, len(q)))
            player = page.player
            assert player is not None
            player.playing.value = False
            boxes = []
            for time in np.linspace(seconds, seconds / 3, 9):
                player.go_to(time)
                boxes += [view.box(view.poses) for view in page.robots.values()]
            look(page, np.min([low for low, _ in boxes], 0), np.max([high for _, high in boxes], 0))
            yield name, page
    finally:
        page.stop()


def look(page: Viewer, low: np.ndarray, high: np.ndarray) -> None:
    """Set light, ground and camera for a box around a motion."""
    page.stage.ground(min(float(low[2]), 0.0), float(np.linalg.norm(high - low)))
    page.stage.look(low, high)
    camera = page.stage.server.initial_camera
    camera.position = camera.look_at + CLOSER * (camera.position - camera.look_at)


def quadruped() -> tuple[wd.Model, np.ndarray, float]:
    """The policy of the package walks in a circle."""
    task, rows = walk((0.45, 0.0, 0.9), 400)
    return task.model, rows, len(rows) * task.dt * task.substeps


def fall() -> tuple[wd.Model, np.ndarray, float]:
    """Nine quadrupeds are dropped from different heights and land on their feet."""
    model = wd.load_robot("quadruped")
    start = np.tile(model.configurations["home"], (9, 1))
    start[:, 2] += np.linspace(0.05, 0.45, 9)
    feet = wd.ContactPoints(model).only("*_foot")
    sim = wd.Simulation(model, len(start), points=feet, control=wd.PD(60.0, 2.0), start=start)
    rows = [sim.q.copy()]
    for _ in range(75):
        sim.step()
        rows.append(sim.q.copy())
    return model, np.array(rows, float), 75 * 0.02


def reach() -> tuple[wd.Model, np.ndarray, float]:
    """An arm's tool follows a circle by inverse kinematics."""
    model = wd.load_robot("ur5e")
    turn = np.linspace(0.0, 2 * np.pi, 121)
    T = np.tile(np.diag([1.0, -1.0, -1.0, 1.0]), (len(turn), 1, 1))
    T[:, :3, 3] = np.stack(
        [0.5 + 0.15 * np.cos(turn), 0.2 * np.sin(turn), 0.35 + 0.1 * np.sin(2 * turn)], axis=1
    )
    q, rows = np.array([model.configurations["home"]]), []
    for each in T:
        q = wd.inverse_kinematics(model, {"tool0": each[None]}, q0=q, restarts=0).q
        rows.append(q[0])
    return model, np.array(rows), 6.0


def stack() -> tuple[wd.Model, np.ndarray, float]:
    """A ball at 4 m/s knocks over a pyramid of boxes."""
    with without_compilation():
        scene, rows, *_ = example("stack").simulate(0.1)
    return scene, rows[11:, 3], 0.01 * (len(rows) - 12)


def hand() -> tuple[wd.Model, np.ndarray, float]:
    """A hand closes around a ball and turns over."""
    with without_compilation():
        scene, rows, *_ = example("hand_holds_a_ball").simulate(4.0)
    return scene, rows[:, 2], 0.01 * (len(rows) - 1)


@contextmanager
def without_compilation() -> Iterator[None]:
    """Context without kernel compilation, because these simulations are short."""
    before = wd.config.compile
    wd.config.compile = "never"
    try:
        yield
    finally:
        wd.config.compile = before


MOTIONS: dict[str, Callable[[], tuple[wd.Model, np.ndarray, float]]] = {
    "quadruped": quadruped,
    "fall": fall,
    "reach": reach,
    "stack": stack,
    "hand": hand,
}
"""Motions by the names of their recordings: the model, configurations, and how long it takes [s]."""


if __name__ == "__main__":
    folder = Path(sys.argv[-1])
    write_posters(folder) if "--posters" in sys.argv else write_all(folder)
