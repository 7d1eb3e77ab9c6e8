"""Launch times: all are counted, and the latest and the longest are stored."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ros2_node.control.launch_times import SAMPLES, Timing


@given(st.lists(st.floats(1e-6, 1.0), min_size=1, max_size=50))
def test_timing_counts_all_samples_and_stores_the_longest(seconds):
    """Median and percentile equal NumPy's."""
    timing = Timing()
    assert timing.text() == "none yet"
    for x in seconds:
        timing.add(x)
    p50, p99 = np.percentile(seconds, (50, 99)) * 1e6
    assert timing.count == len(seconds) and timing.longest == max(seconds)
    assert timing.text() == f"p50 {p50:.0f} us, p99 {p99:.0f} us, max {max(seconds) * 1e6:.0f} us"


def test_timing_drops_the_oldest_samples():
    """The percentiles are those of the last SAMPLES, and the maximum is that of all samples."""
    timing = Timing()
    timing.add(1.0)
    for _ in range(SAMPLES):
        timing.add(1e-6)
    assert timing.text() == "p50 1 us, p99 1 us, max 1000000 us"
