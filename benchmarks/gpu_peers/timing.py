"""Time of repeated work: between two CUDA events, or by the wall clock for JAX and on a CPU."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import Any

import warp as wp

ROUNDS, TURN = 5, 0.01
"""Number of rounds, whose median counts, and the length of a round [s]."""

SLOW, ROUNDS_OF_SLOW = 0.5, 3
"""Length of a run from which fewer rounds are made [s], and their number."""


@dataclass
class Work:
    """Work that is timed: `run` starts it, and `finish` waits for the return value of `run`.

    Without `finish`, CUDA events time the work on a GPU.
    """

    run: Callable[[], Any]
    device: str
    finish: Callable[[Any], Any] | None = None
    restart: Callable[[], Any] | None = None
    """Resets the state before each round."""
    most: int = 1_000_000
    """Largest number of runs in a round."""

    def seconds(self, runs: int) -> float:
        """Time of `runs` runs in a row [s]."""
        if self.device != "cpu" and self.finish is None:
            return self._between_events(runs)
        begun, last = time.perf_counter(), None
        for _ in range(runs):
            last = self.run()
        if self.finish:
            self.finish(last)
        return time.perf_counter() - begun

    def _between_events(self, runs: int) -> float:
        """Time of `runs` runs between two events [s]."""
        with wp.ScopedDevice(self.device):
            begin, end = (wp.Event(enable_timing=True) for _ in range(2))
            wp.record_event(begin)
            for _ in range(runs):
                self.run()
            wp.record_event(end)
            return 1e-3 * wp.get_event_elapsed_time(begin, end)


def figures(work: Work, robots: int, calls: int = 1) -> dict[str, float]:
    """Time per call (median, lowest, highest) [us], and million robots per second. A run has `calls` calls."""

    def turn(runs: int) -> float:
        if work.restart:
            work.restart()
            work.seconds(1)  # after a reset, the solver has no warm start in the first step
        return work.seconds(runs) / runs

    runs, once = 1, turn(1)
    while once * runs < TURN / 2 and runs < work.most:
        runs = min(work.most, max(2 * runs, int(TURN / max(once, 1e-7))))
        once = turn(runs)
    samples = [turn(runs) / calls for _ in range(ROUNDS if once < SLOW else ROUNDS_OF_SLOW)]
    middle = median(samples)
    return {
        "us": round(1e6 * middle, 3),
        "us_low": round(1e6 * min(samples), 3),
        "us_high": round(1e6 * max(samples), 3),
        "million_per_second": round(1e-6 * robots / middle, 3),
    }
