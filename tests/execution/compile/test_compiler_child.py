"""The compiler process on its own: a program that reads lines."""

from __future__ import annotations

import ctypes
import io
import json
import os
import queue
import resource
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from warpdyn.execution.compile import compiler_child
from warpdyn.execution.compile import compiler_child as chosen


def start() -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-I", "-S", compiler_child.__file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )


def test_the_process_ends_with_its_input() -> None:
    """The input ends when the parent ends, for whatever reason."""
    child = start()
    assert child.communicate(b"")[0] == b"" and child.returncode == 0


def test_an_invalid_request_is_answered() -> None:
    """The process then waits for the next request."""
    child = start()
    assert child.stdin is not None and child.stdout is not None
    for _ in range(2):
        child.stdin.write(json.dumps({"library": "/nowhere.so"}).encode() + b"\n")
        child.stdin.flush()
        line = child.stdout.readline() or b""
        line = child.stdout.readline() if line == b"\n" else line
        assert line.startswith(b"\0") and "nowhere" in json.loads(line[1:])["error"]
    child.communicate()
    assert child.returncode == 0


def test_documented_numbers() -> None:
    """They are measured, or given by other software. Another value needs another reason."""
    assert chosen.IDLE == 5.0


# The same functions in this process


@pytest.fixture
def system(monkeypatch: pytest.MonkeyPatch) -> list[tuple]:
    """The calls to the system, none of which is executed."""
    asked: list[tuple] = []

    def recorder(name: str, result: Any = None) -> Any:
        return lambda *x: asked.append((name, *x)) or result

    monkeypatch.setattr(compiler_child.signal, "signal", recorder("signal"))
    monkeypatch.setattr(compiler_child.resource, "setrlimit", recorder("setrlimit"))
    monkeypatch.setattr(compiler_child.os, "sched_getscheduler", lambda _: os.SCHED_OTHER)
    monkeypatch.setattr(compiler_child.os, "sched_setscheduler", recorder("scheduler"))
    monkeypatch.setattr(compiler_child.os, "nice", recorder("nice"))
    monkeypatch.setattr(compiler_child.Path, "write_text", lambda p, x: asked.append((str(p), x)))
    return asked


def test_the_process_lowers_its_own_priority(
    system: list[tuple], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C is for the parent, no core is dumped, and the system ends this process first if memory
    is short."""
    first = ("signal", signal.SIGINT, signal.SIG_IGN), ("setrlimit", resource.RLIMIT_CORE, (0, 0))
    last = ("nice", 7), ("/proc/self/oom_score_adj", "800")
    compiler_child.protect_the_others(7)
    assert system == [*first, *last]
    system.clear()
    monkeypatch.setattr(compiler_child.os, "sched_getscheduler", lambda _: os.SCHED_FIFO)
    compiler_child.protect_the_others(7)
    assert [each[:3] for each in system] == [*first, ("scheduler", 0, os.SCHED_OTHER), *last]
    assert system[2][3].sched_priority == 0
    system.clear()
    monkeypatch.setattr(compiler_child, "resource", None)
    compiler_child.protect_the_others(0)
    assert system[0] == first[0] and "setrlimit" not in {name for name, *_ in system}
    for error in (AttributeError, OSError, ValueError):

        def raise_error(*_: object, error: type = error) -> None:
            raise error

        monkeypatch.setattr(compiler_child.os, "nice", raise_error)
        compiler_child.protect_the_others(0)


@pytest.mark.parametrize("folder", [None, "/headers"])
def test_a_request_is_passed_to_warps_function(
    folder: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Arguments are in the order of the function. The flags end with a null."""
    (tmp_path / "a.cpp").write_bytes(b"int x;")
    given: list[tuple] = []

    class Function:
        argtypes: Any = None
        restype: Any = None

        def __call__(self, *x: Any) -> int:
            given.append(x)
            return 5

    function = Function()
    library = SimpleNamespace(wp_compile_cpp=function)
    monkeypatch.setattr(compiler_child.ctypes, "CDLL", lambda name: library)
    request = {
        **{"library": "w.so", "source": str(tmp_path / "a.cpp"), "include": "/i", "object": "/o"},
        **{"debug": 1, "verify_fp": 2, "fuse_fp": 3, "tiles_in_stack_memory": 4},
        **{"flags": ["-a", "-b"], "optimization_level": 6, "verbose": 7},
        **{"header_folder": folder, "block_dim": 9},
    }
    assert compiler_child.compile_file(request) == 5
    assert function.argtypes == compiler_child.ARGUMENTS and function.restype is ctypes.c_int
    ((text, source, include, target, *numbers),) = given
    assert (text, source) == (b"int x;", str(tmp_path / "a.cpp").encode())
    assert (include, target, numbers[:4]) == (b"/i", b"/o", [1, 2, 3, 4])
    assert list(numbers[4]) == [b"-a", b"-b", None]
    where = None if folder is None else b"/headers"
    assert numbers[5:] == [6, 7, folder is not None, where, 9]
    assert len(given[0]) == len(compiler_child.ARGUMENTS)


class EndedError(Exception):
    """The end of the process."""


def test_the_process_answers_until_it_is_idle_or_its_parent_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each answer is a line that begins with NUL."""
    written: list[bytes] = []
    niceness: list[int] = []
    asked = iter(["1", "2"])

    def compile_file(request: int) -> int:
        if request == 2:
            raise OSError(28, "full")
        return request

    class Requests:
        def put(self, line: str) -> None: ...

        def get(self, timeout: float) -> str:
            assert timeout == compiler_child.IDLE
            try:
                return next(asked)
            except StopIteration:
                raise queue.Empty from None

    def end(code: int) -> None:
        assert code == 0
        raise EndedError

    monkeypatch.setattr(compiler_child, "protect_the_others", niceness.append)
    monkeypatch.setattr(compiler_child, "compile_file", compile_file)
    monkeypatch.setattr(compiler_child.queue, "Queue", Requests)
    reading: list[Any] = []
    thread = SimpleNamespace(start=lambda: None)
    monkeypatch.setattr(
        compiler_child.threading, "Thread", lambda target, daemon: reading.append(target) or thread
    )
    monkeypatch.setattr(compiler_child.os, "write", lambda to, data: written.append(data))
    monkeypatch.setattr(compiler_child.os, "_exit", end)
    for arguments, wanted in ((["child"], 0), (["child", "5"], 5)):
        monkeypatch.setattr(compiler_child.sys, "argv", arguments)
        with pytest.raises(EndedError):
            compiler_child.main()
        assert niceness.pop() == wanted
    lines = b"".join(written)
    assert lines == b'\n\0{"code": 1}\n\n\0{"errno": 28, "error": "[Errno 28] full"}\n'
    monkeypatch.setattr(compiler_child.sys, "stdin", io.StringIO("a\nb\n"))
    with pytest.raises(EndedError):
        reading[0]()
