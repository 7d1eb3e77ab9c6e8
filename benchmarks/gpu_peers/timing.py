"""Times of repeated work on a device: between two CUDA events, or by the clock for JAX and on a CPU."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import Any

import warp as wp

ROUNDS, TURN = 5, 0.01
"""Rounds, of which the median counts, and the length of one [s]."""

SLOW, ROUNDS_OF_SLOW = 0.5, 3
"""A run of so many seconds has fewer rounds."""


@dataclass
class Work:
    """`run` starts some work. `finish` waits for what `run` returned; None on a GPU: events time the work."""

    run: Callable[[], Any]
    device: str
    finish: Callable[[Any], Any] | None = None
    restart: Callable[[], Any] | None = None
    """Puts a state back before each round."""
    most: int = 1_000_000
    """Runs of a round."""

    def seconds(self, runs: int) -> float:
        """Seconds of so many runs in a row."""
        if self.device != "cpu" and self.finish is None:
            return self._between_events(runs)
        begun, last = time.perf_counter(), None
        for _ in range(runs):
            last = self.run()
        if self.finish:
            self.finish(last)
        return time.perf_counter() - begun

    def _between_events(self, runs: int) -> float:
        with wp.ScopedDevice(self.device):
            begin, end = (wp.Event(enable_timing=True) for _ in range(2))
            wp.record_event(begin)
            for _ in range(runs):
                self.run()
            wp.record_event(end)
            return 1e-3 * wp.get_event_elapsed_time(begin, end)


def figures(work: Work, robots: int, calls: int = 1) -> dict[str, float]:
    """Microseconds of a call, median, lowest and highest, and millions of robots a second. A run has `calls`."""

    def turn(runs: int) -> float:
        if work.restart:
            work.restart()
            work.seconds(
                1
            )  # the first step from a state that was put back has no start of its solver
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
