"""Trajectories of ~/trajectory: their checks, the motion along them, tolerances and cancellation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from ..settings.node_settings import Settings
from ..states.state import State
from .setpoint import SETPOINT_BOUND, ReferenceLimits, Setpoint
from .trajectory_goal import (
    TrajectoryEnd,
    TrajectoryGoal,
    TrajectoryProgress,
    TrajectoryRefusedError,
)
from .trajectory_motion import TrajectoryMotion, deceleration
from .trajectory_tolerances import ToleranceParameters
from .waypoint_spline import Waypoint, WaypointArrays, WaypointSpline

MOST_WAYPOINTS = 2000
"""Longer trajectories are refused, because reading them delays the commands."""
LONGEST = 1e5
"""A longer time cannot be right [s]."""
START_TOLERANCE = 0.1
"""Largest distance of a waypoint at time 0 from the present reference [rad, m]."""
ROUNDING = 1e-3
"""Share of a limit by which a trajectory may exceed it; its samples are clipped to the limit."""
REPLACED = "aborted: replaced by a later trajectory"
MOST_SLOWDOWNS = 8
"""Rounds in which a trajectory is slowed down to its limits."""


class TrajectoryFollower:
    """The trajectory of one robot. `follow` moves the setpoint along it, in each cycle.

    A trajectory begins at the present reference. When a new trajectory starts, it replaces the
    previous one. Moving joints that it does not name decelerate to rest. Velocities and
    accelerations are checked between the waypoints too, and every sample is clipped to the limits.
    """

    def __init__(self, setpoint: Setpoint, counts: Counter[str]) -> None:
        self.status = "none"
        """The state of the last trajectory, in words."""
        self.refusal = ""
        """The reason why the last refused trajectory was not followed."""
        self.active = False
        """True while a trajectory moves or holds the setpoint."""
        self._setpoint, self._counts = setpoint, counts
        self._tracked = setpoint.tracked
        self._motion: TrajectoryMotion | None = None
        self._next: TrajectoryMotion | None = None
        self._others: TrajectoryMotion | None = None
        """The deceleration of the joints that the present trajectory does not name."""

    def change(self, settings: Settings, followed: bool) -> None:
        """Use new tolerances; ValueError if a list does not fit the tracked joints.

        followed: whether mode or law read the positions of the setpoint.
        """
        self._tolerances = ToleranceParameters(settings, self._tracked)
        self._goal_time = settings.trajectory_goal_time
        self._slows = settings.reference_violation == "clip"
        self._followed, self._law_name = followed, settings.law_name

    def accept(
        self,
        names: Sequence[str],
        waypoints: Sequence[Waypoint],
        start: float,
        now: float,
        enabled: bool,
        goal: TrajectoryGoal | None = None,
    ) -> str | None:
        """Follow waypoints from `start` on [s], in the watchdog's time. Returns the reason if they
        are refused.

        No waypoints: cancel the present trajectory. goal: request with the tolerances of this
        trajectory, which records its end.
        """
        if not waypoints:
            self.cancel(now)
            return None
        goal = goal or TrajectoryGoal()
        goal.points = len(waypoints)
        try:
            self._check(names, waypoints, enabled)
            goal.check(names)
            running = self._running(start, now)
            motion = self._motion_of(names, waypoints, start, now, goal, running)
        except ValueError as error:
            goal.finish(getattr(error, "end", TrajectoryEnd.INVALID_GOAL), str(error))
            return self.refuse(str(error))
        _finish_goals(TrajectoryEnd.REPLACED, REPLACED, self._next)
        if motion.start > now and running is not None:
            if running is not self._motion:
                _finish_goals(TrajectoryEnd.REPLACED, REPLACED, self._motion)
            self._motion, self._next = running, motion
        else:
            self._take(motion, now)
        self.active, self.status = True, motion.summary
        return None

    def refuse(self, why: str) -> str:
        """Count a refused trajectory and return the reason. The present one continues."""
        self._counts["trajectory_refused"] += 1
        self.refusal = why
        if not self.active:
            self.status = f"refused: {why}"
        return why

    def cancel(self, now: float, why: str = "cancelled") -> None:
        """Decelerate the setpoint to rest."""
        if not self.active:
            return
        _finish_goals(TrajectoryEnd.CANCELLED, why, self._motion, self._next)
        self._motion = self._next = self._others = None
        self.status = why
        self.active = False
        if not (moving := self._setpoint.moving):
            self._setpoint.rest()
            return
        self._motion, self.active = deceleration(self._setpoint, moving, now), True

    def withdraw(self, goal: TrajectoryGoal, now: float) -> None:
        """Cancel the trajectory of a goal and the one queued after it."""
        if self._next is not None and self._next.request is goal:
            _finish_goals(TrajectoryEnd.CANCELLED, "cancelled", self._next)
            self._next = None
            self.active = self._motion is not None
            summary = self._motion.summary if self._motion is not None else ""
            self.status = summary or "cancelled"
        elif self._motion is not None and self._motion.request is goal:
            self.cancel(now)

    def progress(self, goal: TrajectoryGoal, now: float, state: State) -> TrajectoryProgress | None:
        """The progress of a goal's trajectory; None while it does not move the setpoint."""
        motion = self._motion
        if motion is None or motion.request is not goal or now < motion.start:
            return None
        return motion.progress(self._setpoint, state, now)

    def end(self, why: str) -> None:
        """Release the setpoint, which then rests."""
        if self.active:
            self.release(why)
            self._setpoint.rest()

    def release(self, why: str) -> None:
        """Release the setpoint to another input."""
        if self.active:
            _finish_goals(TrajectoryEnd.STOPPED, why, self._motion, self._next)
            self.status = why
            self._motion = self._next = self._others = None
            self.active = False

    def follow(self, now: float, q: np.ndarray, v: np.ndarray) -> bool:
        """Move the setpoint to its place at this time; q (nq,) and v (nv,) are measured. Returns
        true if it jumped, so that the commands blend."""
        if self._next is not None and now >= self._next.start:
            self._take(self._next, now)
        motion = self._motion
        if motion is None or now < motion.start:
            return False
        self.status = motion.summary or self.status
        is_over = motion.move(self._setpoint, now)
        if self._others is not None:
            if self._others.move(self._setpoint, now, others_rest=False):
                self._others = None
            is_over = is_over and self._others is None
        if not motion.has_tolerances:  # it decelerates after a cancellation
            if is_over:
                self._finish(self.status)
            return False
        errors = motion.error(q), motion.speed_error(v)
        if text := motion.path.violation(*errors):
            return self._abort(motion, q, text, motion.path.end)
        if not is_over:
            return False
        text = motion.goal.violation(*errors)
        if not text:
            _finish_goals(TrajectoryEnd.SUCCEEDED, "succeeded", motion)
            self._finish("succeeded")
            return False
        wait = self._goal_time if motion.request.goal_time is None else motion.request.goal_time
        if wait and now - motion.start - motion.spline.end > wait:
            return self._abort(motion, q, text, motion.goal.end)
        return False

    def _running(self, start: float, now: float) -> TrajectoryMotion | None:
        """The motion until the start of a trajectory, even if that has not begun. A reference that
        moves without a trajectory decelerates."""
        if self._motion is not None and self._motion.start <= max(start, now):
            return self._motion
        moving = self._setpoint.moving if start > now else []
        return deceleration(self._setpoint, moving, now) if moving else None

    def _take(self, motion: TrajectoryMotion, now: float) -> None:
        """Replace the present motion with this one."""
        _finish_goals(TrajectoryEnd.REPLACED, REPLACED, self._motion)
        others = [name for name in self._setpoint.moving if name not in motion.limits.names]
        self._others = deceleration(self._setpoint, others, now) if others else None
        self._motion, self._next = motion, None

    def _finish(self, status: str) -> None:
        self.status = status
        self._motion, self._next = self._next, None
        self.active = self._motion is not None
        self._setpoint.rest()

    def _abort(self, motion: TrajectoryMotion, q: np.ndarray, why: str, end: TrajectoryEnd) -> bool:
        """End the trajectory and hold the robot at its position."""
        limits, text = motion.limits, f"aborted: {why}"
        self._counts["trajectory_aborted"] += 1
        motion.request.finish(end, text)
        self.end(text)
        self._setpoint.q[limits.rows] = np.clip(q[limits.rows], limits.low, limits.high)
        return True

    def _check(self, names: Sequence[str], waypoints: Sequence[Waypoint], enabled: bool) -> None:
        """Raise TrajectoryRefusedError for a trajectory that is refused regardless of its motion."""
        if not self._followed:
            raise TrajectoryRefusedError(
                f"{self._law_name} follows no joint positions: use computed_torque or an impedance law"
            )
        if not enabled:
            raise TrajectoryRefusedError("the robot is not enabled: call ~/enable first")
        if len(waypoints) > MOST_WAYPOINTS:
            raise TrajectoryRefusedError(
                f"{len(waypoints)} waypoints are more than {MOST_WAYPOINTS}: send it in parts"
            )
        if not names or len(set(names)) != len(names):
            raise TrajectoryRefusedError(
                "joint_names is empty or names a joint twice", TrajectoryEnd.INVALID_JOINTS
            )
        if unknown := [name for name in names if name not in self._tracked]:
            raise TrajectoryRefusedError(
                f"{unknown[0]} is not a command joint; they are {', '.join(self._tracked)}",
                TrajectoryEnd.INVALID_JOINTS,
            )

    def _motion_of(
        self,
        names: Sequence[str],
        waypoints: Sequence[Waypoint],
        start: float,
        now: float,
        goal: TrajectoryGoal,
        running: TrajectoryMotion | None,
    ) -> TrajectoryMotion:
        """The motion through waypoints; TrajectoryRefusedError if it is impossible or exceeds the limits."""
        points = _arrays_of(waypoints, len(names))
        limits = self._setpoint.limits_of(names)
        if (np.abs(points.velocities[-1]) > 1e-6).any():
            raise TrajectoryRefusedError("the last point moves: give it velocities of 0")
        elapsed = max(now - start, 0.0)
        first = self._first(names, limits, start, elapsed, running)
        q0 = np.array(first.positions)
        if limits.turns.any():
            points = points.nearest_turns(q0, elapsed, limits.turns)
        if points.times[0] <= 0.0 and elapsed == 0.0:
            away = np.abs(points.positions[0] - q0)
            if away.max() > START_TOLERANCE:
                k = int(np.argmax(away))
                raise TrajectoryRefusedError(
                    f"{names[k]} is to start {away[k]:.3g} from the present reference, more than "
                    f"{START_TOLERANCE:g}: plan from where the robot is"
                )
        is_ahead = points.times > elapsed
        if not is_ahead.any() and elapsed:
            raise TrajectoryRefusedError(
                f"all points are in the past: the last is {elapsed - points.times[-1]:.3g} s old",
                TrajectoryEnd.OLD_HEADER_TIMESTAMP,
            )
        if not is_ahead.any():
            raise TrajectoryRefusedError("no point has a time_from_start above 0")
        limits = limits.including(q0)
        ahead = points.rows(is_ahead)
        spline, slowdown = self._within(names, limits, WaypointArrays.of([first]), ahead)
        summary = f"running: {spline.end - spline.begin:.3g} s"
        if slowdown > 1.0:
            summary += f", slowed down by {slowdown:.3g}"
            self._counts["reference_clipped"] += 1
        path, near = self._tolerances.of(names, goal)
        return TrajectoryMotion(spline, start, limits, path, near, summary, goal)

    def _first(
        self,
        names: Sequence[str],
        limits: ReferenceLimits,
        start: float,
        elapsed: float,
        running: TrajectoryMotion | None,
    ) -> Waypoint:
        """The reference at the start of a trajectory: the present one, or the one at a start in the future."""
        q, v, a = (x.copy() for x in self._setpoint.point(limits))
        if running is not None:
            ahead = running.point_at(start + elapsed)
            if self._others is not None:
                ahead |= self._others.point_at(start + elapsed)
            for k, name in enumerate(names):
                if name in ahead:
                    q[k], v[k], a[k] = ahead[name]
        return Waypoint(elapsed, q.tolist(), v.tolist(), a.tolist())

    def _within(
        self,
        names: Sequence[str],
        limits: ReferenceLimits,
        first: WaypointArrays,
        ahead: WaypointArrays,
    ) -> tuple[WaypointSpline, float]:
        """The spline, slowed down to the limits, and the factor."""
        slowdown = 1.0
        for _ in range(MOST_SLOWDOWNS):
            spline = WaypointSpline(ahead.after(first, slowdown))
            bounds = np.array([limits.high, limits.fastest, limits.strongest])
            least, most = spline.extremes(np.array([limits.low, *-bounds[1:]]), bounds)
            beyond = np.maximum(most[0] - limits.high, limits.low - least[0])
            if beyond.max() > ROUNDING:
                k = int(np.argmax(beyond))
                raise TrajectoryRefusedError(
                    f"{names[k]} would go {beyond[k]:.3g} beyond its limits {limits.low[k]:.4g} to "
                    f"{limits.high[k]:.4g}"
                )
            _, fastest, strongest = np.maximum(most, -least)
            speed, push = fastest / limits.fastest, strongest / limits.strongest
            if max(speed.max(), push.max()) <= 1.0 + ROUNDING:
                return spline, slowdown
            if not self._slows:
                break
            slowdown *= 1.0001 * max(speed.max(), float(np.sqrt(push.max())), 1.0)
        raise TrajectoryRefusedError(_too_fast(names, limits, speed, push, self._slows))


