"""Child processes and a client for the demo and the benchmarks: separate nodes that communicate
over DDS on this machine."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TextIO

import rclpy
from rclpy.executors import SingleThreadedExecutor
from std_srvs.srv import SetBool, Trigger

PATIENCE = 60.0


def on_this_machine(domain: int) -> None:
    """Keep DDS on this machine and separate from other systems; call it before rclpy starts, for
    this process and its children."""
    os.environ["ROS_DOMAIN_ID"] = str(domain)
    os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
    os.environ.setdefault(
        "FASTDDS_DEFAULT_PROFILES_FILE", str(Path(__file__).with_name("loopback.xml"))
    )
    here = str(Path(__file__).resolve().parents[2])
    os.environ["PYTHONPATH"] = os.pathsep.join(
        p for p in (here, os.environ.get("PYTHONPATH", "")) if p
    )


def ros_arguments(
    parameters: dict[str, Any], remappings: dict[str, str] | None = None
) -> list[str]:
    """Command line arguments `--ros-args` with parameters and remappings."""
    arguments = ["--ros-args"]
    for name, value in parameters.items():
        text = str(value).replace("'", '"').replace("True", "true").replace("False", "false")
        arguments += ["-p", f"{name}:={text}"]
    for old, new in (remappings or {}).items():
        arguments += ["-r", f"{old}:={new}"]
    return arguments


class ProcessError(RuntimeError):
    """A process ended by itself, or did not do its task in time. The message has its name and its
    last output."""


class Child:
    """A module run as a process, with its output in a file."""

    def __init__(self, module: str, arguments: Sequence[str], log: Path) -> None:
        self.log, self.module = log, module
        self._output: TextIO = log.open("w")
        command = [sys.executable, "-m", module, *arguments]
        self.started = time.monotonic()
        self.process = subprocess.Popen(command, stdout=self._output, stderr=subprocess.STDOUT)

    def wait_for(self, text: str) -> float:
        """Wait until the output has the text; returns the seconds from the start."""
        while text not in self.log.read_text(errors="replace"):
            self.check()
            if time.monotonic() - self.started > PATIENCE:
                raise ProcessError(
                    f"{self.module} did not say {text!r} within {PATIENCE:g} s; "
                    f"its last words: {self.last_words()}"
                )
            time.sleep(0.01)
        return time.monotonic() - self.started

    def check(self) -> bool:
        """True while the process runs; raises ProcessError if it has ended by itself."""
        code = self.process.poll()
        if code is not None:
            how = f"signal {-code}" if code < 0 else f"exit status {code}"
            raise ProcessError(
                f"{self.module} ended by itself ({how}); its last words: {self.last_words()}"
            )
        return True

    def last_words(self) -> str:
        """The last nonempty line of the output."""
        lines = self.log.read_text(errors="replace").split("\n")
        return next((line.strip() for line in reversed(lines) if line.strip()), "none")

    def end(self, number: int = signal.SIGINT) -> float:
        """Send a signal and wait; returns the time that this took. A process that does not end is
        killed."""
        begun = time.monotonic()
        if self.process.poll() is None:
            self.process.send_signal(number)
            try:
                self.process.wait(10.0)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self._output.close()
        return time.monotonic() - begun


class Client:
    """A client that calls services of other processes.

    children: processes that must not end while it waits; if one does, `ProcessError` is raised at
    once.
    """

    def __init__(self, name: str = "client", children: Sequence[Child] = ()) -> None:
        self.children = children
        self.node = rclpy.create_node(name)
        self.executor = SingleThreadedExecutor()
        self.executor.add_node(self.node)

    def until(self, condition: Callable[[], Any], what: str, patience: float = PATIENCE) -> Any:
        """Handle messages until the condition is true; returns its value."""
        end = time.monotonic() + patience
        while time.monotonic() < end:
            self.executor.spin_once(timeout_sec=0.02)
            self._check_children()
            value = condition()
            if value:
                return value
        raise ProcessError(f"{what} did not happen within {patience:g} s")

    def rest(self, seconds: float) -> None:
        """Handle messages for `seconds`."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0.0:
            self.executor.spin_once(timeout_sec=min(left, 0.1))
            self._check_children()

    def _check_children(self) -> None:
        for child in self.children:
            child.check()

    def call(self, service: str, on: bool | None = None) -> Any:
        """Call a Trigger service, or a SetBool service with the value `on`."""
        kind = Trigger if on is None else SetBool
        client: Any = self.node.create_client(kind, service)
        self.until(client.service_is_ready, f"service {service}")
        future = client.call_async(Trigger.Request() if on is None else SetBool.Request(data=on))
        answer = self.until(lambda: future.done() and future.result(), f"an answer of {service}")
        self.node.destroy_client(client)
        return answer

    def switch_on(self, service: str) -> None:
        """Call a SetBool service until it succeeds: enabling needs a state, which may not have
        arrived yet."""
        end = time.monotonic() + PATIENCE
        while not (answer := self.call(service, True)).success:
            if time.monotonic() > end:
                raise ProcessError(f"{service}: {answer.message}")
            self.rest(0.05)

    def close(self) -> None:
        self.executor.shutdown()
        self.node.destroy_node()
