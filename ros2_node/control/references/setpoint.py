"""The target motion: the point of ~/reference that the torques produce or track."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from warpdyn.model import Model

from ..blend_spacing import BlendSpacing
from ..safety.position_limits import position_limits
from ..settings.node_settings import Settings
from ..settings.parameter import per_joint
from ..states.finite_difference import index_of, short_way
from ..states.state import State

SETPOINT_BOUND = 1e4
"""A reference beyond this cannot be right [rad, rad/s, rad/s², or the same with m]."""
Point = tuple[Sequence[float], Sequence[float], Sequence[float]]
"""Positions, velocities and accelerations; each may be empty."""


class ReferenceLimits(NamedTuple):
    """Some joints (n,) of a setpoint, with the limits of their references."""

    names: Sequence[str]
    rows: np.ndarray
    """Their columns in q."""
    columns: np.ndarray
    """Their columns in v."""
    low: np.ndarray
    high: np.ndarray
    fastest: np.ndarray
    strongest: np.ndarray
    """Largest acceleration; inf where there is none."""
    turns: np.ndarray
    """True for joints without limits whose coordinate is an angle."""

    def including(self, q: np.ndarray) -> ReferenceLimits:
        """Limits widened to positions q (n,): a joint beyond its limit may stay there."""
        return self._replace(low=np.minimum(self.low, q), high=np.maximum(self.high, q))


class Setpoint:
    """The wanted position, velocity and acceleration of one robot: rows q (nq,), v and a (nv,).

    A joint that no reference has named has no wanted position until ~/enable, which uses the
    present one. `joints` can be named in references; `tracked` are moved by commands.
    """

    def __init__(
        self, model: Model, joints: Sequence[str], tracked: Sequence[str], counts: Counter[str]
    ) -> None:
        self.q, self.v, self.a = model.neutral.copy(), np.zeros(model.nv), np.zeros(model.nv)
        self.arrived = -np.inf
        self._rests = True
        """True while v and a are zero."""
        self.refusal = ""
        """The reason why the last reference was refused, if it was too far away."""
        self.clipped = ""
        """The last joint whose reference was beyond its limits."""
        self._counts = counts
        self._q_of = dict(zip(joints, model.q_indices(joints), strict=True))
        self._v_of = dict(zip(joints, model.v_indices(joints), strict=True))
        self._named = np.full(model.nq, -np.inf)
        """The last time at which a reference named the position of a coordinate [s]."""
        self._placed = np.zeros(model.nq, dtype=bool)
        self.tracked = tuple(tracked)
        self._model = model
        self._q_rows = index_of(model.q_indices(tracked), model.nq)
        self._v_rows = index_of(model.v_indices(tracked), model.nv)
        self._turns = np.array([model.joint(j).kind.name == "continuous" for j in tracked], bool)
        self._turning = bool(self._turns.any())
        self._error = np.zeros(len(self.tracked))
        self._everywhere = False
        """True if every tracked joint has a wanted position."""
        self.watched = False
        limit = model.velocity_limit
        self._fastest = np.where((limit > 0.0) & np.isfinite(limit), limit, np.inf)
        """(nv,), velocity limits; inf where the description has none"""
        self._strongest, self._clips = np.inf, False
        self._lowest, self._highest = np.full(model.nq, -np.inf), np.full(model.nq, np.inf)
        # `change` copies these limits into `_lowest` and `_highest`, unless references may exceed them.
        self._limits = np.array(position_limits(model, joints))
        self._named_rows = np.array(list(self._q_of.values()), dtype=int)
        self.at_limits: frozenset[str] = frozenset()
        """Joints whose last wanted positions were beyond their limits."""
        self.has_crossed = False
        """True if the last reference begins or ends beyond a limit, so that velocities jump."""
        self._jumps_apart = BlendSpacing()
        self._names = {column: name for name, column in self._v_of.items()}

    def change(self, settings: Settings, tracked: bool = False) -> None:
        """Use new gains and tolerances; ValueError if a list does not fit the tracked joints.

        tracked: whether a law holds the robot at the wanted position.
        """
        n = len(self.tracked)
        kp, kd = per_joint("kp", settings.kp, n), per_joint("kd", settings.kd, n)
        far = per_joint("max_tracking_error", settings.max_tracking_error, n)
        self._kp, self._kd = kp, kd
        self._far = np.where(far > 0.0, far, np.inf)
        self._nearest = float(self._far.min())
        self._strongest = settings.max_reference_acceleration or np.inf
        self._clips = settings.reference_violation == "clip"
        ends = settings.joint_limit_repulsion != "never"
        low, high = self._limits if ends else (-np.inf, np.inf)
        self._lowest[self._named_rows], self._highest[self._named_rows] = low, high
        tracked = tracked or settings.mode == "computed_torque"
        self.watched = tracked and bool((far > 0.0).any())

    def read(
        self, names: Sequence[str], point: Point, now: float, q: np.ndarray | None = None
    ) -> str | None:
        """Use a point for the named joints. Returns the reason if it is refused.

        q: present position of a robot that tracks. The new point may not be far from both this
        position and the previous point.
        """
        at_limits = self.at_limits
        reason = self._read(names, point, now, q)
        self.has_crossed = self.at_limits != at_limits and self.may_blend(now)
        if reason is not None:
            self._counts[reason] += 1
        return reason

    def _read(
        self, names: Sequence[str], point: Point, now: float, q: np.ndarray | None
    ) -> str | None:
        if not names or any(len(part) not in (0, len(names)) for part in point):
            return "reference_wrong_length"
        if len(set(names)) != len(names):
            return "reference_duplicate_name"
        if any(name not in self._q_of for name in names):
            return "reference_unknown_joint"
        position, velocity, acceleration = (np.array(part, dtype=float) for part in point)
        if not all(
            (np.abs(part) <= SETPOINT_BOUND).all() for part in (position, velocity, acceleration)
        ):
            return "reference_nonfinite"
        columns = [self._v_of[name] for name in names]
        if refusal := self._limit_speed(velocity, acceleration, columns):
            self.refusal = refusal
            return "reference_too_fast"
        if len(position):
            rows = [self._q_of[name] for name in names]
            self._keep_within(names, rows, (position, velocity, acceleration))
            # A copy, because a reference that is refused must not move the one in use.
            wanted = self.q.copy()
            wanted[rows] = position
            if q is not None and self._jumps(wanted, q):
                return "reference_too_far"
            self.q[:] = wanted
            self._placed[rows], self._named[rows] = True, now
            self._everywhere = bool(self._placed.all())
        self.v[:], self.a[:], self._rests = 0.0, 0.0, False
        if len(velocity):
            self.v[columns] = velocity
        if len(acceleration):
            self.a[columns] = acceleration
        self.arrived = now
        return None

    def _limit_speed(
        self, velocity: np.ndarray, acceleration: np.ndarray, columns: Sequence[int]
    ) -> str:
        """Clip the speeds of a point in place, or return a message with the joint that is too fast and its limit."""
        for values, bounds, what in (
            (velocity, self._fastest[columns], "velocity limit"),
            (acceleration, np.full(len(columns), self._strongest), "max_reference_acceleration"),
        ):
            if not len(values) or (np.abs(values) <= bounds * (1.0 + 1e-9)).all():
                continue
            if not self._clips:
                k = int(np.argmax(np.abs(values) / bounds))
                return (
                    f"{self._names[columns[k]]} is to reach {values[k]:.4g}, more than its {what} "
                    f"{bounds[k]:g}: send a slower reference, or set reference_violation to clip"
                )
            np.clip(values, -bounds, bounds, out=values)
            self._counts["reference_clipped"] += 1
        return ""

    def _keep_within(
        self, names: Sequence[str], rows: Sequence[int], point: tuple[np.ndarray, ...]
    ) -> None:
        """Clip positions to the joint limits, in place. A joint that would pass its limit stops
        there."""
        position, *rates = point
        low, high = self._lowest[rows], self._highest[rows]
        beyond = (position < low) | (position > high)
        if not beyond.any():
            self.at_limits = frozenset()
        else:
            k = int(np.argmax(beyond))
            self.clipped = (
                f"{names[k]} is to be at {position[k]:.4g}, beyond its limits {low[k]:.4g} to "
                f"{high[k]:.4g}: its reference stays within them"
            )
            self.at_limits = frozenset(names[int(k)] for k in np.flatnonzero(beyond))
            self._counts["reference_beyond_limit"] += 1
        np.clip(position, low, high, out=position)
        for rate in rates:
            if len(rate):
                on = ((position == high) & (rate > 0.0)) | ((position == low) & (rate < 0.0))
                rate[beyond | on] = 0.0

    def _jumps(self, wanted: np.ndarray, q: np.ndarray) -> bool:
        """True if a point is too far from both the previous one and the robot. `astray` finds a
        reference that moved away step by step without the robot."""
        if not self.watched:
            return False
        step = short_way((wanted - self.q)[self._q_rows], self._turns)
        error = short_way((wanted - q)[self._q_rows], self._turns)
        far = np.minimum(np.abs(step), np.abs(error)) > self._far
        if far.any():
            self.refusal = self._error_message(far, error)
        return bool(far.any())

    def limits_of(self, names: Sequence[str]) -> ReferenceLimits:
        """The reference limits of these joints."""
        rows = np.array([self._q_of[name] for name in names], dtype=int)
        columns = np.array([self._v_of[name] for name in names], dtype=int)
        return ReferenceLimits(
            tuple(names),
            rows,
            columns,
            self._lowest[rows],
            self._highest[rows],
            self._fastest[columns],
            np.full(len(columns), self._strongest),
            np.array([self._model.joint(n).kind.name == "continuous" for n in names], bool),
        )

    def point(self, joints: ReferenceLimits) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Wanted positions, velocities and accelerations (n,) of some joints."""
        return self.q[joints.rows], self.v[joints.columns], self.a[joints.columns]

    def move(
        self, joints: ReferenceLimits, point: np.ndarray, now: float, others_rest: bool = True
    ) -> None:
        """Use positions, velocities and accelerations (3, n) of a motion within the limits."""
        self.q[joints.rows] = point[0]
        if others_rest:
            self.v[:], self.a[:] = 0.0, 0.0
        self.v[joints.columns], self.a[joints.columns] = point[1], point[2]
        self.arrived, self._rests = now, False

    @property
    def moving(self) -> list[str]:
        """The tracked joints that have a wanted velocity."""
        return [self.tracked[k] for k in np.flatnonzero(self.v[self._v_rows])]

    def rest(self) -> None:
        """Stay at the wanted position."""
        self.v[:], self.a[:], self._rests = 0.0, 0.0, True

    def stay(self, q: np.ndarray, since: float = np.inf) -> None:
        """Want the present position of all joints that no reference has named since that time."""
        old = self._named < since
        self.q[old] = q[old]
        self._placed[:] = self._everywhere = True
        if self.arrived < since:
            self.v[:], self.a[:] = 0.0, 0.0
            self.arrived = -np.inf

    def ends(self, now: float, timeout: float) -> bool:
        """Stay at the last reference if it is not refreshed within this time [s]; 0: never. Returns
        true if it was moving until now."""
        if self._rests or not timeout or now - self.arrived <= timeout:
            return False
        moved = bool(self.v.any() or self.a.any())
        self.v[:], self.a[:], self._rests = 0.0, 0.0, True
        return moved

    def may_blend(self, now: float) -> bool:
        """True if a jump may blend the commands (`BlendSpacing`)."""
        return self._jumps_apart.may_blend(now)

    def track(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> None:
        """Add kp (q_ref - q) + kd (v_ref - v) to the accelerations of the tracked joints that have
        a wanted position."""
        q_rows, v_rows = self._q_rows, self._v_rows
        error, rate = self._distance(q), self.v[v_rows] - v[v_rows]
        if not self._everywhere:
            placed = self._placed[q_rows]
            error, rate = np.where(placed, error, 0.0), np.where(placed, rate, 0.0)
        self._error = error
        a[v_rows] += self._kp * error + self._kd * rate

    def write(self, state: State) -> None:
        """Write the wanted motion into the rows that a law reads, and compute the distance from it, which `astray`
        reads. A joint without a wanted position has its present one."""
        rows, wanted, way = self._q_rows, self.q, self._distance(state.q)
        if not self._everywhere:
            wanted = np.where(self._placed, self.q, state.q)
            way = np.where(self._placed[rows], way, 0.0)
        state.q_desired[:], self._error = wanted, way
        if self._turning:  # a law has the way that is shorter
            state.q_desired[rows] = state.q[rows] + way
        state.v_desired[:], state.a_desired[:] = self.v, self.a

    def astray(self, q: np.ndarray | None = None) -> str:
        """A message with the joints that are too far from their wanted positions, at the last
        `track` or at `q`; empty if there are none."""
        if not self.watched:
            return ""
        if q is not None:
            self._error = self._distance(q)
        # One product nearly always shows that all are near. Otherwise each joint is compared.
        if self._error @ self._error <= self._nearest**2:
            return ""
        near = np.abs(self._error) <= self._far
        return "" if near.all() else self._error_message(~near, self._error)

    def _distance(self, q: np.ndarray) -> np.ndarray:
        """The difference of the tracked joints between the wanted position and a position."""
        error = self.q[self._q_rows] - q[self._q_rows]
        return short_way(error, self._turns) if self._turning else error

    def _error_message(self, far: np.ndarray, error: np.ndarray) -> str:
        parts = [
            f"{self.tracked[k]} is {abs(error[k]):.3g} from its reference, more than "
            f"max_tracking_error {self._far[k]:g}"
            for k in np.flatnonzero(far)
        ]
        return "; ".join(parts)
