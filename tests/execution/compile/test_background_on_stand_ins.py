"""Compiles in the background at the end of a process, after a fork, and for kernels that are no
longer needed."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from types import SimpleNamespace
from typing import Any

import pytest

import warpdyn as wd
from warpdyn.execution.compile import background, compiler_process, compiling

MODEL = wd.load_robot("cartpole")


@pytest.fixture
def queue(monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty queue without a thread."""
    monkeypatch.setattr(background, "_condition", background.threading.Condition())
    monkeypatch.setattr(background, "_waiting", background.deque())
    monkeypatch.setattr(background, "_thread", None)
    monkeypatch.setattr(background, "_running", None)
    monkeypatch.setattr(background, "_ending", False)


def test_waiting_kernels_are_dropped_at_the_end_of_the_process(
    queue: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The compilers are ended too. The end waits a limited time for the thread."""
    ended: list[Any] = []
    monkeypatch.setattr(background.compiler_process, "end_all", lambda: ended.append("all"))
    monkeypatch.setattr(background, "_thread", SimpleNamespace(join=ended.append))
    background.enqueue(lambda: None)
    assert len(background._waiting) == 1
    background._end()
    assert ended == ["all", background.LAST_WAIT] and background.is_ending()
    assert not background._waiting
    background.enqueue(lambda: None)
    assert not background._waiting and background.wait_until_idle(0)


def test_processes_of_the_thread_end_with_this_one(
    queue: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The end does not wait for them. Afterwards, none is started."""
    monkeypatch.setattr(background.compiler_process, "end_all", lambda: None)
    command = [sys.executable, "-c", "import time; time.sleep(60)"]
    codes: list[int] = []

    def task() -> None:
        with pytest.raises(subprocess.CalledProcessError) as failed:
            background.run_process(command, b"")
        codes.append(failed.value.returncode)

    background.enqueue(task)
    while background._process is None:
        time.sleep(0.01)
    background._end()
    assert codes == [-signal.SIGKILL] and background._process is None
    task()
    assert codes == [-signal.SIGKILL] * 2


def test_the_thread_begins_no_task_at_the_end_of_the_process(
    queue: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It prints nothing about a task that fails at that time."""
    said: list[str] = []
    monkeypatch.setattr(background, "say", said.append)
    ran: list[int] = []

    def fail() -> None:
        ran.append(1)
        background._ending = True
        raise OSError("while the process ends")

    background._waiting.append((fail, fail))
    background._work()
    background._waiting.append((lambda: ran.append(2), fail))
    background._work()
    assert ran == [1] and said == []


def test_a_forked_process_has_no_thread(queue: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """It drops the tasks, the running one among them."""
    dropped: list[int] = []
    tasks = [(lambda: None, lambda k=k: dropped.append(k)) for k in range(3)]  # type: ignore[misc]
    monkeypatch.setattr(background, "_thread", "the parent's")
    monkeypatch.setattr(background, "_running", tasks[0])
    background._waiting.extend(tasks[1:])
    before = background._condition
    background._begin_anew()
    assert background._thread is None and background._running is None and not background._waiting
    assert dropped == [0, 1, 2]
    assert background._condition is not before and background.wait_until_idle(0)


def test_compilers_belong_to_the_parent_of_a_fork(monkeypatch: pytest.MonkeyPatch) -> None:
    """The child closes its ends of their pipes and waits for none."""
    closed: list[str] = []

    def pipe(name: str) -> Any:
        return SimpleNamespace(close=lambda: closed.append(name))

    process = SimpleNamespace(returncode=None, stdin=pipe("in"), stdout=pipe("out"))
    silent = SimpleNamespace(returncode=None, stdin=None, stdout=None)
    both = [SimpleNamespace(process=x) for x in (process, silent)]
    monkeypatch.setattr(compiler_process, "_all", [*both])
    monkeypatch.setattr(compiler_process, "_idle", [*both])
    monkeypatch.setattr(compiler_process, "_lock", compiler_process._lock)
    before = compiler_process._lock
    compiler_process._forget()
    assert sorted(closed) == ["in", "out"] and process.returncode == silent.returncode == 0
    assert not compiler_process._all and not compiler_process._idle
    assert compiler_process._lock is not before


def test_compilers_end_with_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    killed: list[int] = []
    each = [SimpleNamespace(kill=lambda k=k: killed.append(k)) for k in range(2)]
    monkeypatch.setattr(compiler_process, "_all", each)
    compiler_process.end_all()
    assert killed == [0, 1]


@pytest.mark.parametrize("case", ["gone", "loaded", "ending", "compiled", "missing", "ends after"])
def test_kernels_that_are_no_longer_needed_are_not_compiled(
    case: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kernel is deleted or already loaded, or the process ends."""

    class OneKernel:
        loaded = case == "loaded"
        modules = (SimpleNamespace(missing=case != "compiled"), SimpleNamespace(missing=True))

    done: list[Any] = []
    kernel = OneKernel()
    ending = [case == "ending"]
    monkeypatch.setattr(compiling.background, "is_ending", lambda: ending[0])

    def compile_one(module: Any) -> None:
        done.append(module)
        ending[0] = case == "ends after" and len(done) == 2

    monkeypatch.setattr(compiling, "_compile", compile_one)
    monkeypatch.setattr(compiling, "_load_compiled", done.append)
    compiling._compile_now(lambda: None if case == "gone" else kernel, MODEL)  # type: ignore[arg-type, return-value]
    first, second = OneKernel.modules
    assert done == {
        "compiled": [second, kernel],
        "missing": [first, second, kernel],
        "ends after": [first, second],
    }.get(case, [])
