"""Threads: slices of a batch, each task done once, callers in threads of their own."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from robots import by_name
from states import states

import warpdyn as wd
from warpdyn.execution import threads as chosen
from warpdyn.execution.threads import run_all, slices

PACKAGE = Path(wd.__file__).parents[1]


@given(
    st.integers(0, 100_000), st.integers(1, 9), st.sampled_from([1, 16, 512]), st.floats(0.1, 1e5)
)
def test_slices_cover_a_batch_once(count: int, threads: int, unit: int, least: float) -> None:
    """They are in order. All but the last are complete units of at least the least size, and none
    is longer than the one before."""
    found = slices(count, threads, unit, least)
    assert [first for first, _ in found] == [
        sum(n for _, n in found[:k]) for k in range(len(found))
    ]
    assert sum(n for _, n in found) == count
    sizes = [n for _, n in found[:-1]]
    assert all(n % unit == 0 and n >= least for n in sizes)
    assert sizes == sorted(sizes, reverse=True)
    assert len(found) <= 1 or threads > 1


def test_two_threads_begin_with_a_quarter_of_the_batch() -> None:
    """Half of a thread's share of the rest: 64 of 256, 48 of 192, and at least 16 at the end."""
    assert [n for _, n in slices(256, 2, 16, 16)] == [64, 48, 48, 32, 16, 16, 16, 16]


@pytest.mark.parametrize("threads", [2, 3, 7])
def test_the_first_slice_is_half_of_a_threads_share(threads: int) -> None:
    """The next slices are the same share of the rest, rounded up to complete units."""
    for unit in (1, 16):
        left = 10_000
        for _, number in slices(left, threads, unit, 1):
            share = left / (2 * threads)
            assert share <= number < share + unit or number == left
            left -= number


class Inbox:
    """A worker that counts its tasks."""

    def __init__(self) -> None:
        self.inbox, self.tasks = self, 0

    def put(self, task: chosen.Task) -> None:
        self.tasks += 1


@pytest.mark.parametrize("threads", [1, 2, 3, 5])
def test_run_all_wakes_one_worker_less_than_threads(
    threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The calling thread works too. The first workers are used."""
    workers = [Inbox() for _ in range(5)]
    monkeypatch.setattr(chosen, "_workers", workers)
    done: list[int] = []
    run_all([lambda k=k: done.append(k) for k in range(9)], threads)
    assert done == [*range(9)]
    assert [each.tasks for each in workers] == [1] * (threads - 1) + [0] * (6 - threads)


def test_workers_do_not_keep_a_process_running() -> None:
    """The requested number of threads work at the same time, with our name. The process ends while
    they wait for tasks."""
    code = (
        "import threading\nfrom warpdyn.execution.threads import run_all\n"
        "meet = threading.Barrier(3)\nrun_all([lambda: meet.wait(60)] * 3, 3)\n"
        "print([each.name for each in threading.enumerate()][1:])"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        capture_output=True,
        text=True,
        timeout=120,  # ends a process that its workers keep running; says nothing of speed
        cwd=PACKAGE,
    )
    assert done.stdout.strip().endswith("['warpdyn', 'warpdyn']"), done.stdout + done.stderr


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


def test_the_number_of_threads_can_be_set_and_reset() -> None:
    """None resets it to all cores. Anything but a whole number of at least one is refused."""
    default = wd.runtime.get_num_threads()
    assert default >= 1
    try:
        wd.runtime.set_num_threads(3)
        assert wd.runtime.get_num_threads() == 3
        for wrong in (0, -1, 2.5, "2"):
            with pytest.raises(ValueError, match="number of threads must be at least 1, or None"):
                wd.runtime.set_num_threads(wrong)
        assert wd.runtime.get_num_threads() == 3
    finally:
        wd.runtime.set_num_threads(None)
    assert wd.runtime.get_num_threads() == default


def test_the_number_of_threads_is_readable_at_an_address() -> None:
    """Compiled code reads it there. 0 means all cores."""
    wanted = ctypes.c_int64.from_address(chosen.WANTED_AT)
    try:
        for number in (1, 2):
            wd.runtime.set_num_threads(number)
            assert wd.runtime.get_num_threads() == wanted.value == number
    finally:
        wd.runtime.set_num_threads(None)
    assert wanted.value == 0


def test_the_default_number_of_threads_is_the_usable_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    """All cores of the machine if the system does not report usable ones, one if it reports
    none."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {process, 3, 5}, raising=False)
    assert wd.runtime.get_num_threads() == 3
    monkeypatch.delattr(os, "sched_getaffinity")
    for cores, number in ((6, 6), (None, 1)):
        monkeypatch.setattr(os, "cpu_count", lambda cores=cores: cores)
        assert wd.runtime.get_num_threads() == number


def test_callers_in_several_threads_get_their_own_results() -> None:
    """The batches are small and large."""
    model = by_name("panda").model
    inputs = [states(model, count, seed=count) for count in (1, 40, 3000, 20_000) * 3]
    wanted = [wd.rnea(model, s.q, s.v, s.a) for s in inputs]
    try:
        wd.runtime.set_num_threads(2)
        with ThreadPoolExecutor(6) as pool:
            found = list(
                pool.map(lambda s: [wd.rnea(model, s.q, s.v, s.a) for _ in range(3)], inputs)
            )
    finally:
        wd.runtime.set_num_threads(None)
    assert all(
        np.array_equal(r, w) for results, w in zip(found, wanted, strict=True) for r in results
    )


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a system without fork")
def test_a_forked_process_has_no_workers() -> None:
    """The parent's workers do not run there and would leave tasks undone."""
    run_all([lambda: None] * 3, 3)
    assert len(chosen._workers) >= 2
    child = os.fork()
    if child == 0:
        os._exit(len(chosen._workers))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_a_forked_process_starts_its_own_threads() -> None:
    """A child process made by fork has threads of its own."""
    if not hasattr(os, "fork"):
        pytest.skip("no fork here")
    code = (
        "import os, signal, numpy as np, warpdyn as wd\n"
        "m = wd.load_robot('cartpole'); wd.runtime.set_num_threads(2); q = np.zeros((200000, 2))\n"
        "wd.fk(m, q)\n"
        "pid = os.fork()\n"
        "if pid == 0:\n    signal.alarm(30); wd.fk(m, q); os._exit(7)\n"  # a hanging child is ended
        "print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        capture_output=True,
        text=True,
        timeout=600,  # ends a hanging child; says nothing of speed
        cwd=PACKAGE,
    )
    assert done.stdout.strip().endswith("7"), done.stdout + done.stderr


def test_documented_numbers() -> None:
    """They are measured, or given by other software. Another value needs another reason."""
    assert chosen.ENOUGH == 9e-05
    assert chosen.SLICE == 1e-05
    assert chosen.PYTHONS_SLICE == 4e-05
