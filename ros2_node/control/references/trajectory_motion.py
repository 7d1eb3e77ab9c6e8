"""Motions along splines, and deceleration to rest."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..states.finite_difference import short_way
from ..states.state import State
from .setpoint import ReferenceLimits, Setpoint
from .trajectory_goal import TrajectoryGoal, TrajectoryProgress
from .trajectory_tolerances import NO_TOLERANCES, Tolerances
from .waypoint_spline import WaypointArrays, WaypointSpline

STOP_ACCELERATION = 50.0
"""Deceleration after a cancellation, if `max_reference_acceleration` is 0 [rad/s², m/s²]."""
SHORTEST_STOP = 1e-3
"""Shortest time of a deceleration [s]."""


class TrajectoryMotion:
    """A spline of some joints with its start [s], limits, and tolerances along it and at its end.

    request: its goal; a motion without a goal has no tolerances.
    """

    def __init__(
        self,
        spline: WaypointSpline,
        start: float,
        limits: ReferenceLimits,
        path: Tolerances,
        goal: Tolerances,
        summary: str,
        request: TrajectoryGoal | None = None,
    ) -> None:
        self.spline, self.start, self.limits = spline, start, limits
        self.path, self.goal, self.summary = path, goal, summary
        self.request = request or TrajectoryGoal()
        self.has_tolerances = request is not None
        self._point = np.zeros((3, len(limits.names)))

    def move(self, setpoint: Setpoint, now: float, others_rest: bool = True) -> bool:
        """Move the setpoint to its place at that time. Returns true if the motion is over.

        others_rest: whether all other joints have no wanted velocity.
        """
        point, limits = self._point, self.limits
        time = now - self.start
        self.spline.at(time, point)
        is_over = time >= self.spline.end
        if is_over:
            point[1:] = 0.0
        np.clip(point[0], limits.low, limits.high, out=point[0])
        np.clip(point[1], -limits.fastest, limits.fastest, out=point[1])
        np.clip(point[2], -limits.strongest, limits.strongest, out=point[2])
        setpoint.move(limits, point, now, others_rest)
        return is_over

    def error(self, q: np.ndarray) -> np.ndarray:
        """The distance of a measured position (nq,) from the place of the last `move`, by joint."""
        return short_way(self._point[0] - q[self.limits.rows], self.limits.turns)

    def speed_error(self, v: np.ndarray) -> np.ndarray:
        """The difference of a measured velocity (nv,) from that of the last `move`, by joint."""
        return np.asarray(self._point[1] - v[self.limits.columns])

    def point_at(self, now: float) -> dict[str, np.ndarray]:
        """Position, velocity and acceleration of each joint at a time."""
        point = np.zeros_like(self._point)
        self.spline.at(now - self.start, point)
        if now - self.start >= self.spline.end:
            point[1:] = 0.0
        return dict(zip(self.limits.names, point.T, strict=True))

    def progress(self, setpoint: Setpoint, state: State, now: float) -> TrajectoryProgress:
        """Present points of the motion and of the robot."""
        limits, time = self.limits, now - self.start
        desired = setpoint.point(limits)
        q, v = state.q[limits.rows], state.v[limits.columns]
        error = short_way(desired[0] - q, limits.turns), desired[1] - v
        ahead = self.spline.points_after(time)
        index = min(max(self.request.points - ahead, 0), max(self.request.points - 1, 0))
        return TrajectoryProgress(limits.names, time, index, desired, (q, v), error)


def deceleration(setpoint: Setpoint, names: Sequence[str], now: float) -> TrajectoryMotion:
    """A motion that decelerates some joints together from the setpoint to rest. A joint that would
    reach its limit stops earlier if its largest acceleration allows it."""
    limits = setpoint.limits_of(names)
    q, v, _ = (x.copy() for x in setpoint.point(limits))
    limits = limits.including(q)
    strongest = np.where(np.isfinite(limits.strongest), limits.strongest, STOP_ACCELERATION)
    shortest = np.maximum(np.abs(v) / strongest, SHORTEST_STOP)
    room = np.where(v > 0.0, limits.high - q, q - limits.low)
    until_limit = 2.0 * room / np.maximum(np.abs(v), 1e-9)
    # Times are rounded, so that no piece is as short as a rounding error.
    times = np.round(np.clip(until_limit, shortest, shortest.max()), 9)
    # The velocity of each joint falls on a line to zero at its own time. Cubics between the times of all joints are
    # these parabolas.
    knots = np.unique([0.0, *times])
    shares = np.minimum(knots[:, None] / times, 1.0)
    way = v * times * shares * (1.0 - 0.5 * shares)
    points = WaypointArrays(
        times=knots,
        positions=np.clip(q + way, limits.low, limits.high),
        velocities=v * (1.0 - shares),
        accelerations=np.zeros((len(knots), len(q))),
        has_velocities=np.ones(len(knots), dtype=bool),
        has_accelerations=np.zeros(len(knots), dtype=bool),
    )
    spline = WaypointSpline(points)
    return TrajectoryMotion(spline, now, limits, NO_TOLERANCES, NO_TOLERANCES, "")
