"""Stage of one robot in a picture: the robot, and lines on the ground around it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...functions.pictures.robot_picture import RobotPicture
from ...functions.simulation.terrain import HeightMap
from ..task import Task


class Stage:
    """One robot's part of a picture, redrawn for each moment.

    The view is from the side, and follows a free base.
    """

    def __init__(self, task: Task, drawn: RobotPicture, panel: Any, poses: np.ndarray):
        from matplotlib.collections import LineCollection, PolyCollection

        self.drawn, self.follow = drawn, task.model.floating_base
        self.terrain = task.terrain if isinstance(task.terrain, HeightMap) else None
        ends = poses[:, :3, 3].min(0), poses[:, :3, 3].max(0)
        self.middle = 0.5 * (ends[0] + ends[1])
        self.reach = 1.15 * drawn.reach(poses, self.middle)
        self.lines = LineCollection([], colors="#cccccc", linewidths=0.7, zorder=0)
        self.bodies = PolyCollection([], edgecolors="#333333", linewidths=0.4, zorder=1)
        panel.add_collection(self.lines)
        panel.add_collection(self.bodies)
        panel.set(xlim=(-self.reach, self.reach), ylim=(-self.reach, self.reach), aspect="equal")
        panel.axis("off")

    def show(self, poses: np.ndarray, origin: np.ndarray) -> None:
        """Show the robot with its links at these poses (nlinks, 4, 4)."""
        centre = self.middle.copy()
        if self.follow:
            centre[:2] = poses[0, :2, 3]
            if self.terrain is not None:
                centre[2] = poses[0, 2, 3]
        patches = self.drawn.patches(poses, centre)
        self.lines.set_segments(self.drawn.ground(centre, 2.0 * self.reach, self.terrain, origin))
        self.bodies.set_verts([patch.outline for patch in patches])
        self.bodies.set_facecolor([patch.colour for patch in patches])
