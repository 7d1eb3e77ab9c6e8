"""Compiles in the background: one at a time, and none outlives the process."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from fresh_caches import environment_with_header, lend_header

from warpdyn.execution.compile import background
from warpdyn.execution.compile import background as chosen


def test_tasks_run_in_order_on_a_thread() -> None:
    done: list[tuple[int, bool]] = []
    for k in range(5):
        background.enqueue(lambda k=k: done.append((k, background.in_background())))  # type: ignore[misc]
    assert background.wait_until_idle(10.0)
    assert done == [(k, True) for k in range(5)] and not background.in_background()


def test_waiting_ends_after_its_timeout() -> None:
    gate = threading.Event()
    background.enqueue(lambda: gate.wait(10.0))
    assert not background.wait_until_idle(0.05)
    gate.set()
    assert background.wait_until_idle(10.0)


def test_a_failed_task_is_reported_and_the_next_task_runs(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import warpdyn as wd

    monkeypatch.setattr(wd.config, "compile_messages", True)
    done: list[int] = []

    def fail() -> None:
        raise OSError("the kernel of rnea for panda could not be written: disk full")

    background.enqueue(fail)
    background.enqueue(lambda: done.append(1))
    assert background.wait_until_idle(10.0) and done == [1]
    assert "disk full; its calls stay interpreted" in capsys.readouterr().err


LARGE = """
import numpy as np, warpdyn as wd
model = wd.load_robot("panda")
q = wd.random_configuration(model, 4)
v = np.zeros((4, model.nv))
for _ in range(5):
    first = wd.aba_derivatives(model, q, v, v)
"""
"""A script that ends while its kernel is compiled, which takes seconds."""


def run(script: str, tmp_path: Path) -> str:
    """The output of a script with an empty cache of programs, ending with `done`."""
    programs = tmp_path / "programs"
    lend_header(programs)
    changes = {"WARPDYN_COMPILE": "background", "WARPDYN_CACHE_DIR": str(programs)}
    done = subprocess.run(
        [sys.executable, "-c", script + "print('done', flush=True)"],
        env={**os.environ, **changes},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_process_can_end_during_a_compile(tmp_path: Path) -> None:
    """It ends at once, without a message."""
    assert run(LARGE, tmp_path) == "done\n"


def test_a_forked_process_computes(tmp_path: Path) -> None:
    """It interprets programs, and compiles its own kernels."""
    fork = """
import os
child = os.fork()
if child == 0:
    second = wd.aba_derivatives(model, q, v, v)
    os._exit(0 if all((x == y).all() for x, y in zip(first, second)) else 3)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
"""
    assert run(LARGE + fork, tmp_path) == "done\n"


def test_a_forked_process_compiles_kernels_of_its_own_calls(tmp_path: Path) -> None:
    """Kernels that the parent has asked for and not compiled yet are among them, those of bound calls
    too. The child leaves the parent its folder of parsed headers."""
    fork = """
import os, sys, threading
import numpy as np, warpdyn as wd
from warpdyn.execution.compile import background
from warpdyn.execution.compile.precompiled_header import compiler_folder
from warpdyn.execution.launch.launch import prepare
gate = threading.Event()
background.enqueue(gate.wait)
model, q = wd.load_robot("cartpole"), np.ones((5, 2))
bound = wd.bind(wd.crba, model, q)
for _ in range(20): wd.rnea(model, q, q, q)
first = [bound().copy(), wd.rnea(model, q, q, q)]
kernels = [prepare(wd.crba.describe(model, q)).kernel, prepare(wd.rnea.describe(model, q, q, q)).kernel]
folder = compiler_folder()
assert folder.is_dir() and not any(x.loaded for x in kernels)
child = os.fork()
if child == 0:
    assert background.wait_until_idle(0) and compiler_folder() != folder
    bound(), wd.rnea(model, q, q, q), wd.rnea(model, q, q, q)
    assert background.wait_until_idle(100) and all(x.loaded for x in kernels)
    assert (bound() == first[0]).all() and (wd.rnea(model, q, q, q) == first[1]).all()
    sys.exit()
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
assert folder.is_dir() and not any(x.loaded for x in kernels)
gate.set()
assert background.wait_until_idle(100) and all(x.loaded for x in kernels)
if child:
"""
    assert run(fork + "    ", tmp_path) == "done\n"


def test_threads_share_a_kernel(tmp_path: Path) -> None:
    """They call it during and after the compile, and all get the same bits."""
    threads = """
import threading
import numpy as np, warpdyn as wd
from warpdyn.execution.compile import background
small = wd.load_robot("cartpole")
q, v = np.ones((100, 2)), np.ones((100, 2))
wanted = wd.aba(small, q, v, v)
wrong = []
def call():
    for _ in range(300):
        if (wd.aba(small, q, v, v) != wanted).any(): wrong.append(1)
each = [threading.Thread(target=call) for _ in range(4)]
[x.start() for x in each]; [x.join() for x in each]
assert background.wait_until_idle(100)
call()
assert not wrong
"""
    assert run(threads, tmp_path) == "done\n"


def test_two_processes_share_the_caches(tmp_path: Path) -> None:
    """They fill empty caches at the same time. A third process finds the kernel there."""
    calls = """
import hashlib, numpy as np, warpdyn as wd
from warpdyn.execution.compile import background
model = wd.load_robot("cartpole")
q = v = np.ones((100, 2), np.float32)
for _ in range(50):
    tau = wd.rnea(model, q, v, v)
assert background.wait_until_idle(100)
assert (wd.rnea(model, q, v, v) == tau).all()
print(hashlib.sha256(tau.tobytes()).hexdigest())
"""
    environment = environment_with_header(tmp_path, WARPDYN_COMPILE="background")
    two = [
        subprocess.Popen(
            [sys.executable, "-c", calls],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    first, second = (process.communicate(timeout=120) for process in two)
    assert [process.returncode for process in two] == [0, 0], (first, second)
    assert first[0] == second[0] and len(first[0]) == 65
    assert "warning" not in first[1] + second[1]
    compiled = """
import warpdyn as wd
model = wd.load_robot("cartpole")
print(wd.kernels.compile(model, [wd.rnea], dtype="float32"))
"""
    third = subprocess.run(
        [sys.executable, "-c", compiled], env=environment, capture_output=True, text=True
    )
    assert third.stdout == "0\n", third.stderr


def test_documented_numbers() -> None:
    """They are measured, or given by other software. Another value needs another reason."""
    assert chosen.LAST_WAIT == 2.0
    assert chosen.NICENESS == 10
