"""A request for a trajectory: its tolerances and its end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

import numpy as np


class TrajectoryEnd(Enum):
    """The end of a trajectory. The names after REPLACED are error codes of FollowJointTrajectory."""

    SUCCEEDED = "succeeded"
    CANCELLED = "cancelled"
    STOPPED = "stopped"
    """The robot no longer follows references, or follows other ones."""
    REPLACED = "replaced"
    """A later trajectory has begun."""
    INVALID_GOAL = "invalid goal"
    INVALID_JOINTS = "invalid joints"
    OLD_HEADER_TIMESTAMP = "old stamp"
    PATH_TOLERANCE_VIOLATED = "path tolerance"
    GOAL_TOLERANCE_VIOLATED = "goal tolerance"


class TrajectoryRefusedError(ValueError):
    """The reason why a trajectory is not followed. end: its kind."""

    def __init__(self, text: str, end: TrajectoryEnd = TrajectoryEnd.INVALID_GOAL) -> None:
        super().__init__(text)
        self.end = end


@dataclass(eq=False)
class TrajectoryGoal:
    """A request for a trajectory. Tolerances that it lacks come from the parameters."""

    path: dict[str, float] = field(default_factory=dict)
    """Largest distance from the motion, by joint [rad, m]; inf where there is none."""
    goal: dict[str, float] = field(default_factory=dict)
    """Largest distance from the last point, by joint [rad, m]; inf where there is none."""
    path_velocity: dict[str, float] = field(default_factory=dict)
    """Largest difference from the motion in velocity, by joint [rad/s, m/s]; inf where there is none."""
    goal_velocity: dict[str, float] = field(default_factory=dict)
    """Largest speed after the motion, by joint [rad/s, m/s]; inf where there is none."""
    goal_time: float | None = None
    """Time after the motion within which the joints must be there [s]; 0 for any time."""
    points: int = 0
    """Number of its points."""
    end: TrajectoryEnd | None = None
    """The end; None until then."""
    text: str = ""
    """The end in words."""

    def finish(self, end: TrajectoryEnd, text: str) -> None:
        """Record the end. Only the first one counts."""
        if self.end is None:
            self.end, self.text = end, text

    def check(self, names: Sequence[str]) -> None:
        """Raise TrajectoryRefusedError if a tolerance is for a joint that the trajectory does not name."""
        for which, tolerances in (
            ("path_tolerance", self.path | self.path_velocity),
            ("goal_tolerance", self.goal | self.goal_velocity),
        ):
            if unknown := [name for name in tolerances if name not in names]:
                raise TrajectoryRefusedError(
                    f"{which} is for {unknown[0]}, which the trajectory does not name",
                    TrajectoryEnd.INVALID_JOINTS,
                )


class TrajectoryProgress(NamedTuple):
    """Present points of a trajectory and of the robot."""

    names: Sequence[str]
    time: float
    """Time since the start of the trajectory [s]."""
    point: int
    """Number of the point to which it moves."""
    desired: tuple[np.ndarray, np.ndarray, np.ndarray]
    """Wanted positions, velocities and accelerations (n,) of the joints."""
    measured: tuple[np.ndarray, np.ndarray]
    """Positions and velocities (n,)."""
    error: tuple[np.ndarray, np.ndarray]
    """Desired minus measured positions and velocities (n,); angles are compared the short way
    round."""
