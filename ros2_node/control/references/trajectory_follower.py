"""Trajectories of ~/trajectory: their checks, the motion along them, tolerances and cancellation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from ..settings.node_settings import Settings
from ..settings.parameter import per_joint
from ..states.finite_difference import short_way
from .setpoint import SETPOINT_BOUND, ReferenceLimits, Setpoint
from .waypoint_spline import Waypoint, WaypointSpline

MOST_WAYPOINTS = 2000
"""Longer trajectories are refused, because reading them delays the commands."""
LONGEST = 1e5
"""A longer time is nonsense [s]."""
START_TOLERANCE = 0.1
"""Largest distance of a waypoint at time 0 from the present reference [rad, m]."""
STOP_ACCELERATION = 50.0
"""Deceleration after a cancellation, if `max_reference_acceleration` is 0 [rad/s², m/s²]."""
ROUNDING = 1e-3
"""Share of a limit by which a trajectory may exceed it; its samples are clipped to the limit."""
MOST_SLOWDOWNS = 8
"""Rounds in which a trajectory is slowed down to its limits."""


class TrajectoryFollower:
    """The trajectory of one robot. `follow` moves the setpoint along it, in each cycle.

    A trajectory begins at the present reference. The newest one replaces the one before, at its own start.
    Velocities and accelerations are checked at SAMPLES points of each piece, and every sample that leaves is clipped
    to the limits.
    """

    def __init__(self, setpoint: Setpoint, counts: Counter[str]) -> None:
        self.status = "none"
        """The state of the last trajectory, in words."""
        self.refusal = ""
        """The reason for which the last trajectory was refused that was not followed."""
        self.active = False
        """True while a trajectory moves or holds the setpoint."""
        self._setpoint, self._counts = setpoint, counts
        self._tracked = setpoint.tracked
        self._motion: _Motion | None = None
        self._next: _Motion | None = None

    def change(self, settings: Settings, followed: bool) -> None:
        """Use new tolerances; ValueError when a list does not fit the tracked joints.

        followed: whether mode or law read the positions of the setpoint.
        """
        n = len(self._tracked)
        path = per_joint("trajectory.path_tolerance", settings.trajectory_path_tolerance, n)
        goal = per_joint("trajectory.goal_tolerance", settings.trajectory_goal_tolerance, n)
        far = np.where(path > 0.0, path, np.inf), np.where(goal > 0.0, goal, np.inf)
        self._path, self._goal = (
            dict(zip(self._tracked, each.tolist(), strict=True)) for each in far
        )
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
    ) -> str | None:
        """Follow waypoints from `start` on [s], the watchdog's time. Returns why they were refused.

        No waypoints: cancel the present trajectory.
        """
        if not waypoints:
            self.cancel(now)
            return None
        refusal = self._unfit(names, waypoints, enabled)
        if not refusal:
            try:
                motion = self._motion_of(names, waypoints, start, now)
            except ValueError as error:
                refusal = str(error)
        if refusal:
            return self.refuse(refusal)
        running = self._motion
        if motion.start > now and running is not None and running.start <= now:
            self._next = motion
        else:
            self._motion, self._next = motion, None
        self.active, self.status = True, motion.summary
        return None

    def refuse(self, why: str) -> str:
        """Count a trajectory that is not followed. The present one goes on. Returns the reason."""
        self._counts["trajectory_refused"] += 1
        self.refusal = why
        if not self.active:
            self.status = f"refused: {why}"
        return why

    def cancel(self, now: float, why: str = "cancelled") -> None:
        """Decelerate the setpoint to rest."""
        if not self.active:
            return
        motion, self._motion, self._next = self._motion, None, None
        self.status = why
        self.active = False
        if motion is None or not motion.limits.velocities(self._setpoint).any():
            self._setpoint.rest()
            return
        self._motion, self.active = motion.deceleration(self._setpoint, now), True

    def end(self, why: str) -> None:
        """Let go of the setpoint where it is."""
        if self.active:
            self.status = why
            self._motion, self._next, self.active = None, None, False
            self._setpoint.rest()

    def follow(self, now: float, q: np.ndarray) -> bool:
        """Move the setpoint to where it belongs now; q (nq,) is the measured position. Returns whether it jumped,
        so that the commands blend."""
        if self._next is not None and now >= self._next.start:
            self._motion, self._next = self._next, None
            self.status = self._motion.summary
        motion = self._motion
        if motion is None or now < motion.start:
            return False
        is_over = motion.move(self._setpoint, now)
        error = motion.error(q)
        if not motion.has_tolerances:  # it decelerates after a cancellation
            if is_over:
                self._finish(self.status)
            return False
        far = np.abs(error) > motion.path
        if far.any():
            return self._abort(motion, q, far, error, motion.path, "path_tolerance")
        if not is_over:
            return False
        far = np.abs(error) > motion.goal
        if not far.any():
            self._finish("succeeded")
        elif self._goal_time and now - motion.start - motion.spline.end > self._goal_time:
            return self._abort(motion, q, far, error, motion.goal, "goal_tolerance")
        return False

    def _finish(self, status: str) -> None:
        self.status = status
        self._motion, self.active = self._next, self._next is not None
        self._setpoint.rest()

    def _abort(
        self,
        motion: _Motion,
        q: np.ndarray,
        far: np.ndarray,
        error: np.ndarray,
        bound: np.ndarray,
        which: str,
    ) -> bool:
        """End the trajectory and hold the robot where it is."""
        k = int(np.argmax(np.where(far, np.abs(error), 0.0)))
        self._counts["trajectory_aborted"] += 1
        self.end(
            f"aborted: {motion.limits.names[k]} is {abs(error[k]):.3g} from the trajectory, more than "
            f"trajectory.{which} {bound[k]:g}"
        )
        limits = motion.limits
        self._setpoint.q[limits.rows] = np.clip(q[limits.rows], limits.low, limits.high)
        return True

    def _unfit(self, names: Sequence[str], waypoints: Sequence[Waypoint], enabled: bool) -> str:
        """The reason for which a trajectory is refused whatever its motion is; empty where there is none."""
        if not self._followed:
            return f"{self._law_name} follows no joint positions: use computed_torque or an impedance law"
        if not enabled:
            return "the robot is not enabled: call ~/enable first"
        if len(waypoints) > MOST_WAYPOINTS:
            return f"{len(waypoints)} waypoints are more than {MOST_WAYPOINTS}: send it in parts"
        if not names or len(set(names)) != len(names):
            return "joint_names is empty or names a joint twice"
        if unknown := [name for name in names if name not in self._tracked]:
            return f"{unknown[0]} is no command joint; they are {', '.join(self._tracked)}"
        n = len(names)
        for i, w in enumerate(waypoints):
            if len(w.positions) != n or any(
                len(x) not in (0, n) for x in (w.velocities, w.accelerations)
            ):
                return (
                    f"point {i} must have {n} positions, and {n} or no velocities and accelerations"
                )
        return ""

    def _motion_of(
        self, names: Sequence[str], waypoints: Sequence[Waypoint], start: float, now: float
    ) -> _Motion:
        """The motion through waypoints; ValueError when it is impossible or exceeds the limits."""
        _check_numbers(waypoints)
        limits = self._setpoint.limits_of(names)
        if len(waypoints[-1].velocities) and np.any(np.abs(waypoints[-1].velocities) > 1e-6):
            raise ValueError("the last point moves: give it velocities of 0")
        elapsed = max(now - start, 0.0)
        first = self._first(names, limits, start, elapsed)
        waypoints = _without_whole_turns(waypoints, np.array(first.positions), limits.turns)
        if waypoints[0].time <= 0.0 and elapsed == 0.0:
            away = np.abs(np.array(waypoints[0].positions) - first.positions)
            if away.max() > START_TOLERANCE:
                k = int(np.argmax(away))
                raise ValueError(
                    f"{names[k]} is to start {away[k]:.3g} from the present reference, more than "
                    f"{START_TOLERANCE:g}: plan from where the robot is"
                )
        ahead = [w for w in waypoints if w.time > elapsed]
        if not ahead:
            raise ValueError(
                f"all points are in the past: the last is {elapsed - waypoints[-1].time:.3g} s old"
                if elapsed
                else "no point has a time_from_start above 0"
            )
        # A joint that is beyond its limit may start there.
        q0 = np.array(first.positions)
        limits = limits._replace(low=np.minimum(limits.low, q0), high=np.maximum(limits.high, q0))
        spline, slowdown = self._within(names, limits, first, ahead)
        summary = f"running: {spline.end - spline.begin:.3g} s"
        if slowdown > 1.0:
            summary += f", slowed down by {slowdown:.3g}"
            self._counts["reference_clipped"] += 1
        path, goal = (np.array([far[name] for name in names]) for far in (self._path, self._goal))
        return _Motion(spline, start, limits, path, goal, summary)

    def _first(
        self, names: Sequence[str], limits: ReferenceLimits, start: float, elapsed: float
    ) -> Waypoint:
        """The reference from which a trajectory begins: at present, or at its start in the future."""
        q, v, a = (x.copy() for x in self._setpoint.point(limits))
        motion = self._motion
        if motion is not None and motion.start <= start and elapsed == 0.0:
            ahead = motion.point_at(start)
            for k, name in enumerate(names):
                if name in ahead:
                    q[k], v[k], a[k] = ahead[name]
        return Waypoint(elapsed, q.tolist(), v.tolist(), a.tolist())

    def _within(
        self,
        names: Sequence[str],
        limits: ReferenceLimits,
        first: Waypoint,
        ahead: Sequence[Waypoint],
    ) -> tuple[WaypointSpline, float]:
        """The spline within the limits, and the factor by which it was slowed down; ValueError when it exceeds
        them."""
        slowdown = 1.0
        for _ in range(MOST_SLOWDOWNS):
            spline = WaypointSpline([first, *(_slower(w, first.time, slowdown) for w in ahead)])
            position, velocity, acceleration = spline.samples()
            beyond = np.maximum(position - limits.high, limits.low - position).max(axis=(0, 1))
            if beyond.max() > ROUNDING:
                k = int(np.argmax(beyond))
                raise ValueError(
                    f"{names[k]} would go {beyond[k]:.3g} beyond its limits {limits.low[k]:.4g} to "
                    f"{limits.high[k]:.4g}"
                )
            speed = np.abs(velocity).max(axis=(0, 1)) / limits.fastest
            push = np.abs(acceleration).max(axis=(0, 1)) / limits.strongest
            if max(speed.max(), push.max()) <= 1.0 + ROUNDING:
                return spline, slowdown
            if not self._slows:
                break
            slowdown *= 1.0001 * max(speed.max(), float(np.sqrt(push.max())), 1.0)
        raise ValueError(_too_fast(names, limits, speed, push, self._slows))


class _Motion:
    """A spline of some joints, with its start [s], limits and tolerances (n,)."""

    def __init__(
        self,
        spline: WaypointSpline,
        start: float,
        limits: ReferenceLimits,
        path: np.ndarray,
        goal: np.ndarray,
        summary: str,
        has_tolerances: bool = True,
    ) -> None:
        self.spline, self.start, self.limits = spline, start, limits
        self.path, self.goal, self.summary, self.has_tolerances = (
            path,
            goal,
            summary,
            has_tolerances,
        )
        self._point = np.zeros((3, len(limits.names)))

    def move(self, setpoint: Setpoint, now: float) -> bool:
        """Move the setpoint to its place at that time. Returns whether the motion is over."""
        point, limits = self._point, self.limits
        time = now - self.start
        self.spline.at(time, point)
        is_over = time >= self.spline.end
        if is_over:
            point[1:] = 0.0
        np.clip(point[0], limits.low, limits.high, out=point[0])
        np.clip(point[1], -limits.fastest, limits.fastest, out=point[1])
        np.clip(point[2], -limits.strongest, limits.strongest, out=point[2])
        setpoint.move(limits, point, now)
        return is_over

    def error(self, q: np.ndarray) -> np.ndarray:
        """The distance of a measured position (nq,) from the place of the last `move`, by joint."""
        return short_way(self._point[0] - q[self.limits.rows], self.limits.turns)

    def point_at(self, now: float) -> dict[str, np.ndarray]:
        """Position, velocity and acceleration of each joint at a time."""
        point = np.zeros_like(self._point)
        self.spline.at(now - self.start, point)
        if now - self.start >= self.spline.end:
            point[1:] = 0.0
        return dict(zip(self.limits.names, point.T, strict=True))

    def deceleration(self, setpoint: Setpoint, now: float) -> _Motion:
        """A motion that decelerates all joints at once from the setpoint to rest."""
        limits = self.limits
        q, v, _ = (x.copy() for x in setpoint.point(limits))
        strongest = np.where(np.isfinite(limits.strongest), limits.strongest, STOP_ACCELERATION)
        time = max(float((np.abs(v) / strongest).max()), 1e-3)
        end = np.clip(q + 0.5 * time * v, limits.low, limits.high)
        zeros = np.zeros_like(q)
        spline = WaypointSpline([Waypoint(0.0, q, v), Waypoint(time, end, zeros)])  # type: ignore[arg-type]
        return _Motion(spline, now, limits, self.path, self.goal, "", has_tolerances=False)


def _check_numbers(waypoints: Sequence[Waypoint]) -> None:
    """ValueError for times that do not increase, or numbers that are none."""
    before = -1e-12
    for i, w in enumerate(waypoints):
        if not before < w.time <= LONGEST:
            raise ValueError(
                f"point {i} is at {w.time:g} s: time_from_start must be at least 0 and increase"
            )
        before = w.time
        numbers = np.array([*w.positions, *w.velocities, *w.accelerations])
        if not (np.abs(numbers) <= SETPOINT_BOUND).all():
            raise ValueError(f"point {i} has a number that is not finite, or beyond all sense")


def _without_whole_turns(
    waypoints: Sequence[Waypoint], first: np.ndarray, turns: np.ndarray
) -> list[Waypoint]:
    """Waypoints whose continuous joints begin within half a turn of the present reference."""
    if not turns.any():
        return list(waypoints)
    begins = np.array(waypoints[0].positions)
    shift = np.where(turns, 2.0 * np.pi * np.round((first - begins) / (2.0 * np.pi)), 0.0)
    return [w._replace(positions=(np.array(w.positions) + shift).tolist()) for w in waypoints]


def _slower(waypoint: Waypoint, begin: float, factor: float) -> Waypoint:
    """The waypoint of a motion that takes `factor` times as long from `begin` on."""
    if factor == 1.0:
        return waypoint
    return Waypoint(
        begin + factor * (waypoint.time - begin),
        waypoint.positions,
        [x / factor for x in waypoint.velocities],
        [x / factor**2 for x in waypoint.accelerations],
    )


def _too_fast(
    names: Sequence[str],
    limits: ReferenceLimits,
    speed: np.ndarray,
    push: np.ndarray,
    slows: bool,
) -> str:
    """Why a trajectory is refused whose joints exceed limits by these factors (n,)."""
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
