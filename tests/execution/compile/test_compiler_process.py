"""The compiler in a process of its own: if that process ends, this one continues and can start
another."""

from __future__ import annotations

import ctypes
import itertools
import os
import resource
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import warp as wp

import warpdyn as wd
from warpdyn.execution.compile import compiler_process
from warpdyn.execution.compile.compiler_child import ARGUMENTS
from warpdyn.execution.compile.compiler_process import (
    IN_CHILD,
    CompilerEndedError,
    _Compiler,
    in_child,
)
from warpdyn.execution.launch.launch import prepare

Z = np.zeros((1, 2))
numbers = itertools.count(1)
SCARCE = 96 << 20
"""Bytes of address space in which Warp's compiler can be loaded and runs out of memory."""


@pytest.fixture
def model() -> wd.Model:
    """A model whose kernels are not loaded: Warp loads kernels of the same source once in a
    process."""
    return wd.load_robot("cartpole").with_armature(0.25 + next(numbers) / 1024)


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty cache of Warp, and no idle compiler."""
    prepare(wd.crba.describe(wd.load_robot("cartpole"), Z))  # Warp is initialised by it
    monkeypatch.setattr(wp.config, "kernel_cache_dir", str(tmp_path))
    monkeypatch.setattr(compiler_process, "_idle", [])
    yield tmp_path


def with_each(monkeypatch: pytest.MonkeyPatch, what: Callable[[_Compiler], None]) -> None:
    """Do something to each compiler process before its request."""
    ask = _Compiler.ask

    def change_and_ask(
        self: _Compiler, request: dict[str, Any]
    ) -> tuple[dict[str, Any] | None, str]:
        what(self)
        return ask(self, request)

    monkeypatch.setattr(_Compiler, "ask", change_and_ask)


def limit(kind: int, size: int) -> Callable[[_Compiler], None]:
    return lambda compiler: resource.prlimit(compiler.process.pid, kind, (size, size))


WORDS = "out of memory|failed to map|bad_alloc|Cannot allocate memory"
"""Messages of the compiler without memory. They depend on where it needs some first."""


@pytest.mark.parametrize(
    ("what", "said"),
    [
        (lambda compiler: compiler.process.kill(), "SIGKILL; free memory"),
        (limit(resource.RLIMIT_AS, 60 << 20), "failed to map.*free memory"),
        (limit(resource.RLIMIT_AS, SCARCE), f"({WORDS}).*free memory"),
        (limit(resource.RLIMIT_FSIZE, 4096), "could not be written .* make room"),
    ],
    ids=["killed", "no memory", "little memory", "file size"],
)
def test_a_killed_compiler_raises_an_error(
    model: wd.Model,
    empty_cache: Path,
    monkeypatch: pytest.MonkeyPatch,
    what: Callable[[_Compiler], None],
    said: str,
) -> None:
    """An OSError with the kernel's name and a remedy. No partial file is left, and the next call
    compiles."""
    with pytest.MonkeyPatch.context() as change:
        with_each(change, what)
        with pytest.raises(OSError, match=f"crba for cartpole.*({said})"):
            wd.crba(model, Z)
    assert list(empty_cache.iterdir()) == []
    assert np.allclose(wd.crba(model, Z), wd.oracle(wd.crba, model, Z), rtol=1e-14, atol=0)


def test_a_full_disk_raises_an_error(empty_cache: Path) -> None:
    """The error comes at each size at which one more file does not fit. No partial file is left."""
    disk = empty_cache / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8k", "tmpfs", disk], check=False)
    if mounted.returncode:
        pytest.skip("this user may not mount a small disk")
    model = wd.load_robot("cartpole").with_armature(0.25 + next(numbers) / 1024)
    try:
        wp.config.kernel_cache_dir = str(disk)
        refused = 0
        for size in range(8, 80, 4):
            subprocess.run(["mount", "-o", f"remount,size={size}k", "tmpfs", disk], check=True)
            try:
                found = wd.crba(model, Z)
                break
            except OSError as error:
                assert "No space left" in str(error) and "make room" in str(error)
                assert [path for path in disk.rglob("*") if path.is_file()] == []
                refused += 1
        assert refused > 3
        assert np.allclose(found, wd.oracle(wd.crba, model, Z), rtol=1e-14, atol=0)
    finally:
        subprocess.run(["umount", "-l", disk], check=True)


def test_one_process_compiles_many_kernels(
    empty_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second kernel uses the process of the first. A process that has ended is replaced."""
    asked: list[int] = []
    with_each(monkeypatch, lambda compiler: asked.append(compiler.process.pid))
    for _ in range(2):
        wd.crba(wd.load_robot("cartpole").with_armature(0.25 + next(numbers) / 1024), Z)
    assert len(asked) == 2 and len(set(asked)) == 1
    (waiting,) = compiler_process._idle
    waiting.process.kill()
    waiting.process.wait()
    wd.crba(wd.load_robot("cartpole").with_armature(0.25 + next(numbers) / 1024), Z)
    assert len(set(asked)) == 2