def _finish_goals(end: TrajectoryEnd, text: str, *motions: TrajectoryMotion | None) -> None:
    """Record the end of motions in their goals."""
    for motion in motions:
        if motion is not None:
            motion.request.finish(end, text)


def _arrays_of(waypoints: Sequence[Waypoint], n: int) -> WaypointArrays:
    """The waypoints as arrays; TrajectoryRefusedError for points without n numbers, times that do
    not increase, or values that are not numbers."""
    for i, w in enumerate(waypoints):
        if (
            len(w.positions) != n
            or len(w.velocities) not in (0, n)
            or len(w.accelerations) not in (0, n)
        ):
            raise TrajectoryRefusedError(
                f"point {i} must have {n} positions, and {n} or no velocities and accelerations"
            )
    points = WaypointArrays.of(waypoints)
    times = points.times
    in_order = (np.diff(times, prepend=-1e-12) > 0.0) & (times <= LONGEST)
    if not in_order.all():
        i = int(np.argmin(in_order))
        raise TrajectoryRefusedError(
            f"point {i} is at {times[i]:g} s: time_from_start must be at least 0 and increase"
        )
    numbers = np.hstack([points.positions, points.velocities, points.accelerations])
    sensible = (np.abs(numbers) <= SETPOINT_BOUND).all(axis=1)
    if not sensible.all():
        raise TrajectoryRefusedError(
            f"point {int(np.argmin(sensible))} has a number that is not finite, or too large to be right"
        )
    return points


def _too_fast(
    names: Sequence[str], limits: ReferenceLimits, speed: np.ndarray, push: np.ndarray, slows: bool
) -> str:
    """The refusal of a trajectory whose joints exceed their limits by these factors (n,)."""
    factors, bounds, what = speed, limits.fastest, "velocity limit"
    if speed.max() <= 1.0 + ROUNDING:
        factors, bounds, what = push, limits.strongest, "max_reference_acceleration"
    k = int(np.argmax(factors))
    advice = (
        "its start is too fast for it"
        if slows
        else "slow it down, or set reference_violation to clip"
    )
    return (
        f"{names[k]} would reach {factors[k] * bounds[k]:.4g}, more than its {what} {bounds[k]:g}: "
        + advice
    )
