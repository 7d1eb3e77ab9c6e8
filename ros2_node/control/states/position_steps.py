"""Checks of the changes of position between two messages, against velocity limits and velocities."""

from __future__ import annotations

import numpy as np

from .finite_difference import Index, short_way

JUMP_TIME, JUMP_MARGIN, FASTEST = 0.05, 0.1, 20.0
"""A position jumps when it changes by more than twice the velocity limit allows in the time
passed plus JUMP_TIME [s], plus JUMP_MARGIN [rad, m]; a joint without velocity limit counts as
FASTEST [rad/s, m/s]."""
SLACK = 0.01
"""A change of position within this never contradicts the velocity [rad, m]: encoders have steps."""
JITTER = 0.002
"""Largest difference between a stamp and the time at which the position was read [s]."""


class PositionSteps:
    """Comparison of each change of position with the velocity limits (`jumps`) and with the
    velocities of the two messages (`contradicts`).

    Arrays are by coordinate (nq,). fastest: velocity limits [rad/s, m/s]; turns: which coordinates are
    angles without end, whose changes go the short way round.

    **The allowance of `contradicts`.** Between two messages, dt apart, a joint has moved by the
    integral of its speed. If the speed stays between the two velocities v0 and v1, that is at least
    min(v0, v1) dt and at most max(v0, v1) dt. Three things take it out of this interval:

    - Acceleration. The speed may leave the range of v0 and v1 in between and has to return to it. A
    peak as high as the velocity limit v_max is a triangle of the area v_max dt / 2. An actuator with
    a bounded acceleration A makes no more than A dt² / 4, which is less for every A < 2 v_max / dt:
    628 rad/s² at 100 Hz and 3.14 rad/s.
    - Time. dt is the difference of the stamps. It is wrong by JITTER, and at most by as much as it
    differs from the difference of the arrivals. Without stamps dt is that of the arrivals, wrong by
    up to JUMP_TIME. In that time a joint moves max(|v0|, |v1|) times the error. At rest, time does
    not matter.
    - Encoders and noise: SLACK.

    So the allowance is v_max dt / 2 + max(|v0|, |v1|) time_error + SLACK. At rest, at 200 Hz and 3.14
    rad/s that is 18 mrad; `jumps` allows 445 mrad.

    Velocities from finite differences have no v1. The speed may then change by v_max from v0, or
    have any value within the velocity limit.

    **After a dropped message** the next one is compared with the position extrapolated with the
    last good velocity, with twice the allowance. One wrong message has no effect after the next
    right one. With an offset that stays, for example after an encoder was zeroed again, all
    messages are dropped until the state is stale, which stops the robot.
    """

    def __init__(self, fastest: np.ndarray, turns: np.ndarray) -> None:
        self._fastest, self._turns = fastest, turns
        n = len(fastest)
        self._at = np.full(n, -np.inf)
        """Arrival time of the last message [s], used or dropped."""
        self._stamp = np.zeros(n, dtype=np.int64)
        self._reckoned = np.zeros(n)
        """Extrapolated positions of coordinates whose last message was dropped."""
        self._dropped = np.zeros(n, dtype=bool)
        self._any_dropped = False

    def forget(self) -> None:
        """Start again, for example after a jump of the clock."""
        self._at[:] = -np.inf
        self._dropped[:] = self._any_dropped = False

    def note(self, columns: Index, stamp: int, now: float) -> None:
        """Store the positions of an accepted message."""
        self._at[columns] = now
        self._stamp[columns] = stamp
        if self._any_dropped:
            self._dropped[columns] = False
            self._any_dropped = bool(self._dropped.any())

    def drop(
        self, columns: Index, q: np.ndarray, v: np.ndarray, stamp: int, now: float, longest: float
    ) -> None:
        """Note a dropped message; q and v are those of the last accepted one."""
        time, _ = self._times(columns, stamp, now, longest)
        start = np.where(self._dropped[columns], self._reckoned[columns], q)
        self._reckoned[columns] = start + v * time
        self._dropped[columns] = self._any_dropped = True
        self._at[columns], self._stamp[columns] = now, stamp

    def jumps(self, columns: Index, step: np.ndarray, passed: np.ndarray) -> bool:
        """True if a joint has moved further than its velocity limit allows in this time [s]."""
        allowed = 2.0 * self._fastest[columns] * (passed + JUMP_TIME) + JUMP_MARGIN
        return bool((np.abs(short_way(step, self._turns[columns])) > allowed).any())

    def contradicts(
        self,
        columns: Index,
        positions: tuple[np.ndarray, np.ndarray],
        velocities: tuple[np.ndarray, np.ndarray | None],
        stamp: int,
        now: float,
        longest: float,
    ) -> bool:
        """True if a joint's motion does not agree with its velocities.

        positions, velocities: of the last accepted message and of the new one; None where that has
        no velocities. stamp [ns]; now: its arrival [s]. Positions older than `longest` [s] are not
        compared.
        """
        (q, p), (before, after) = positions, velocities
        fastest = self._fastest[columns]
        time, error = self._times(columns, stamp, now, longest)
        if after is None:
            low = np.minimum(before, 0.0) - fastest
            high = np.maximum(before, 0.0) + fastest
        else:
            low, high = np.minimum(before, after), np.maximum(before, after)
        step = p - q
        allowed = SLACK + 0.5 * fastest * time + np.maximum(np.abs(low), np.abs(high)) * error
        if self._any_dropped:
            dropped = self._dropped[columns]
            step = np.where(dropped, p - self._reckoned[columns], step)
            allowed = np.where(dropped, 2.0 * allowed, allowed)
        middle = 0.5 * (low + high) * time
        beyond = np.abs(short_way(step - middle, self._turns[columns])) - 0.5 * (high - low) * time
        fresh = now - self._at[columns] <= longest
        return bool(((beyond > allowed) & fresh).any())

    def _times(
        self, columns: Index, stamp: int, now: float, longest: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """Time since the last message and its uncertainty [s]."""
        arrived = np.minimum(now - self._at[columns], longest)
        before = self._stamp[columns]
        stamped = (before > 0) & (stamp > 0)
        time = np.where(stamped, np.maximum(stamp - before, 0) * 1e-9, arrived)
        return time, np.where(stamped, JITTER + np.abs(time - arrived), JUMP_TIME)
