"""Delayed targets: those that were set a number of steps earlier."""

from __future__ import annotations

from itertools import product

import pytest

from warpdyn.algorithms.simulation.delayed_targets import (
    delayed_targets,
    from_the_beginning,
    shift_targets,
)


@pytest.mark.parametrize(("substeps", "latency"), [*product((1, 3, 4), range(10))])
def test_a_step_uses_the_targets_set_its_latency_earlier(substeps: int, latency: int) -> None:
    """Launch k sets k. Its step j uses the targets of step k substeps + j - latency."""
    launches = 10
    depth = -(-max(latency, 1) // substeps)
    earlier = [[float(k)] for k in range(launches - 1, launches - 1 - depth, -1)]
    late = delayed_targets([float(launches)], earlier, float(latency), substeps)
    for j in range(substeps):
        assert late.at(float(j)) == [float((launches * substeps + j - latency) // substeps)]


def test_a_latency_beyond_the_stored_targets_uses_the_oldest() -> None:
    late = delayed_targets([3.0], [[2.0], [1.0]], 99.0, 2)
    assert late.at(0.0) == late.at(1.0) == [1.0]


def test_stored_targets_are_shifted_and_initially_equal_the_present() -> None:
    assert shift_targets([3.0], [[2.0], [1.0]]) == [[3.0], [2.0]]
    assert from_the_beginning([3.0], [[2.0], [1.0]], 0.0) == [[3.0], [3.0]]
    assert from_the_beginning([3.0], [[2.0], [1.0]], 0.02) == [[2.0], [1.0]]
