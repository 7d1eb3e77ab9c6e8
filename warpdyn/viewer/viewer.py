"""A robot in the browser: `viewer = wd.viewer.show(model, q)`."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from viser import uplot

from ..functions.simulation.simulation import Simulation
from ..model import Model
from ..model.mesh_files import NONE, Packages
from ..model.structure import start_of
from .contact_forces import contact_forces
from .controls import Controls
from .overlays import OVERLAYS, RED, ContactForces, Overlays, arrows, drawn_contacts
from .pages import picture_of, write_page
from .player import Player
from .robot_view import RobotView
from .shapes import Which
from .stage import LOOPBACK, PORT, Page, ViewerError
from .trajectory import Trajectory

GHOST = (0.05, 0.4, 0.95, 1.0)
"""The colour of a second robot."""


class Viewer:
    """A page with robots, at `address`, until `stop` or the end of the program.

    For thousands of robots of one model, use `update(q)` with q (B, nq). Each additional drawing
    has a name, and replaces an earlier drawing with the same name.
    """

    def __init__(self, host: str = LOOPBACK, port: int = PORT):
        self.stage = Page(host, port)
        self.robots: dict[str, RobotView] = {}
        self._drawn: dict[str, list[Any]] = {}
        self._plots: dict[str, Any] = {}
        self._scales: dict[str, float] = {}
        self._alone = threading.RLock()  # a playing motion and the user draw contacts
        self._over: dict[str, Overlays] = {}
        self.controls: Controls | None = None
        self.player: Player | None = None

    @property
    def address(self) -> str:
        """Address of the page for a browser."""
        return self.stage.address

    @property
    def remarks(self) -> tuple[str, ...]:
        """Remarks about shapes that could not be drawn, each once."""
        return tuple(dict.fromkeys(x for view in self.robots.values() for x in view.drawn.remarks))

    def add(
        self,
        model: Model,
        q: Any = None,
        name: str = "robot",
        *,
        which: Which = "visual",
        color: tuple[float, float, float, float] | None = None,
        opacity: float = 1.0,
        spacing: float | None = None,
        at: Sequence[float] = (0.0, 0.0, 0.0),
        packages: Packages = NONE,
    ) -> RobotView:
        """Add a robot at the position `at` [m]. q: None: `home`, or the neutral configuration
        without `home`."""
        view = RobotView(
            self.stage,
            model,
            name,
            which=which,
            color=color,
            opacity=opacity,
            at=at,
            spacing=spacing,
            packages=packages,
        )
        rows = view.check_configurations(start_of(model) if q is None else q)
        if name in self.robots:  # only after the checks, so that an error removes no robot
            self._remove(name)
        view.update(rows)
        self.robots[name] = view
        return view

    def update(self, q: Any, name: str = "robot") -> None:
        """Show a robot, or many, at q: (nq,) or (B, nq) [m, rad]."""
        if name not in self.robots:
            raise ViewerError(f"no robot is called {name!r}; there are {', '.join(self.robots)}")
        self.robots[name].update(q)
        if name in self._over:
            self._over[name].update()
        if self.controls is not None and self.controls.view is self.robots[name]:
            self.controls.follow()

    def ghost(self, model: Model, q: Any, name: str = "ghost") -> RobotView:
        """A second, transparent robot, such as a target next to the actual state."""
        if name in self.robots and self.robots[name].model is model:
            self.robots[name].update(q)
            return self.robots[name]
        return self.add(model, q, name, color=GHOST, opacity=0.35)

    def arrows(
        self,
        points: Any,
        vectors: Any,
        name: str = "arrows",
        *,
        scale: float = 1.0,
        color: tuple[int, int, int] = RED,
    ) -> None:
        """Arrows from points (n, 3) [m] along vectors (n, 3), such as forces, with `scale` metres
        per unit."""
        start, along = (np.asarray(x, dtype=float).reshape(-1, 3) for x in (points, vectors))
        if start.shape != along.shape:
            raise ValueError(
                f"points and vectors must be (n, 3) both, got {start.shape} and {along.shape}"
            )
        for handle in self._drawn.pop(name, []):
            handle.remove()
        keep = np.isfinite(start).all(1) & np.isfinite(along).all(1) & (np.abs(along).max(1) > 0)
        if keep.any():
            size = next((view.size for view in self.robots.values()), 1.0)
            self._drawn[name] = arrows(
                self.stage, f"/{name}", start[keep], scale * along[keep], color, size
            )

    def contacts(
        self,
        found: Simulation | ContactForces,
        envs: Sequence[int] | None = None,
        *,
        robot: str = "robot",
        name: str = "contacts",
        scale: float | None = None,
    ) -> None:
        """Draw where robots of a simulation touch the ground and each other, as balls, and the forces
        there as arrows, with `scale` metres per newton. Call it after each step.

        The arrow of a pair of shapes is the force on the second one, and ends at their contacts.
        envs: the environments that the page shows as `robot`; None: the first ones. scale: None:
        chosen at the first drawing with forces, so that its longest arrow is a fifth of the robot's
        size.
        """
        if robot not in self.robots:
            raise ViewerError(f"no robot is called {robot!r}; there are {', '.join(self.robots)}")
        view = self.robots[robot]
        if isinstance(found, Simulation):
            found = contact_forces(found, range(view.envs) if envs is None else envs)
        longest = float(np.linalg.norm(found.forces, axis=1).max(initial=0.0))
        if scale is None and longest:
            scale = self._scales.setdefault(name, 0.2 * view.size / longest)
        with self._alone, self.stage.server.atomic():
            for handle in self._drawn.pop(name, []):
                handle.remove()
            self._drawn[name] = drawn_contacts(view, f"/{name}", found, scale or 0.0)

    def over(self, what: str, on: bool = True, name: str = "robot") -> None:
        """Draw an overlay on a robot, or remove it: "frames", "joint axes", "centres of mass",
        "inertias", "contact points", "gravity torques"."""
        if what not in OVERLAYS or name not in self.robots:
            raise ViewerError(
                f"over {', '.join(self.robots) or 'no robot'} are drawn {', '.join(OVERLAYS)}; "
                f"got {what!r} over {name!r}"
            )
        if name not in self._over:
            self._over[name] = Overlays(self.stage, self.robots[name])
        self._over[name].switch(what, on)

    def plot(self, name: str, x: Any, curves: Mapping[str, Any]) -> None:
        """Plot curves (n,) by name over x (n,), next to the robots."""
        data = (np.asarray(x, dtype=float), *(np.asarray(y, dtype=float) for y in curves.values()))
        if any(each.shape != data[0].shape or each.ndim != 1 for each in data):
            raise ValueError(f"curves of {name!r} must be (n,) as x is, {data[0].shape}")
        if name in self._plots:
            self._plots[name].data = data
            return
        colors = ("#1f6fd6", "#d63c32", "#2f9e5b", "#e0902a", "#7a52c7", "#555b66")
        series = (
            uplot.Series(label="x"),
            *(
                uplot.Series(label=label, stroke=colors[k % len(colors)], width=2)
                for k, label in enumerate(curves)
            ),
        )
        self._plots[name] = self.stage.server.gui.add_uplot(
            data, series, title=name, aspect=1.4, scales={"x": uplot.Scale(time=False)}
        )

    def trajectory(
        self,
        model: Model,
        q: Any,
        times: Any = None,
        *,
        loop: bool = True,
        speed: float = 1.0,
        name: str = "robot",
        follow: Callable[[float], None] | None = None,
    ) -> Trajectory:
        """Play a motion with a time bar: q (T, nq), or positions by joint {"joint": (T,)}, at times
        (T,) [s] (None: 50 a second). q (T, B, nq) moves B robots. speed: seconds of motion per
        second of the clock, above 0. follow: called with each time that is shown [s]."""
        if not 0.0 < speed < np.inf:
            raise ViewerError(f"speed must be above 0, got {speed:g}; 1 is real time")
        motion = Trajectory.of(model, q, times)
        if name not in self.robots or self.robots[name].model is not model:
            self.add(model, motion.at(motion.times[0]), name)
        if self.player is not None:
            self.player.stop()
        move = partial(self.update, name=name)
        self.player = Player(
            self.stage, self.robots[name], motion, move, loop=loop, speed=speed, follow=follow
        )
        return motion

    def record(self, path: str | Path, *, rate: float = 50.0) -> Path:
        """Write the page as one file (.html) that opens without a server, or as a viser recording
        (.viser), with the trajectory at `rate` pictures per second."""
        return write_page(self.stage, self.player, Path(path), rate)

    def png(self, path: str | Path, *, width: int = 1280, height: int = 800) -> Path:
        """Write a picture of the page, with a headless Chromium."""
        return picture_of(self.stage, Path(path), width, height)

    def clear(self) -> None:
        """Remove all robots and other drawings."""
        for name in list(self.robots):
            self._remove(name)
        for name in list(self._drawn):
            for handle in self._drawn.pop(name):
                handle.remove()
        self._scales.clear()

    def _remove(self, name: str) -> None:
        """Remove a robot, its overlays, its controls and its motion."""
        if self.player is not None and self.player.view is self.robots[name]:
            self.player.stop()
            self.player = None
        if self.controls is not None and self.controls.view is self.robots[name]:
            self.controls.remove()
            self.controls = None
        if name in self._over:
            drawn = self._over.pop(name)
            for what in OVERLAYS:
                drawn.switch(what, False)
        self.robots.pop(name).remove()

    def look(self) -> None:
        """Point the camera at all robots, and put the ground below the lowest."""
        boxes = [view.box(view.poses) for view in self.robots.values()]
        low, high = np.min([b[0] for b in boxes], 0), np.max([b[1] for b in boxes], 0)
        fixed = not any(view.model.floating_base for view in self.robots.values())
        below = min(float(x.box(x.poses, planes=True)[0][2]) for x in self.robots.values())
        level = min(below, 0.0) if fixed else below
        self.stage.ground(level, float(np.linalg.norm(high - low)))
        self.stage.look(low, high)

    def wait(self) -> None:
        """Wait until Ctrl-C."""
        try:
            while True:
                time.sleep(3600)
        except KeyboardInterrupt:
            pass

    def stop(self) -> None:
        """End the page's server."""
        if self.player is not None:
            self.player.stop()
        self.stage.stop()

    def _repr_html_(self) -> str:
        """The page itself, for a notebook whose browser is on this machine."""
        return (
            f'<iframe src="{self.address}" width="100%" height="480" style="border: 0"></iframe>'
            f'<p><a href="{self.address}">{self.address}</a></p>'
        )

    def __repr__(self) -> str:
        return f"<Viewer of {', '.join(self.robots) or 'nothing'} at {self.address}>"


def show(
    model: Model,
    q: Any = None,
    *,
    which: Which = "visual",
    controls: bool = True,
    spacing: float | None = None,
    packages: Packages = NONE,
    host: str = LOOPBACK,
    port: int = 0,
) -> Viewer:
    """Show a robot, or B of them, on a page in the browser at `viewer.address`.

    q: (nq,) or (B, nq) [m, rad]; None: `home`, or neutral. which: "visual" or "collision" shapes.
    controls: sliders for the coordinates of one robot, switches for frames, axes, inertias.
    packages: folders of the packages that meshes name by package://; they take precedence over
    those of the environment.
    """
    viewer = Viewer(host, port)
    try:
        view = viewer.add(model, q, which=which, spacing=spacing, packages=packages)
    except Exception:
        viewer.stop()
        raise
    viewer.look()
    if controls and view.envs == 1:
        viewer.controls = Controls(viewer.stage, view)
    return viewer
