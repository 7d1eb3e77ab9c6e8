"""Native threads: each environment is computed once, threads sleep and wake, and processes fork and
end."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import warp as wp
from robots import by_name
from states import states

import warpdyn as wd
from warpdyn.execution.batched import describe_call
from warpdyn.execution.launch import native_threads
from warpdyn.execution.launch import native_threads as chosen
from warpdyn.execution.launch.launch import prepare

PACKAGE = Path(wd.__file__).parents[1]
MODEL = by_name("panda").model


@pytest.fixture(autouse=True)
def threads() -> Iterator[None]:
    """Four threads, whatever the machine has."""
    wd.runtime.set_num_threads(4)
    yield
    wd.runtime.set_num_threads(None)


def alone(code: str) -> subprocess.CompletedProcess[str]:
    """Run the code in a new process that has started the threads."""
    begin = (
        "import os, numpy as np, warpdyn as wd\n"
        "from warpdyn.execution.launch import native_threads\n"
        "wd.runtime.set_num_threads(3); m = wd.load_robot('cartpole'); q = np.zeros((200000, 2))\n"
        "wd.fk(m, q); assert len(native_threads._workers) == 2\n"
    )
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", begin + code],
        capture_output=True,
        text=True,
        timeout=600,  # ends a hanging child; says nothing of speed
        cwd=PACKAGE,
    )


def test_native_threads_are_available() -> None:
    """This holds on Linux, with the Warp version that this package requires. Otherwise the tests
    below would test Python's threads."""
    assert native_threads.system() is not None


def test_one_thread_needs_no_native_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their functions would be compiled for nothing."""
    monkeypatch.setattr(native_threads, "system", lambda: pytest.fail("compiled"))
    assert native_threads.shared_launch(None, 1, 1) is None  # type: ignore[arg-type]


@pytest.mark.parametrize("count", [20_000, 20_001, 65_536])
def test_every_environment_is_computed_once(count: int) -> None:
    """Results of many threads equal those of one, bit by bit, in every run."""
    s = states(MODEL, count, seed=1)
    out = np.full((count, MODEL.nv), np.nan)
    run = wd.bind(wd.rnea, MODEL, s.q, s.v, s.a, out=out)
    wd.runtime.set_num_threads(1)
    wanted = wd.rnea(MODEL, s.q, s.v, s.a)
    for _ in range(30):
        out[:] = np.nan
        run()
        np.testing.assert_array_equal(out, wanted)


def test_sleeping_threads_wake_again() -> None:
    """The pause is longer than a thread waits before it sleeps."""
    s = states(MODEL, 20_000, seed=2)
    run = wd.bind(wd.rnea, MODEL, s.q, s.v, s.a)
    wanted = run().copy()
    workers = native_threads._workers
    for _ in range(5):
        deadline = time.monotonic() + 60
        while not all(worker.words[2] for worker in workers) and time.monotonic() < deadline:
            time.sleep(0.001)
        assert all(worker.words[2] for worker in workers)
        np.testing.assert_array_equal(run(), wanted)


def test_callers_may_launch_at_the_same_time() -> None:
    """If launches displace each other from the threads, their callers compute the rest."""
    every = [states(MODEL, count, seed=count) for count in (20_000, 30_000, 40_000)] * 4
    wd.runtime.set_num_threads(1)
    wanted = [wd.rnea(MODEL, s.q, s.v, s.a) for s in every]
    wd.runtime.set_num_threads(4)
    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(lambda s: [wd.rnea(MODEL, s.q, s.v, s.a) for _ in range(20)], every))
    for results, expected in zip(found, wanted, strict=True):
        for result in results:
            np.testing.assert_array_equal(result, expected)


def test_a_recorded_launch_is_a_single_launch_of_warp() -> None:
    """A capture on the CPU records it, and its replay computes all environments."""
    if not hasattr(wp, "capture_begin"):
        pytest.skip("this Warp records nothing on the CPU")
    s = states(MODEL, 20_000, seed=3)
    run = wd.bind(wd.rnea, MODEL, s.q, s.v, s.a)
    wanted = run().copy()
    run()[:] = 0.0
    with wp.ScopedCapture(device="cpu") as capture:
        out = run()
    out[:] = 0.0
    wp.capture_launch(capture.graph)
    np.testing.assert_array_equal(out, wanted)


def test_python_threads_are_used_if_no_native_thread_starts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """If some native threads start, these are used."""
    system = native_threads.system()
    assert system is not None
    monkeypatch.setattr(native_threads, "_workers", [])
    monkeypatch.setattr(system, "start", lambda worker: 11)
    assert native_threads._first_threads(system, 3) == []
    s = states(MODEL, 20_000, seed=4)
    found = wd.rnea(MODEL, s.q, s.v, s.a)
    wd.runtime.set_num_threads(1)
    np.testing.assert_array_equal(found, wd.rnea(MODEL, s.q, s.v, s.a))


def test_small_batches_are_computed_by_the_calling_thread() -> None:
    """Sixteen robots are not worth a thread."""
    s = states(MODEL, 16, seed=5)
    job = prepare(describe_call(wd.rnea, (MODEL, s.q, s.v, s.a), {}))
    assert job._threads() == 1


def test_a_forked_process_has_threads_of_its_own() -> None:
    """A call that was bound before the fork is computed by its caller in the child, without the
    parent's threads.
    """
    if not hasattr(os, "fork"):
        pytest.skip("no fork here")
    done = alone(
        "run = wd.bind(wd.fk, m, q); wanted = run().copy()\n"
        "pid = os.fork()\n"
        "if pid == 0:\n"
        "    same = np.array_equal(run(), wanted) and np.array_equal(wd.fk(m, q), wanted)\n"
        "    os._exit(7 if same and len(native_threads._workers) == 2 else 8)\n"
        "print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))"
    )
    assert done.stdout.strip() == "7", done.stdout + done.stderr


@pytest.mark.parametrize("end", ["", "import atexit; atexit.register(lambda: wd.fk(m, q))"])
def test_a_process_ends_while_threads_look_for_work(end: str) -> None:
    """The threads are stopped before their code is unloaded."""
    done = alone(end)
    assert done.returncode == 0 and "Error" not in done.stderr, done.stderr


def test_signals_reach_the_main_thread() -> None:
    """A signal interrupts the main thread. Worker threads block signals."""
    done = alone(
        "import signal, threading, time\n"
        "signal.signal(signal.SIGUSR1, lambda *_: print('heard'))\n"
        "threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGUSR1)).start()\n"
        "time.sleep(1)"
    )
    assert done.stdout.strip() == "heard", done.stderr


def test_documented_numbers() -> None:
    """They are measured, or given by other software. Another value needs another reason."""
    assert chosen.POLLS == 200
    assert chosen.OBJECT_BYTES == 256
    assert chosen.STACK == 16_777_216
