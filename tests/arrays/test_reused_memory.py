"""Memory of large results: reused once no array uses it, never before, and only up to a limit."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import time
from collections import deque
from typing import Any

import numpy as np
import pytest
from at_once import at_once
from documented_numbers import check_numbers

import warpdyn as wd
from warpdyn.arrays import reused_memory
from warpdyn.arrays.reused_memory import LOOKS, MEMORY, REUSED_FROM, ReusedMemory

ARM = wd.load_robot("ur5e")
ROWS = 2 * REUSED_FROM // 24
"""Number of robots whose torques are a large result."""


def address(x: np.ndarray) -> int:
    found: int = x.__array_interface__["data"][0]
    return found


def bytes_of(pool: ReusedMemory, number: int) -> np.ndarray:
    return pool.array((number,), np.dtype(np.uint8))


def test_memory_is_reused_after_its_last_array_is_freed() -> None:
    """Views, slices and transposed arrays keep it in use."""
    pool = ReusedMemory(10**8)
    first = bytes_of(pool, 10**6)
    where, part = address(first), first.view(np.float32).reshape(-1, 10)[5:].T
    assert where % 64 == 0 and first.shape == (10**6,) and first.flags.writeable
    del first
    second = bytes_of(pool, 10**6)
    assert pool.waiting_bytes == 0 and address(second) != where
    del part
    gc.collect()
    assert pool.waiting_bytes >= 10**6
    assert address(bytes_of(pool, 10**6)) == where


def test_memory_may_be_freed_while_the_pool_is_locked() -> None:
    """Garbage collection may run anywhere, also in the middle of the pool's own work."""
    pool = ReusedMemory(10**8)
    piece = bytes_of(pool, 200_000)
    with pool._lock:
        del piece  # comes back, and must not wait
    assert pool.waiting_bytes >= 200_000


def test_the_only_free_piece_among_many_is_found() -> None:
    """Each call looks at a few pieces, the next call at others."""
    pool = ReusedMemory(10**8)
    held = [bytes_of(pool, 200_000) for _ in range(5 * LOOKS)]
    where = address(held.pop(LOOKS))
    for _ in range(6):
        held.append(bytes_of(pool, 200_000))
    assert where in map(address, held)
    assert len({address(x) for x in held}) == len(held)


def test_arrays_in_use_have_different_memory() -> None:
    pool = ReusedMemory(10**8)
    held = [bytes_of(pool, 200_000) for _ in range(5)]
    for k, x in enumerate(held):
        x[:] = k
    assert [int(x.min()) for x in held] == [int(x.max()) for x in held] == [*range(5)]


def test_the_pool_stores_at_most_its_limit() -> None:
    """The least recently used size is freed first. A piece larger than the limit is not stored."""
    pool = ReusedMemory(3_000_000)
    for size in (1_000_000, 1_100_000, 1_200_000):
        bytes_of(pool, size)
    assert 0 < pool.waiting_bytes <= 3_000_000
    newest = address(bytes_of(pool, 1_200_000))
    assert newest == address(bytes_of(pool, 1_200_000))
    bytes_of(pool, 4_000_000)
    assert pool.waiting_bytes <= 3_000_000
    pool.clear()
    assert pool.waiting_bytes == 0
    assert bytes_of(ReusedMemory(0), 1000).shape == (1000,)


def test_after_clearing_the_pool_stores_as_much_as_before() -> None:
    """Cleared pieces no longer count."""
    pool = ReusedMemory(3_000_000)
    for _ in range(2):
        held = [bytes_of(pool, size) for size in (900_000, 1_000_000, 1_000_000)]
        places = [address(piece) for piece in held[1:]]
        del held
        assert pool.waiting_bytes > 2_900_000
        again = [bytes_of(pool, 1_000_000) for _ in places]
        assert sorted(map(address, again)) == sorted(places)
        del again
        pool.clear()
        assert pool.waiting_bytes == 0


def test_the_time_does_not_grow_with_the_pieces_in_use() -> None:
    """The last thousands of 40,000 pieces in use take less than ten times as long as the first."""
    pool = ReusedMemory(4096 * 20_000)
    held, times = [], []
    for _ in range(40):
        start = time.process_time()
        held += [bytes_of(pool, 2000) for _ in range(1000)]
        times.append(time.process_time() - start)
    assert min(times[-10:]) < 10 * max(min(times[:10]), 1e-3)


def test_sizes_without_free_pieces_are_handled() -> None:
    """All pieces of a size are in use when others are freed beyond the limit."""
    pool = ReusedMemory(3_000_000)
    bytes_of(pool, 1_000_000)
    lent = bytes_of(pool, 1_000_000)
    pieces = [bytes_of(pool, 1_500_000) for _ in range(3)]
    del pieces
    assert 0 < pool.waiting_bytes <= 3_000_000
    del lent
    assert 0 < pool.waiting_bytes <= 3_000_000


