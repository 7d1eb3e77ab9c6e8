"""Threads that request the same thing at the same time, and a process that is forked meanwhile."""

from __future__ import annotations

import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from fresh_caches import environment_with_header, run

from warpdyn.execution import run_once
from warpdyn.execution.run_once import lock_of
from warpdyn.execution.run_once import run_once as once

SIX_AT_ONCE = """
import threading
import numpy as np, warpdyn as wd
from warpdyn.execution.compile import compiling
from warpdyn.execution.launch import source_writer
compiling.expected_seconds = lambda _: 3.0  # long enough to be announced
recorded, record = [], source_writer.record_call
source_writer.record_call = lambda *given: recorded.append(1) or record(*given)
model, arrays = wd.load_robot("cartpole"), np.random.default_rng(0).normal(size=(3, 9, 2))
begin, results = threading.Barrier(6), [None] * 6
def call(k):
    begin.wait()
    results[k] = wd.aba_derivatives(model, *arrays)
threads = [threading.Thread(target=call, args=(k,)) for k in range(6)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(len(recorded), all(np.array_equal(x, y) for r in results for x, y in zip(r, results[0])))
"""


class Thing:
    """An object with weak references."""


def test_threads_share_the_recording_and_compile_of_a_first_call(tmp_path: Path) -> None:
    """There is one recording and one line about it. The results are the same, and the cache does
    not warn."""
    printed, said = run(SIX_AT_ONCE, environment_with_header(tmp_path))
    assert printed == "1 True\n", said
    assert sum("compiling aba_derivatives for cartpole" in line for line in said) == 1, said
    assert not any("warning" in line for line in said)


EQUAL_ROBOTS = """
import threading
import numpy as np, warpdyn as wd
arrays = np.random.default_rng(0).normal(size=(3, 9, 2))
begin, results = threading.Barrier(6), [None] * 6
def call(k):
    model = wd.load_robot("cartpole")
    begin.wait()
    for _ in range(4):
        results[k] = wd.rnea(model, *arrays)
threads = [threading.Thread(target=call, args=(k,)) for k in range(6)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(all(np.array_equal(x, results[0]) for x in results))
"""


def test_kernels_of_the_same_source_are_loaded_one_at_a_time(tmp_path: Path) -> None:
    """They are kernels of equal robots, and the C functions of small calls."""
    assert run(EQUAL_ROBOTS, environment_with_header(tmp_path))[0] == "True\n"


def test_a_function_runs_once_for_all_threads() -> None:
    """All threads that call it meanwhile get the same result. After `cache_clear` it runs again."""
    calls: list[int] = []
    begin = threading.Barrier(4)

    @once
    def slow() -> object:
        calls.append(1)
        time.sleep(0.05)
        return object()

    def call(_: int) -> object:
        begin.wait()
        return slow()

    with ThreadPoolExecutor(4) as pool:
        assert len({id(x) for x in pool.map(call, range(4))}) == 1
    assert calls == [1]
    slow.cache_clear()  # type: ignore[attr-defined]
    assert slow() is slow() and calls == [1, 1]


def test_each_object_has_its_own_lock() -> None:
    """The same lock at each request, removed with the object."""
    first, second = Thing(), Thing()
    assert lock_of(first) is lock_of(first) is not lock_of(second)
    before = len(run_once._locks)
    del first
    assert len(run_once._locks) == before - 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a system without fork")
def test_a_forked_process_does_not_wait_for_the_parents_threads() -> None:
    """The locks that they held do not matter."""
    thing, entered, leave = Thing(), threading.Event(), threading.Event()

    def hold() -> None:
        with lock_of(thing):
            entered.set()
            leave.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    assert entered.wait(60)
    child = os.fork()
    if child == 0:
        os._exit(0 if lock_of(thing).acquire(timeout=5) else 1)
    _, status = os.waitpid(child, 0)
    leave.set()
    thread.join()
    assert status == 0
