"""The clock of the watchdog."""

from __future__ import annotations

from collections.abc import Callable

QUIET = 0.5
"""A simulated clock that has not moved for this time counts as paused [s]."""


class WatchdogClock:
    """The time by which states age [s]: that of the steady clock, or of the simulation if it is
    slower.

    A jump of the simulated clock can therefore neither hide a dead publisher nor make a live one
    look dead, and nothing ages while a simulation is paused. Until a simulated clock has moved,
    only the steady clock counts.
    """

    def __init__(self, on_jump: Callable[[], object] = lambda: None) -> None:
        """on_jump: function that is called after each jump of the simulated clock."""
        self._on_jump = on_jump
        self.now = 0.0
        self.jumps = 0
        self._reading: float | None = None
        self._simulated: float | None = None
        self._moved_at = 0.0

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
            self.jumps += jumped
            elapsed = since_reading if jumped else min(moved, since_move)
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