def test_results_in_use_are_not_overwritten() -> None:
    """The caller keeps every second result of six calls."""
    q = wd.random_configuration(ARM, ROWS, like=np.zeros(0, np.float32))
    held, wanted = [], []
    for k in range(6):
        result = wd.gravity_torques(ARM, q * (0.1 * k))
        if k % 2:
            held.append(result)
            wanted.append(result.copy())
    for x, y in zip(held, wanted, strict=True):
        assert np.array_equal(x, y)
    assert len({address(x) for x in held}) == len(held)


def test_a_large_result_reuses_the_memory_of_the_last_one() -> None:
    wd.runtime.empty_cache()
    q = np.zeros((ROWS, 6), np.float32)
    first = address(wd.gravity_torques(ARM, q))
    assert MEMORY.waiting_bytes > 0 and address(wd.gravity_torques(ARM, q)) == first
    wd.runtime.empty_cache()
    assert MEMORY.waiting_bytes == 0


def test_threads_get_different_memory() -> None:
    pool, wrong = ReusedMemory(10**7), []

    def work(k: int) -> None:
        for _ in range(300):
            mine: Any = bytes_of(pool, 150_000)
            mine[:] = k
            if not (mine == k).all():
                wrong.append(k)

    at_once(work, 6)
    assert not wrong


@pytest.mark.parametrize(("told", "most"), [("0", 0), ("1.5", 1_500_000), ("much", None)])
def test_an_environment_variable_sets_the_limit(told: str, most: int | None) -> None:
    code = "from warpdyn.arrays.reused_memory import MEMORY; print(MEMORY.most)"
    command = [sys.executable, "-c", code]
    done = subprocess.run(
        command, env=os.environ | {"WARPDYN_CACHE_MB": told}, capture_output=True, text=True
    )
    if most is None:
        assert "WARPDYN_CACHE_MB must be a number of megabytes, got 'much'" in done.stderr
    else:
        assert int(done.stdout.split()[-1]) == most


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a system without fork")
def test_a_forked_process_has_a_new_lock() -> None:
    """It does not wait for a thread of the first process, which it does not have."""
    memory = ReusedMemory(1 << 20)
    with memory._lock:
        child = os.fork()
        if not child:
            signal.alarm(20)  # a child that waits is ended by it
            memory.array((9000,), np.dtype(np.float64))
            memory.clear()
            os._exit(0)
    assert os.waitpid(child, 0)[1] == 0


def test_the_limit_is_a_share_of_the_machines_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is a sixteenth, between 256 MB and 1 GB, or the value of the variable. Without a lock it
    is zero."""
    monkeypatch.delenv(reused_memory.MOST, raising=False)
    for whole, kept in ((1e9, 256e6), (8e9, 500e6), (64e9, 1024e6)):
        monkeypatch.setattr(reused_memory, "_memory", lambda whole=whole: int(whole))
        assert reused_memory._most() == kept
    for told, kept in (("0", 0.0), ("1.5", 1.5e6), ("3000", 3000e6)):
        monkeypatch.setenv(reused_memory.MOST, told)
        assert reused_memory._most() == kept
    monkeypatch.setenv(reused_memory.MOST, "much")
    with pytest.raises(
        ValueError, match=r"^WARPDYN_CACHE_MB must be a number of megabytes, got 'm"
    ):
        reused_memory._most()
    monkeypatch.setattr(sys, "_is_gil_enabled", lambda: False, raising=False)
    assert reused_memory._most() == 0
    monkeypatch.setattr(sys, "_is_gil_enabled", lambda: True, raising=False)
    with pytest.raises(ValueError, match="megabytes"):
        reused_memory._most()


def test_the_memory_of_a_system_may_be_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 1000}
    monkeypatch.setattr(os, "sysconf", numbers.__getitem__)
    assert reused_memory._memory() == 4096 * 1000

    def unknown(_: str) -> int:
        raise ValueError("unrecognized configuration name")

    monkeypatch.setattr(os, "sysconf", unknown)
    assert reused_memory._memory() == 0
    monkeypatch.delattr(os, "sysconf")
    assert reused_memory._memory() == 0


def test_another_thread_may_take_the_last_piece() -> None:
    """This may happen between counting the pieces and taking one. A new piece is then allocated."""

    class EmptyDeque(deque):
        def pop(self) -> Any:
            raise IndexError("pop from an empty deque")

    pool = ReusedMemory(10**8)
    del_later = bytes_of(pool, 200_000)
    where = address(del_later)
    ((size, pieces),) = pool._pieces.items()
    pool._pieces[size] = EmptyDeque(pieces)
    del del_later
    assert address(bytes_of(pool, 200_000)) != where


def test_documented_numbers() -> None:
    check_numbers("arrays.reused_memory", USUAL=256, SHARE=16, ENOUGH=1024)
