"""Starts Python modules as processes that have already imported warpdyn.

Importing takes two thirds of the CPU time of a short node process. A server process imports once,
then forks for each module. A forked process runs its module as `python -m` does: with its own
arguments, environment, working directory and log, and to the end of the interpreter. The server
imports nothing of ROS, whose libraries start threads.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import gc
import json
import os
import runpy
import select
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

IMPORTED = ("warpdyn", "ros2_node.control.report", "ros2_node.control.supervisor")


class ForkedProcess:
    """A process that the server has forked, with the methods of `subprocess.Popen` that tests use."""

    def __init__(self, starter: NodeStarter, pid: int) -> None:
        self._starter, self.pid = starter, pid
        self._ended = os.pidfd_open(pid)  # readable after the end
        self.returncode: int | None = None

    def poll(self, timeout: float = 0.0) -> int | None:
        """The exit code, or None if it still runs after this time [s]."""
        if self.returncode is None and select.select([self._ended], [], [], timeout)[0]:
            self.returncode = self._starter.ask(exit_code=self.pid)
            os.close(self._ended)
        return self.returncode

    def wait(self, timeout: float = 600.0) -> int:
        """Wait for the end. Returns the exit code."""
        if (code := self.poll(timeout)) is None:
            raise subprocess.TimeoutExpired(f"process {self.pid}", timeout)
        return code

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


class NodeStarter:
    """The server, and requests to it. It ends with this process, and its children end with it."""

    def __init__(self) -> None:
        self._server = subprocess.Popen(
            [sys.executable, __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, **request: Any) -> Any:
        """The server's answer."""
        assert self._server.stdin is not None and self._server.stdout is not None
        print(json.dumps(request), file=self._server.stdin, flush=True)
        return json.loads(self._server.stdout.readline())

    def start(
        self, module: str, arguments: Sequence[str], log: Path, environment: dict[str, str]
    ) -> ForkedProcess:
        """Run a module in the folder of its log, with its output in the log."""
        request = {"module": module, "arguments": [*arguments], "log": str(log)}
        return ForkedProcess(self, self.ask(**request, environment=environment))

    def close(self) -> None:
        self._server.communicate()


@functools.cache
def node_starter() -> NodeStarter:
    """The starter of this process, created on first use."""
    starter = NodeStarter()
    atexit.register(starter.close)
    return starter


def become(request: dict[str, Any]) -> str:
    """A forked process sets up its state as `python -m` would, and returns the module."""
    log = os.open(request["log"], os.O_WRONLY | os.O_APPEND)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for number, file in enumerate((nothing, log, log)):
        os.dup2(file, number)
    os.close(log)
    os.close(nothing)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # even if the tests run under nohup
    folder = str(Path(request["log"]).parent)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(request["environment"])
    paths = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    sys.path[:] = [folder, *paths, *sys.path[1:]]
    sys.argv = ["", *request["arguments"]]
    return request["module"]


def serve() -> str | None:
    """Answer requests until there are none. In a forked process, return the module to run."""
    running: set[int] = set()
    while line := sys.stdin.readline():
        request = json.loads(line)
        if ended := request.get("exit_code"):
            answer = os.waitstatus_to_exitcode(os.waitpid(ended, 0)[1])
            running.remove(ended)
        else:
            answer = os.fork()
            if answer == 0:
                return become(request)
            running.add(answer)
        print(json.dumps(answer), flush=True)
    for pid in running:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return None


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # after Ctrl-C pytest ends the nodes itself
    for name in IMPORTED:
        __import__(name)
    gc.freeze()  # so a collection in a forked process does not copy the pages of these objects
    if module := serve():
        runpy.run_module(module, run_name="__main__", alter_sys=True)
