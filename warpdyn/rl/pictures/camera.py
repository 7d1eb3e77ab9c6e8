"""Frames of robots as arrays, for videos."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...functions.pictures.robot_picture import RobotPicture
from ..task import Task
from .robot_stage import Stage

DOTS = 64
"""Dots per inch of the figure: its size in pixels is this times its size in inches."""


def render_metadata(task: Task, render_mode: str | None) -> dict[str, Any]:
    """Gymnasium's metadata of an environment that a camera draws. Raises ValueError for another
    render mode than "rgb_array" and None."""
    if render_mode not in (None, "rgb_array"):
        raise ValueError(f'render_mode must be None or "rgb_array", got {render_mode!r}')
    return {"render_modes": ["rgb_array"], "render_fps": max(round(1.0 / task.step_seconds), 1)}


class Camera:
    """A camera that draws the robots of a task from one side, each in its own picture.

    size: width and height of a frame [pixels].
    """

    def __init__(self, task: Task, size: tuple[int, int] = (320, 320)):
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        self.task, self.drawn = task, RobotPicture(task.model)
        self._figure = Figure(figsize=(size[0] / DOTS, size[1] / DOTS), dpi=DOTS)
        self._canvas: Any = FigureCanvasAgg(self._figure)
        self._stage: Stage | None = None

    def frame(self, q: np.ndarray, origin: np.ndarray | None = None) -> np.ndarray:
        """The picture of a robot at a configuration (nq,), as (height, width, 3) bytes.

        origin: the robot's place in a height map (3,) [m].
        """
        poses = self.drawn.poses(np.asarray(q, float))
        if self._stage is None:
            panel: Any = self._figure.add_axes((0.0, 0.0, 1.0, 1.0))
            self._stage = Stage(self.task, self.drawn, panel, poses)
        self._stage.show(poses, np.zeros(3) if origin is None else origin)
        self._canvas.draw()
        return np.asarray(self._canvas.buffer_rgba())[..., :3].copy()
