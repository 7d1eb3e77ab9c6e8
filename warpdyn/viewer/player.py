"""Playback of a trajectory on a page: a time bar, speed, loop."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from .robot_view import RobotView
from .stage import Page
from .trajectory import Trajectory

PICTURES = 60.0
"""Largest number of pictures per second."""


SLOWEST, FASTEST = 0.05, 4.0
"""Range of the speed slider; it grows for a speed that a program requests."""


class Player:
    """Playback of a trajectory in a separate thread until `stop`.

    move: function that shows the robot of `view` at (B, nq), with its overlays and controls.
    follow: function that is called with each time that is shown [s].
    """

    def __init__(
        self,
        stage: Page,
        view: RobotView,
        motion: Trajectory,
        move: Callable[[np.ndarray], None],
        *,
        loop: bool = True,
        speed: float = 1.0,
        follow: Callable[[float], None] | None = None,
    ):
        self.view, self.motion, self._move, self._follow = view, motion, move, follow
        first, last = float(motion.times[0]), float(motion.times[-1])
        gui = stage.server.gui
        with gui.add_folder("Time") as self._folder:
            self.bar: Any = gui.add_slider("time [s]", first, max(last, first + 1e-3), 0.001, first)
            self.playing: Any = gui.add_checkbox("play", True)
            self.loop: Any = gui.add_checkbox("loop", loop)
            slowest, fastest = min(SLOWEST, speed), max(FASTEST, speed)
            self.speed: Any = gui.add_slider("speed", slowest, fastest, SLOWEST, speed)
        self._end = threading.Event()
        self.bar.on_update(self._on_move)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def go_to(self, at: float) -> None:
        """Show the motion at a time [s]."""
        self._move(self.motion.at(at))
        if self._follow is not None:
            self._follow(at)

    def stop(self) -> None:
        """End playback and remove its time bar."""
        if self._end.is_set():
            return
        self._end.set()
        if threading.current_thread() is not self._thread:
            self._thread.join(timeout=5.0)
        self._folder.remove()

    def _on_move(self, event: Any) -> None:
        """Show the time of the bar if the user moved it."""
        if event.client is not None:
            self.go_to(float(self.bar.value))

    def _run(self) -> None:
        first, last = float(self.motion.times[0]), float(self.motion.times[-1])
        before = time.perf_counter()
        while not self._end.wait(1.0 / PICTURES):
            now = time.perf_counter()
            passed, before = now - before, now
            if not self.playing.value:
                continue
            at = float(self.bar.value) + passed * float(self.speed.value)
            if at > last:
                if not self.loop.value:
                    self.playing.value = False
                at = first if self.loop.value else last
            self.go_to(at)
            self.bar.value = at
