"""Clang in separate processes, so that a full disk or a lack of memory never ends this process.

Each thread that compiles has a process (`compiler_child.py`), which waits a few seconds for the
next request. `compile_object` blocks only its thread, releases the GIL, and can be called from any
thread. Its process may be killed at any time; this raises an OSError.
"""

from __future__ import annotations

import atexit
import errno
import json
import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

from . import compiler_child
from .compiler_child import ARGUMENTS

IN_CHILD = "WARPDYN_COMPILE_IN_CHILD"
"""Environment variable. 1: always compile in a separate process; 0: never; unset: if this process
runs a Python interpreter that can be started again."""

Request = dict[str, Any]


class CompilerEndedError(OSError):
    """The compiler process ended before it had compiled."""


class _Compiler:
    def __init__(self, niceness: int) -> None:
        self.reused, self.niceness = False, niceness
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-S", compiler_child.__file__, str(niceness)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd="/",
            bufsize=0,  # no locks, which a fork could leave locked
        )
        _all.add(self)

    def ask(self, request: Request) -> tuple[dict[str, Any] | None, str]:
        """The answer, None if the process ended, and the compiler's output."""
        assert self.process.stdin is not None and self.process.stdout is not None
        written: list[str] = []
        try:
            self.process.stdin.write(json.dumps(request).encode() + b"\n")
        except OSError:  # the process has ended
            return None, ""
        for line in self.process.stdout:
            if line.startswith(b"\0"):
                return json.loads(line[1:]), _join_lines(written)
            written.append(line.decode(errors="replace"))
        return None, _join_lines(written)

    def end(self) -> int:
        """End the process if it runs; returns its exit code."""
        _all.discard(self)
        for stream in (self.process.stdin, self.process.stdout):
            with suppress(OSError):
                if stream is not None:
                    stream.close()
        return self.process.wait()

    def kill(self) -> None:
        self.process.kill()
        self.end()


_all: set[_Compiler] = set()
_idle: list[_Compiler] = []
_lock = threading.Lock()


def compile_object(request: Request, niceness: int = 0) -> None:
    """Compile a C++ file into an object file, in a process with this niceness.
    CompilerEndedError or OSError: lack of disk space or memory; RuntimeError: the compiler rejects
    the source."""
    while True:
        compiler = _next_compiler(niceness)
        try:
            answer, written = compiler.ask(request)
        except BaseException:
            compiler.kill()
            raise
        if answer is not None:
            break
        code = compiler.end()
        # 0: it waited long enough without a request.
        if not (compiler.reused and code == 0 and not written):
            raise _exit_error(code, written)
    if "error" in answer:
        compiler.kill()
        short = "map segment" in answer["error"] or "allocate memory" in answer["error"]
        number = answer["errno"] or (errno.ENOMEM if short else errno.EIO)
        raise CompilerEndedError(number, f"the compiler process failed ({answer['error']})")
    compiler.reused = True
    with _lock:
        _idle.append(compiler)
    if written:
        print(written, file=sys.stderr, flush=True)
    if answer["code"]:
        raise RuntimeError(f"Clang failed with error code {answer['code']}: {written}")


def _next_compiler(niceness: int) -> _Compiler:
    """An idle compiler of this niceness, or a new one."""
    while True:
        with _lock:
            fitting = [x for x in _idle if x.niceness == niceness]
            waiting = fitting[-1] if fitting else None
            if waiting is not None:
                _idle.remove(waiting)
        if waiting is None:
            try:
                return _Compiler(niceness)
            except OSError as error:
                text = f"the compiler process could not be started: {error.strerror}"
                raise CompilerEndedError(error.errno, text) from error
        if waiting.process.poll() is None:
            return waiting
        waiting.end()


def _exit_error(code: int, written: str) -> CompilerEndedError:
    """The error for a process that ended, from its exit code and output."""
    how = f"with exit code {code}"
    if code < 0:
        with suppress(ValueError):
            how = f"by {signal.Signals(-code).name}"
    first_line = f" ({written.splitlines()[0]})" if written else ""
    if "No space left" in written or "File too large" in written:
        number = errno.ENOSPC
    elif code == -signal.SIGKILL or "memory" in written.lower() or "bad_alloc" in written:
        number = errno.ENOMEM
    else:
        number = errno.EIO
    return CompilerEndedError(number, f"the compiler process ended {how}{first_line}")


def _join_lines(lines: list[str]) -> str:
    return "".join(lines).strip()


def in_child(function: Any) -> bool:
    """True if compiling happens in a separate process; `function`: Warp's compile function.

    OSError: the environment asks for a separate process, but it is impossible.
    """
    wish = os.environ.get(IN_CHILD, "")
    if wish == "0":
        return False
    reason = _unable(function)
    if reason and wish:
        raise CompilerEndedError(
            errno.ENOTSUP, f"{IN_CHILD} asks for a compiler process, which is impossible: {reason}"
        )
    return not reason


def _unable(function: Any) -> str:
    """The reason why a compiler process is impossible; empty if it is possible."""
    if [*(getattr(function, "argtypes", None) or ())] != ARGUMENTS:
        return "this version of Warp calls its compiler in another way"
    return no_interpreter()


def no_interpreter() -> str:
    """The reason why no second Python interpreter can be started; empty if one can be."""
    # If an application embeds Python, the application would be started a second time.
    if getattr(sys, "frozen", False) or not Path(sys.executable or "").name.startswith(
        ("python", "pypy")
    ):
        return f"{sys.executable or 'this process'} is not a Python interpreter"
    return ""


@atexit.register
def end_all() -> None:
    for compiler in list(_all):
        compiler.kill()


def _forget() -> None:
    """Forget the processes after a fork, because they belong to the parent."""
    global _lock
    for compiler in list(_all):
        compiler.process.returncode = 0  # this process must not wait for it
        for stream in (compiler.process.stdin, compiler.process.stdout):
            if stream is not None:
                stream.close()
    _all.clear()
    _idle.clear()
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
