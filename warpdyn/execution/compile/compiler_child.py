"""The compiler process: compiles C++ files with Warp's Clang until its input ends.

LLVM ends the process that it runs in when the disk is full or memory is short.
`compiler_process.py` therefore starts this file as a separate program, which imports only the
standard library and starts in about 50 ms. Each line of its input is a request in JSON. Each answer
is a line in JSON that begins with a NUL. All other output comes from the compiler.
"""

from __future__ import annotations

import ctypes
import json
import os
import queue
import signal
import sys
import threading
from pathlib import Path
from typing import Any

try:
    import resource
except ImportError:  # a system without this module
    resource = None  # type: ignore[assignment]

IDLE = 5.0
"""The process ends after this many seconds without a request."""

C_STRING, C_BOOL, C_INT = ctypes.c_char_p, ctypes.c_bool, ctypes.c_int
ARGUMENTS: list[Any] = [*[C_STRING] * 4, *[C_BOOL] * 4, ctypes.POINTER(C_STRING), C_INT]
ARGUMENTS += [C_BOOL, C_BOOL, C_STRING, C_INT]
"""Argument types of `wp_compile_cpp` in Warp's library."""


def protect_the_others(niceness: int) -> None:
    """Make the system take memory and CPU time from this process before it takes them from the
    parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C and ends this process
    try:
        if resource is not None:
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if os.sched_getscheduler(0) != os.SCHED_OTHER:  # inherited from a node's real-time thread
            os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
        os.nice(niceness)
        Path("/proc/self/oom_score_adj").write_text("800")
    except (AttributeError, OSError, ValueError):
        pass  # a system without these functions


def compile_file(request: dict[str, Any]) -> int:
    """Compile as the request says; returns the compiler's error code."""
    function = ctypes.CDLL(request["library"]).wp_compile_cpp
    function.argtypes, function.restype = ARGUMENTS, ctypes.c_int
    text = Path(request["source"]).read_bytes()
    flags = [os.fsencode(flag) for flag in request["flags"]]
    header_folder = request["header_folder"]
    code: int = function(
        text,
        os.fsencode(request["source"]),
        os.fsencode(request["include"]),
        os.fsencode(request["object"]),
        request["debug"],
        request["verify_fp"],
        request["fuse_fp"],
        request["tiles_in_stack_memory"],
        (C_STRING * (len(flags) + 1))(*flags, None),
        request["optimization_level"],
        request["verbose"],
        header_folder is not None,
        None if header_folder is None else os.fsencode(header_folder),
        request["block_dim"],
    )
    return code


def main() -> None:
    protect_the_others(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
    requests: queue.Queue[str] = queue.Queue()

    def read() -> None:
        for line in sys.stdin:
            requests.put(line)
        os._exit(0)  # the parent has ended, even while the compiler runs

    threading.Thread(target=read, daemon=True).start()
    while True:
        try:
            line = requests.get(timeout=IDLE)
        except queue.Empty:
            os._exit(0)
        try:
            answer: dict[str, Any] = {"code": compile_file(json.loads(line))}
        except OSError as error:
            answer = {"errno": error.errno, "error": str(error)}
        os.write(1, b"\n\0" + json.dumps(answer).encode() + b"\n")


if __name__ == "__main__":
    main()
