"""Tolerances of a trajectory: the largest errors of joints along it and at its end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..settings.node_settings import Settings
from ..settings.parameter import per_joint
from .trajectory_goal import TrajectoryEnd, TrajectoryGoal, TrajectoryRefusedError

ByJoint = Mapping[str, float]


class Tolerances:
    """Largest errors of some joints in position [rad, m] and velocity [rad/s, m/s]; inf without a
    tolerance.

    own: tolerances of the goal, by joint. They replace those of the parameters.
    """

    def __init__(
        self,
        names: Sequence[str],
        end: TrajectoryEnd,
        own: tuple[ByJoint, ByJoint],
        parameters: tuple[ByJoint, ByJoint],
    ) -> None:
        self.end = end
        """The end of a trajectory that violates them."""
        self._names, self._own = names, own
        self.position, self.velocity = (
            np.array([mine.get(name, of_node[name]) for name in names])
            for mine, of_node in zip(own, parameters, strict=True)
        )
        self.bounds_velocity = bool(np.isfinite(self.velocity).any())

    def violation(self, error: np.ndarray, speed_error: np.ndarray) -> str:
        """The worst violation in words; empty if there is none. Errors in position and velocity, (n,)."""
        is_path = self.end is TrajectoryEnd.PATH_TOLERANCE_VIOLATED
        which = "path_tolerance" if is_path else "goal_tolerance"
        own, bounds, size = self._own[0], self.position, np.abs(error)
        parameter, what = f"trajectory.{which}", "is {:.3g} from the trajectory"
        far = ~(size <= bounds)
        if not far.any():
            own, bounds, size = self._own[1], self.velocity, np.abs(speed_error)
            parameter, what = "trajectory.stopped_velocity_tolerance", "still moves with {:.3g}"
            if is_path:
                what = "differs by {:.3g} in velocity from the trajectory"
            which += " in velocity"
            far = ~(size <= bounds)
        if not far.any():
            return ""
        k = int(np.argmax(np.where(far, size, 0.0)))
        name = self._names[k]
        whose = f"the goal's {which}" if name in own else parameter
        return f"{name} {what.format(size[k])}, more than {whose} {bounds[k]:g}"


NO_TOLERANCES = Tolerances((), TrajectoryEnd.STOPPED, ({}, {}), ({}, {}))
"""Tolerances of a motion that is not compared with the robot."""


class ToleranceParameters:
    """The tolerances of the node's parameters."""

    def __init__(self, settings: Settings, joints: Sequence[str]) -> None:
        """Raise ValueError if a list does not fit the joints."""

        def by_joint(name: str, value: float | tuple[float, ...]) -> ByJoint:
            bounds = per_joint(name, value, len(joints))
            return dict(zip(joints, np.where(bounds > 0.0, bounds, np.inf).tolist(), strict=True))

        none = dict.fromkeys(joints, np.inf)
        self._path = by_joint("trajectory.path_tolerance", settings.trajectory_path_tolerance), none
        self._goal = (
            by_joint("trajectory.goal_tolerance", settings.trajectory_goal_tolerance),
            by_joint(
                "trajectory.stopped_velocity_tolerance",
                settings.trajectory_stopped_velocity_tolerance,
            ),
        )
        self._has_velocity, self._law = settings.needs_velocity, settings.law_name

    def of(self, names: Sequence[str], goal: TrajectoryGoal) -> tuple[Tolerances, Tolerances]:
        """Tolerances of a trajectory of some joints, along it and at its end;
        TrajectoryRefusedError if velocities have tolerances and are not known."""
        on_the_way = Tolerances(
            names,
            TrajectoryEnd.PATH_TOLERANCE_VIOLATED,
            (goal.path, goal.path_velocity),
            self._path,
        )
        at_the_end = Tolerances(
            names,
            TrajectoryEnd.GOAL_TOLERANCE_VIOLATED,
            (goal.goal, goal.goal_velocity),
            self._goal,
        )
        if not self._has_velocity and (on_the_way.bounds_velocity or at_the_end.bounds_velocity):
            raise TrajectoryRefusedError(
                f"a tolerance bounds velocities, which {self._law} does not read: set it to 0"
            )
        return on_the_way, at_the_end
