"""Times of repeated launches: their median, 99th percentile and longest."""

from __future__ import annotations

import numpy as np

SAMPLES = 2048
"""Number of the last times whose median and percentile are shown."""


class Timing:
    """Times of the last launches [s]."""

    def __init__(self) -> None:
        self._samples = [0.0] * SAMPLES
        self.count = 0
        self.longest = 0.0

    def add(self, seconds: float) -> None:
        self._samples[self.count % SAMPLES] = seconds
        self.count += 1
        if seconds > self.longest:
            self.longest = seconds

    def text(self) -> str:
        """Median, 99th percentile and longest, in microseconds."""
        if not self.count:
            return "none yet"
        p50, p99 = np.percentile(self._samples[: min(self.count, SAMPLES)], (50, 99)) * 1e6
        return f"p50 {p50:.0f} us, p99 {p99:.0f} us, max {self.longest * 1e6:.0f} us"
