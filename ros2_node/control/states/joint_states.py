"""Reading of a JointState into q and v, and its checks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from warpdyn.model import Model

from ..settings.node_settings import Settings
from .finite_difference import FiniteDifference
from .name_maps import NameMap, NameMaps, single_joints, unreadable
from .position_steps import FASTEST, JUMP_MARGIN, SLACK, PositionSteps
from .state import State

POSITION_BOUND = 1e4
"""A joint position beyond this cannot be right [rad, m]."""
MIMIC_TOLERANCE = 1e-2
"""Largest distance of a mimic joint from where its source puts it [rad, m]."""
FUTURE = 1_000_000_000
"""A stamp this far ahead of the clock is counted [ns]."""
SPEED_FACTOR, FREE_SPEED = 2.0, 100.0
"""A velocity above this multiple of the joint's limit cannot be right, and its message is dropped;
a joint without limit may reach FREE_SPEED [rad/s, m/s]."""


class _UncheckedMessage(NamedTuple):
    """A message whose numbers are in use, and whose irregularities are not counted yet."""

    map: NameMap
    position: Sequence[float]
    needed: np.ndarray
    stamp: int
    now: float
    frozen: bool
    odd: str
    """The reason to count where its positions jump or contradict the velocities; else empty."""


class JointStates:
    """Reader of the joint_states of one robot into q and v of its `state`.

    A message is read in two halves, and the torques are sent between them. `take` checks it and
    writes q and v, which the torques need. `note` follows after the torques, counts irregularities
    of the message and stores it as the previous one. Between the two, the message is in `_unnoted`.
    A second `take` calls `note` first, so that nothing is lost. `read` does both, where nothing
    waits for the torques.

    `now` is the watchdog's time in seconds. Joints that are not read stay at the model's neutral
    position.
    """

    def __init__(
        self, model: Model, settings: Settings, state: State, counts: Counter[str]
    ) -> None:
        able = single_joints(model)
        self.joints = settings.joints or able
        for name in self.joints:
            if name not in able:
                raise ValueError(unreadable(model, name))
        self.q, self.v = state.q, state.v
        self.q[:], self.v[:] = model.neutral, 0.0
        self.observer_v = np.zeros(model.nv)
        """Velocities for the observer of external torques in modes without velocities; NaN where a
        message had none."""
        self.counts = counts
        self.arrived = -np.inf
        self.strict = False
        """True if positions that jump are dropped, not only counted: while commands are sent."""
        self._settings, self._needs_velocity = settings, settings.needs_velocity
        self._watches_efforts = settings.watches_efforts
        self._model = model
        self._q_of = {name: model.q_indices([name])[0] for name in self.joints}
        self._needed_q = np.array([self._q_of[name] for name in self.joints], dtype=int)
        self._needed_v = np.array(model.v_indices(self.joints), dtype=int)
        self._v_of_q = np.zeros(model.nq, dtype=int)
        self._v_of_q[self._needed_q] = self._needed_v
        self._continuous = np.zeros(model.nq, dtype=bool)
        for name in self.joints:
            self._continuous[self._q_of[name]] = model.joint(name).kind.name == "continuous"
        fastest = np.full(model.nq, FASTEST)
        limit = model.velocity_limit[self._needed_v]
        # A velocity limit of 0 in a description means that the joint has none.
        is_limited = (limit > 0.0) & np.isfinite(limit)
        fastest[self._needed_q] = np.where(is_limited, limit, FASTEST)
        believed = np.full(model.nq, FREE_SPEED)
        believed[self._needed_q] = np.where(is_limited, SPEED_FACTOR * limit, FREE_SPEED)
        self._believed = believed
        """Largest plausible speed of each coordinate."""
        self._slowest = float(believed.min())
        self._difference = FiniteDifference(believed, self._continuous)
        self._steps = PositionSteps(fastest, self._continuous)
        self.lag = 0.0
        """Lag of the last stamp behind this node's clock [s]; zero without a stamp."""
        self._late_since = np.inf
        """Arrival time of the first of the stamps that were too old [s]."""
        self._seen = np.full(model.nq, -np.inf)
        self._unnoted: _UncheckedMessage | None = None
        self._set_limits(settings)
        self._maps = NameMaps(model, self._q_of, self._v_of_q)
        self._recent: NameMap | None = None

    def read(
        self,
        names: list[str],
        position: Sequence[float],
        velocity: Sequence[float],
        stamp: int,
        now: float,
        ros_now: int = 0,
    ) -> str | None:
        """Call `take` and `note`."""
        reason = self.take(names, position, velocity, stamp, now)
        self.note(ros_now)
        return reason

    def take(
        self,
        names: list[str],
        position: Sequence[float],
        velocity: Sequence[float],
        stamp: int,
        now: float,
    ) -> str | None:
        """Check one message, with its stamp in nanoseconds, and write q and v. Returns the reason
        if it is rejected, else None."""
        if self._unnoted is not None:
            self.note()
        reason = self._take(names, position, velocity, stamp, now)
        if reason is not None:
            self.counts[reason] += 1
        return reason

    def _take(
        self,
        names: list[str],
        position: Sequence[float],
        velocity: Sequence[float],
        stamp: int,
        now: float,
    ) -> str | None:
        if not names:
            return "empty_message"
        # A publisher sends the same names again and again: comparing lists is quicker than hashing.
        m = self._recent
        if m is None or m.names != names:
            m = self._recent = self._maps.find(names)
        if m.problem is not None:
            return m.problem
        if len(position) != len(names) or len(velocity) not in (0, len(names)):
            return "wrong_length"
        p = np.asarray(position, dtype=float)[m.entries]
        if not within_bound(p, POSITION_BOUND):
            return "position_out_of_range" if np.isfinite(p).all() else "nonfinite_position"
        if 0 != stamp == m.stamp and m.is_repeated(p):  # a stamp of zero is no stamp
            return self._merge(m, _UncheckedMessage(m, position, p, stamp, now, True, ""))
        step = p - self.q[m.columns]
        # For nearly every message, one product shows that nothing jumped. Otherwise by joint.
        moved = step @ step
        odd = ""
        if not moved <= JUMP_MARGIN**2 and self._jumps(m, step, now):
            odd = "position_jump"
            if self.strict:
                return "position_jump_dropped"
        # Before q changes, and only when nothing but its positions can refuse the message.
        if self._needs_velocity:
            speed, contradicted = self._compared_speed(m, p, velocity, moved, stamp, now)
            if isinstance(speed, str):
                return speed
            self.v[m.v_columns] = speed
            odd = odd or ("position_against_velocity" if contradicted else "")
        elif self._watches_efforts:
            speed = self._speed(m, p, velocity, stamp, now)
            self.observer_v[m.v_columns] = np.nan if isinstance(speed, str) else speed
        self.q[m.columns] = p
        # A NamedTuple's own constructor is a Python function; this one is not.
        message = tuple.__new__(_UncheckedMessage, (m, position, p, stamp, now, False, odd))
        return self._merge(m, message)

    def _compared_speed(
        self,
        m: NameMap,
        p: np.ndarray,
        velocity: Sequence[float],
        moved: float,
        stamp: int,
        now: float,
    ) -> tuple[np.ndarray | float | str, bool]:
        """Velocities, or the reason if the message is refused; and true if the positions contradict
        them.

        moved: the square of the step from the last positions to these.
        """
        differs = not moved <= SLACK**2
        if self._settings.velocity_source == "finite_difference":
            # Positions are checked before their difference is taken.
            contradicted = differs and self._contradicts(m, p, None, stamp, now)
            if contradicted and self.strict:
                return "position_against_velocity_dropped", True
            return self._speed(m, p, velocity, stamp, now), contradicted
        speed = self._speed(m, p, velocity, stamp, now)
        if not differs or not isinstance(speed, np.ndarray):  # refused, or velocity_source zero
            return speed, False
        contradicted = self._contradicts(m, p, speed, stamp, now)
        if contradicted and self.strict:
            return "position_against_velocity_dropped", True
        return speed, contradicted

    def _merge(self, m: NameMap, message: _UncheckedMessage) -> str | None:
        """Leave the rest of a message to `note`. Returns "missing_joint" while the state is
        incomplete."""
        self._unnoted = message
        # Numbers of a part are kept even when it is rejected: the other part may follow at once.
        if not m.complete and not self._can_merge(m.missing, message.now):
            return "missing_joint"
        if not message.frozen:
            self.arrived = message.now
        return None

    def note(self, ros_now: int = 0) -> None:
        """Store the last message and count its irregularities.

        `ros_now` is the time that stamps are compared with [ns]; 0 compares with none.
        """
        if self._unnoted is None:
            return
        m, position, needed, stamp, now, frozen, odd = self._unnoted
        self._unnoted = None
        counts = self.counts
        if m.unknown:
            counts["unknown_joint"] += m.unknown
        for i, source, multiplier, offset in m.mimics:
            if not abs(position[i] - multiplier * position[source] - offset) <= MIMIC_TOLERANCE:
                counts["mimic_mismatch"] += 1
        if ros_now and stamp:
            self.lag = max(ros_now - stamp, 0) * 1e-9
            if stamp - ros_now > FUTURE:
                counts["stamp_future"] += 1
            if self.lateness():
                counts["stamp_old"] += 1
                self._late_since = min(self._late_since, now)
            else:
                self._late_since = np.inf
        if self._outside().any():
            counts["position_beyond_limit"] += 1
        if frozen:  # a repetition of the last message proves nothing alive
            counts["repeated_message"] += 1
            return
        if 0 < stamp < m.stamp:
            counts["stamp_backwards"] += 1
        if odd:
            counts[odd] += 1
        self._seen[m.columns] = now
        self._steps.note(m.columns, stamp, now)
        m.stamp, m.needed = stamp, needed

    def forget(self) -> None:
        """Start again, for example after a jump of the clock. Earlier positions are then not used
        for velocities or jumps."""
        self._seen[:] = -np.inf
        self.lag, self._late_since = 0.0, np.inf
        self._difference.forget()
        self._steps.forget()
        self._unnoted = None
        self._maps.forget()

    def _outside(self) -> np.ndarray:
        """A mask (nq,) of the coordinates beyond their limits and the margin."""
        return (self.q < self._lowest) | (self.q > self._highest)

    def lateness(self) -> str:
        """The refusal and remedy for stamps that are too old; empty if they are not."""
        if not 0.0 < self._settings.max_state_age < self.lag:
            return ""
        return (
            f"the stamps of joint_states are {self.lag:.3g} s older than this node's clock, more than "
            f"max_state_age {self._settings.max_state_age:g} s: the driver lags, or the clocks differ "
            "(synchronise them, or set use_sim_time where the stamps are a simulation's)"
        )

    def late_for(self, now: float) -> float:
        """Time for which all stamps have been too old [s]; negative infinity if the last one is not."""
        return now - self._late_since if self.lateness() else -np.inf

    def beyond_limits(self) -> str:
        """A message with the joints beyond their position limits and the remedy; empty if there are none."""
        outside = self._outside()
        parts = [
            f"{name} is at {self.q[k]:.4g}, beyond its limits "
            f"{self._model.position_lower[k]:.4g} to {self._model.position_upper[k]:.4g}"
            for name, k in self._q_of.items()
            if outside[k]
        ]
        if not parts:
            return ""
        return (
            f"{'; '.join(parts)} by more than position_limit_margin "
            f"{self._settings.position_limit_margin:g}: are joint_states in radians and metres, and "
            "are the encoders referenced?"
        )

    def age(self, now: float) -> float:
        """Seconds since the last valid state."""
        return now - self.arrived

    def change(self, settings: Settings) -> None:
        """Use new parameters. Velocities are kept, unless the mode uses none."""
        self._settings, self._needs_velocity = settings, settings.needs_velocity
        self._watches_efforts = settings.watches_efforts
        self._set_limits(settings)
        if not settings.needs_velocity:
            self.v[:] = 0.0

    def _set_limits(self, settings: Settings) -> None:
        """Set the range of plausible positions: the description's limits with a margin."""
        margin = settings.position_limit_margin
        self._lowest = np.full(self._model.nq, -np.inf)
        self._highest = np.full(self._model.nq, np.inf)
        for k in self._needed_q:
            if margin and not self._continuous[k]:
                self._lowest[k] = self._model.position_lower[k] - margin
                self._highest[k] = self._model.position_upper[k] + margin

    def resting_joints(self, now: float) -> np.ndarray:
        """A mask (nv,) of the joints that rest because their messages have ended."""
        mask = np.zeros(self._model.nv, dtype=bool)
        if self._settings.missing_joint_policy == "hold":
            mask[self._needed_v] = now - self._seen[self._needed_q] > self._settings.state_timeout
        return mask

    @property
    def recent(self) -> NameMap | None:
        """The columns of the last message by their names."""
        return self._recent

    def _can_merge(self, missing: np.ndarray, now: float) -> bool:
        if self._settings.missing_joint_policy == "hold":
            late = missing[now - self._seen[missing] > self._settings.state_timeout]
            self.v[self._v_of_q[late]] = self.observer_v[self._v_of_q[late]] = 0.0
            if np.isfinite(self._seen[late]).any():  # its publisher has ended
                self.counts["joint_held"] += 1
            return True
        return bool((now - self._seen[missing] <= self._settings.state_timeout).all())

    def _jumps(self, m: NameMap, step: np.ndarray, now: float) -> bool:
        """True if a joint has moved further than it can."""
        return self._steps.jumps(m.columns, step, now - self._seen[m.columns])

    def _contradicts(
        self, m: NameMap, p: np.ndarray, speed: np.ndarray | None, stamp: int, now: float
    ) -> bool:
        """True if positions do not agree with the velocities."""
        q, v, longest = self.q[m.columns], self.v[m.v_columns], self._settings.state_timeout
        if speed is not None and stamp > 0 and m.stamp > 0:
            # One product again, of a motion without much acceleration.
            strayed = p - q - speed * (1e-9 * (stamp - m.stamp))
            if strayed @ strayed <= SLACK**2:
                return False
        if not self._steps.contradicts(m.columns, (q, p), (v, speed), stamp, now, longest):
            return False
        if self.strict:
            self._steps.drop(m.columns, q, v, stamp, now, longest)
        return True

    def _speed(
        self, m: NameMap, p: np.ndarray, velocity: Sequence[float], stamp: int, now: float
    ) -> np.ndarray | float | str:
        """Velocities from the chosen source, or the reason if they are refused."""
        settings = self._settings
        if settings.velocity_source == "zero":
            return 0.0
        if settings.velocity_source == "finite_difference":
            return self._difference.speed(
                m.columns, p, stamp, now, settings.state_timeout, settings.velocity_cutoff
            )
        if len(velocity) == 0:
            return "missing_velocity"
        w = np.asarray(velocity, dtype=float)[m.entries]
        # The same product as for positions; both are false for NaN.
        if w @ w <= self._slowest**2 or (np.abs(w) <= self._believed[m.columns]).all():
            return w
        return "velocity_out_of_range" if np.isfinite(w).all() else "nonfinite_velocity"


def within_bound(x: np.ndarray, bound: float) -> bool:
    """True if all numbers are finite and within the bound. The quick sum of squares nearly always decides."""
    return bool(x @ x <= bound * bound) or bool((np.abs(x) <= bound).all())
