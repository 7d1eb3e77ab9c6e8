"""Velocities from positions, for robots that do not report velocities."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

LEAST_INTERVAL = 5e-4
"""Shortest time between two positions of a difference [s]: over a shorter one, the noise of a
stamp, or a burst of messages, is larger than the time between them."""
BACKWARDS = 2e-3
"""Stamps that run backwards by less than this are noise as well [s]."""
LONGEST_WAIT = 0.02
"""Longest time for which positions wait for a stamp that advances [s]: stamps of Windows advance
every 16 ms."""
MISTRUST = 1.0
"""Time for which stamps count for nothing after they have run backwards, stood still or jumped
[s]."""

Index = np.ndarray | slice


class FiniteDifference:
    """Finite differences of positions, with bounds and a low pass of first order.

    Arrays are by coordinate (nq,). bound: largest plausible speed [rad/s, m/s]; turns: which
    coordinates are angles without end, whose differences go the short way round.
    """

    def __init__(self, bound: np.ndarray, turns: np.ndarray) -> None:
        self._bound, self._turns = bound, turns
        self._q, self._v = np.zeros(len(bound)), np.zeros(len(bound))
        self._at = np.full(len(bound), np.nan)
        """Arrival time of the previous position [s]; NaN if there is none."""
        self._stamp = np.zeros(len(bound), dtype=np.int64)
        self._strayed = np.full(len(bound), -np.inf)
        """The last time at which a stamp contradicted the arrivals [s]."""
        self._known = np.zeros(len(bound), dtype=bool)
        """Coordinates with a previous velocity, from which the low pass starts."""

    def forget(self) -> None:
        """Start again, for example after a jump of the clock."""
        self._at[:] = np.nan
        self._stamp[:] = 0
        self._strayed[:] = -np.inf

    def speed(
        self, columns: Index, p: np.ndarray, stamp: int, now: float, longest: float, cutoff: float
    ) -> np.ndarray:
        """Velocities of some coordinates at positions p.

        Times are stamps [ns] if they advance, otherwise arrivals `now` [s]; the velocity is zero if
        the previous positions are older than `longest` [s]. cutoff: of the low pass [Hz]; 0 = none.
        """
        before, old = self._stamp[columns], self._v[columns]
        passed = self._time_since_last(columns, stamp, now, longest)
        waits = (passed > -BACKWARDS) & (passed < LEAST_INTERVAL)
        usable = (passed >= LEAST_INTERVAL) & (passed <= longest)
        time = np.where(usable, passed, 1.0)
        step = short_way(p - self._q[columns], self._turns[columns])
        bound = self._bound[columns]
        raw = np.clip(step / time, -bound, bound)
        if cutoff > 0.0:
            share = -np.expm1(-2.0 * np.pi * cutoff * time)
            raw = np.where(self._known[columns], old + share * (raw - old), raw)
        speed = np.where(usable, raw, np.where(waits, old, 0.0))
        self._q[columns] = np.where(waits, self._q[columns], p)
        self._at[columns] = np.where(waits, self._at[columns], now)
        self._stamp[columns] = np.where(waits, before, stamp)
        self._known[columns] = np.where(waits, self._known[columns], usable)
        self._v[columns] = speed
        return speed

    def _time_since_last(
        self, columns: Index, stamp: int, now: float, longest: float
    ) -> np.ndarray:
        """The time since the previous positions [s].

        Stamps contradict the arrivals where they run backwards, stand still, or jump ahead by more
        than `longest` between positions that arrive within this time: a clock was set, or two
        clocks stamp the same joint. A velocity of zero would then take the damping away.
        """
        before = self._stamp[columns]
        has_stamps = (stamp > 0) & (before > 0)
        by_stamps, by_arrivals = (stamp - before) * 1e-9, now - self._at[columns]
        waits_long = (by_stamps < LEAST_INTERVAL) & (by_arrivals > LONGEST_WAIT)
        strays = has_stamps & ((by_stamps <= -BACKWARDS) | (by_stamps > longest) | waits_long)
        strays &= by_arrivals <= longest
        self._strayed[columns] = np.where(strays, now, self._strayed[columns])
        no_stamps = (now - self._strayed[columns] <= MISTRUST) & (by_arrivals <= longest)
        return np.where(has_stamps & ~no_stamps, by_stamps, by_arrivals)


def short_way(step: np.ndarray, turns: np.ndarray) -> np.ndarray:
    """Changes of position; those of endless angles the shorter way around."""
    if not turns.any():
        return step
    return np.where(turns, (step + np.pi) % (2.0 * np.pi) - np.pi, step)


def index_of(columns: Sequence[int], n: int) -> Index:
    """Columns as an index: a slice, which is faster, for all columns."""
    return slice(None) if list(columns) == list(range(n)) else np.array(columns, dtype=int)