def test_an_interrupt_ends_the_compiler(
    model: wd.Model, empty_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C during the compile."""
    ended: list[_Compiler] = []

    def interrupt(compiler: _Compiler) -> None:
        ended.append(compiler)
        raise KeyboardInterrupt

    with_each(monkeypatch, interrupt)
    with pytest.raises(KeyboardInterrupt):
        wd.crba(model, Z)
    assert ended[0].process.returncode is not None and ended[0] not in compiler_process._all


def test_a_process_that_cannot_start_is_an_error(
    model: wd.Model, empty_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The system may allow no more processes. The message says what to do, and this process never
    compiles instead.
    """

    def raise_blocking_error(*_: object, **__: object) -> None:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(compiler_process.subprocess, "Popen", raise_blocking_error)
    with pytest.raises(CompilerEndedError, match=r"crba for cartpole.*could not be started"):
        wd.crba(model, Z)


def test_a_forked_process_starts_its_own_compiler(empty_cache: Path) -> None:
    """It neither uses nor ends the parent's."""
    wd.crba(wd.load_robot("cartpole").with_armature(0.25 + next(numbers) / 1024), Z)
    (waiting,) = compiler_process._idle
    child = os.fork()
    if child == 0:
        os._exit(len(compiler_process._idle) + len(compiler_process._all))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert waiting.process.poll() is None


def test_the_environment_chooses_the_process_that_compiles(monkeypatch: pytest.MonkeyPatch) -> None:
    """A separate process compiles without the variable only if Python can be started and Warp calls
    its compiler as expected.
    """
    known = ctypes.CFUNCTYPE(ctypes.c_int)()
    known.argtypes = ARGUMENTS
    monkeypatch.delenv(IN_CHILD, raising=False)
    assert in_child(known) and not in_child(None)
    monkeypatch.setenv(IN_CHILD, "0")
    assert not in_child(known)
    monkeypatch.setenv(IN_CHILD, "1")
    assert in_child(known)
    with pytest.raises(OSError, match=r"WARPDYN_COMPILE_IN_CHILD .*in another way"):
        in_child(None)
    monkeypatch.setattr(sys, "executable", "/usr/bin/some_application")
    with pytest.raises(OSError, match="some_application is not a Python interpreter"):
        in_child(known)


def test_other_threads_run_during_a_compile(
    model: wd.Model, empty_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thread that compiles in the background does not hold the interpreter's lock."""
    at_work, looked = threading.Event(), threading.Event()

    def meet(_: _Compiler) -> None:
        at_work.set()
        assert looked.wait(60)

    with_each(monkeypatch, meet)
    thread = threading.Thread(target=wd.crba, args=(model, Z))
    thread.start()
    assert at_work.wait(60)
    assert wd.oracle(wd.crba, model, Z).any()
    looked.set()
    thread.join(60)
    assert not thread.is_alive()
