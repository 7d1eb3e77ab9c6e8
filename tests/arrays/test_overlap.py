"""Entries that share memory: among those of a result, and between a result and an input."""

from __future__ import annotations

import numpy as np
import pytest
from robots import by_name
from states import states

import warpdyn as wd
from warpdyn.arrays.overlap import check_writable, find_overlap
from warpdyn.arrays.views import view


def test_overlap_is_a_shared_entry_not_a_shared_block() -> None:
    """Columns, rows and neighbours of one array do not overlap."""
    memory = np.zeros((20, 12))

    def overlap(one: np.ndarray, other: np.ndarray) -> bool:
        found = find_overlap(view("x", one), {"other": view("x", other)})
        assert found == find_overlap(view("x", other), {"other": view("x", one)})
        return found == "other"

    apart = (
        (np.s_[:, :4], np.s_[:, 4:8]),
        (np.s_[:, :4], np.s_[:, 8:]),
        (np.s_[:10], np.s_[10:]),
        (np.s_[::2, :6], np.s_[::2, 6:]),
    )
    for one, other in apart:
        assert not overlap(memory[one], memory[other])
    together = (
        (np.s_[:, :5], np.s_[:, 4:8]),
        (np.s_[:11], np.s_[10:]),
        (np.s_[:], np.s_[:]),
        (np.s_[::-1], np.s_[:]),
        (np.s_[3:4], np.s_[:]),
    )
    for one, other in together:
        assert overlap(memory[one], memory[other])
    assert not overlap(memory[:0], memory)
    assert not overlap(memory.T[:4].T, memory.T[4:].T)


def test_memory_of_other_devices_does_not_overlap() -> None:
    """Equal addresses on two devices are different memory. Extents are in bytes, whatever the
    dtypes."""
    memory = np.zeros((6, 4))
    whole = view("whole", memory)
    assert find_overlap(whole, {"other": whole._replace(device="cuda:0")}) is None
    low, high = memory[:3].view(np.float32), memory[3:].view(np.float32)
    assert find_overlap(view("x", memory[:3]), {"high": view("high", high)}) is None
    assert (
        find_overlap(view("x", memory[:3]), {"high": view("high", high), "low": view("low", low)})
        == "low"
    )


def test_a_result_may_not_share_memory_with_an_input() -> None:
    """The message names the input."""
    model = by_name("cartpole").model
    q = states(model, 4).q
    with pytest.raises(ValueError, match="out shares memory with q; results are written while"):
        wd.configuration_rate(model, q, q, out=q)


@pytest.mark.parametrize(
    ("make", "what"),
    [
        (lambda x: np.lib.stride_tricks.as_strided(x, (4, 2), (0, 8)), "a broadcast dimension"),
        (lambda x: np.lib.stride_tricks.as_strided(x, (4, 2), (8, 8)), "rows that overlap"),
    ],
    ids=["broadcast", "overlapping"],
)
def test_entries_of_a_result_may_not_share_memory(make, what: str) -> None:
    """The values of such a result would be undefined."""
    out = make(np.zeros(20))
    with pytest.raises(ValueError, match=f"out has {what}.*entries share memory"):
        check_writable(out, view("out", out))


@pytest.mark.parametrize(
    "part", [np.s_[:], np.s_[::-1], np.s_[:, ::2], np.s_[:1], np.s_[:0], np.s_[2]], ids=str
)
def test_parts_of_an_array_can_be_written(part) -> None:
    """Parts may be reversed, have gaps, have one row, or be empty."""
    out = np.zeros((6, 4))[part]
    check_writable(out, view("out", out))
    check_writable(out.T, view("out", out.T))


def test_inputs_may_be_read_only_and_out_may_not() -> None:
    """Inputs are only read; a result needs memory that may be written."""
    model = by_name("cartpole").model
    q, out = states(model, 4).q, np.zeros((4, 2, 2))
    q.setflags(write=False)
    assert np.all(np.isfinite(wd.crba(model, q)))
    out.setflags(write=False)
    with pytest.raises(ValueError, match="out is read-only"):
        wd.crba(model, q, out=out)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_shared_entries_are_always_found(dtype: type) -> None:
    """The views are random. For views of the same rows the answer is exact, for others it may be a
    false alarm."""
    memory, draw = np.zeros((9, 7), dtype), np.random.default_rng(0)

    def part(n: int) -> slice:
        a, b = sorted(draw.integers(0, n + 1, 2).tolist())
        return slice(a, b, int(draw.integers(1, 3)))

    found = set()
    for _ in range(400):
        one, other = (memory[part(9), part(7)] for _ in range(2))
        shared = np.shares_memory(one, other)
        told = find_overlap(view("x", one), {"other": view("x", other)}) is not None
        assert told or not shared
        rows, columns, more = part(9), draw.integers(0, 8, 2), draw.integers(0, 8, 2)
        one, other = (memory[rows, slice(*sorted(x.tolist()))] for x in (columns, more))
        if len(one) > 1:
            shared = np.shares_memory(one, other)
            told = find_overlap(view("x", one), {"other": view("x", other)}) is not None
            assert told is shared
            found.add(shared)
    assert found == {True, False}
