"""Time several functions in turns, so that all of them see the same noise."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import warp as wp

ROUNDS = 11
TURN = 0.02
"""Length of a turn in each round [s]; one run if that is longer."""

SLOW, ROUNDS_OF_SLOW = 0.4, 3
"""Length of a run from which fewer rounds are made [s], and their number."""

CORES = sorted(os.sched_getaffinity(0))


@dataclass
class Turn:
    """A function that is timed in turns with others; on a GPU between two events of its stream."""

    run: Callable[[], Any]
    robots: int
    """Number of robots in one run."""
    cores: Sequence[int] = ()
    """Cores of the calling thread. Empty: no change."""
    device: str = "cpu"
    samples: list[float] = field(default_factory=list)
    clock: Callable[[], float] = time.perf_counter
    """`time.process_time` counts all threads of this process and no other processes."""

    def take(self) -> None:
        """Run once per turn and record the time."""
        before = os.sched_getaffinity(0)
        os.sched_setaffinity(
            0, self.cores or before
        )  # the calling thread's alone: the pool's threads keep all cores
        self.samples.append(self._on_cpu() if self.device == "cpu" else self._on_gpu())
        os.sched_setaffinity(0, before)

    def _on_cpu(self) -> float:
        start = self.clock()
        self.run()  # the caches are cold: not counted unless it is long
        first = self.clock() - start
        if first > SLOW:
            return first
        loops, start = 0, self.clock()
        while self.clock() - start < TURN:
            self.run()
            loops += 1
        return (self.clock() - start) / loops

    def _on_gpu(self) -> float:
        loops = 1
        while True:
            start, end = (wp.Event(self.device, enable_timing=True) for _ in range(2))
            wp.record_event(start)
            for _ in range(loops):
                self.run()
            wp.record_event(end)
            seconds = 1e-3 * wp.get_event_elapsed_time(start, end)
            if seconds >= TURN / 2:
                return seconds / loops
            loops = max(2 * loops, min(1000 * loops, int(loops * TURN / max(seconds, 1e-6))))

    @property
    def figures(self) -> dict[str, float]:
        """Nanoseconds for one robot: the median, and the quartiles about it."""
        low, middle, high = 1e9 * np.percentile(self.samples, (25, 50, 75)) / self.robots
        return {"ns": middle, "ns_low": low, "ns_high": high}


def take_turns(turns: Sequence[Turn], rounds: int = ROUNDS) -> None:
    """Every turn once in each round; slow ones in the first rounds only."""
    for number in range(rounds):
        for turn in turns:
            if number < ROUNDS_OF_SLOW or turn.samples[-1] <= SLOW:
                turn.take()
