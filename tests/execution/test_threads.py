"""Slices of a batch for threads, and that each task is done once."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warpdyn.execution.threads import run_all, slices


@given(
    st.integers(0, 100_000), st.integers(1, 9), st.sampled_from([1, 16, 512]), st.floats(0.1, 1e5)
)
def test_slices_cover_a_batch_once(count: int, threads: int, unit: int, least: float) -> None:
    """One after the other; each but the last whole units, at least as many as asked for; never longer than before."""
    found = slices(count, threads, unit, least)
    assert [first for first, _ in found] == [
        sum(n for _, n in found[:k]) for k in range(len(found))
    ]
    assert sum(n for _, n in found) == count
    sizes = [n for _, n in found[:-1]]
    assert all(n % unit == 0 and n >= least for n in sizes)
    assert sizes == sorted(sizes, reverse=True)
    assert len(found) <= 1 or threads > 1


def test_two_threads_begin_with_a_quarter() -> None:
    """Half of a thread's share of what is left: 64 of 256, 48 of 192, and no less than 16 at the end."""
    assert [n for _, n in slices(256, 2, 16, 16)] == [64, 48, 48, 32, 16, 16, 16, 16]


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_every_task_is_done_once(threads: int) -> None:
    done: list[int] = []
    run_all([lambda k=k: done.append(k) for k in range(50)], threads)
    assert sorted(done) == list(range(50))


def test_an_error_in_a_task_reaches_the_caller() -> None:
    def fail() -> None:
        raise ArithmeticError("of a task")

    with pytest.raises(ArithmeticError, match="of a task"):
        run_all([fail, lambda: None, fail], 2)
