"""The clock of the watchdog."""

from __future__ import annotations

import math
from collections.abc import Callable

QUIET = 0.5
"""A simulated clock that has not moved for this time counts as paused [s]."""
RESTLESS = 1.0
"""A second jump of a simulated clock within this time counts the whole time since the clock moved
[s]."""


class WatchdogClock:
    """The time by which states age [s]: that of the steady clock, or of the simulation if it is
    slower.

    A jump of the simulated clock can therefore neither hide a dead publisher nor make a live one
    look dead, and nothing ages while a simulation is paused. Until a simulated clock has moved,
    only the steady clock counts.

    A jump counts the time since the last reading, because the simulation may have been paused until
    then. Where jumps follow each other, the steady clock counts: two publishers of /clock in turn
    would else make the time stand still, and hide a dead publisher of states.
    """

    def __init__(self, on_jump: Callable[[], object] = lambda: None) -> None:
        """on_jump: function that is called after each jump of the simulated clock."""
        self._on_jump = on_jump
        self.now = 0.0
        self.jumps = 0
        self._reading: float | None = None
        self._simulated: float | None = None
        self._moved_at = 0.0
        self._jumped_at = -math.inf

    def advance(self, steady: float, simulated: float | None = None) -> float:
        """The watchdog's time at these readings [s]; `simulated` is None without a simulated
        clock that ticks."""
        jumped = False
        since_reading = max(steady - self._reading, 0.0) if self._reading is not None else 0.0
        self._reading = steady
        if simulated is None or self._simulated is None:
            elapsed, self._moved_at = since_reading, steady
        elif simulated == self._simulated:
            elapsed = 0.0
        else:
            moved, since_move = simulated - self._simulated, steady - self._moved_at
            jumped = moved < 0.0 or moved > 100.0 * since_move + 1.0
            elapsed = min(moved, since_move)
            if jumped:
                is_restless = steady - self._jumped_at <= RESTLESS
                elapsed = since_move if is_restless else since_reading
                self.jumps, self._jumped_at = self.jumps + 1, steady
            self._moved_at = steady
        self._simulated = simulated
        self.now += elapsed
        if jumped:
            self._on_jump()
        return self.now

    @property
    def is_paused(self) -> bool:
        """True if a simulated clock stands still."""
        return (
            self._simulated is not None
            and self._reading is not None
            and self._reading - self._moved_at > QUIET
        )
