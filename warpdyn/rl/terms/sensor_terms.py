"""Readings of sensors in a task: inertial measurement units and net contact forces of links."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..task import gravity_argument


def imu_reading(robot: Any, s: Any, frame: str) -> Any:
    """The reading of an inertial measurement unit in a link: proper acceleration, then angular
    velocity (6,) [m/s², rad/s], in the link's axes.

    The acceleration is the mean over the last step of the environment, as measured by a sensor with
    a filter of that length. At the beginning of an episode it is that of a robot with constant
    velocity. Gravity is that of the task's simulation, also if it varies.
    """
    seconds = s.task.step_seconds
    a = np.where(s.age < 0.5, 0.0, (s.v - s.last_v) * (1.0 / seconds))
    return robot.imu(s.q, s.v, a, frame=frame, **gravity_argument(s.task, s))


def link_forces(robot: Any, s: Any, frames: Sequence[str]) -> Any:
    """The net contact forces and moments of the ground on links, about their origins, in the
    world's axes (links, 6) [N, N·m]. Moments of torsional and rolling friction count."""
    impulses = getattr(s, "impulses", None)
    more: dict[str, Any] = {}
    # Points with friction moments have six impulses: three of the force, then three of the moment.
    if impulses is not None and np.shape(impulses)[1] > 3:
        more["moments"] = impulses[:, 3:] * (1.0 / s.task.dt)
    terrain = getattr(s, "terrain", None)
    return robot.link_contact_forces(
        s.q, s.forces, points=s.task.points, frames=list(frames), terrain=terrain, **more
    )
