"""The node as a separate process, and a peer in the test's process that talks to it over DDS on
this machine."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
from array import array
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from node_starter import ForkedProcess, node_starter

from ros2_node.demo.processes import Child

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 90.0
"""Seconds that a condition may take on a busy machine; what is expected usually comes in milliseconds."""
GENEROUS = 10.0
"""A `state_timeout` [s] at which no watchdog fires because the machine is busy. Nodes start with it; a
test of the watchdog sets its own."""

PERIOD = 0.004
"""Time between two states that a peer sends while it waits [s]. A state brings up to three messages,
and a peer that sends without a pause lags behind them."""

IN_ITS_TERMINAL = (
    sys.executable,
    "-c",
    "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); "
    "os.execv(sys.argv[1], sys.argv[1:])",
)
"""Makes standard input the controlling terminal, whose end is a SIGHUP; then runs what follows."""


class NodeProcess:
    """`warpdyn_node` with parameters, as a child process whose output is kept.

    With `terminal` it has its own terminal until `hang_up`. With `terminal` or `fresh` it is a new
    Python process that inherits signal handlers. Otherwise it is forked (`node_starter`).
    """

    def __init__(
        self,
        parameters: dict[str, Any] | None = None,
        arguments: Sequence[str] = (),
        module: str = "ros2_node.node",
        terminal: bool = False,
        fresh: bool = False,
        **environment: str,
    ) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="warpdyn_node_")
        self.log = Path(self._folder.name) / "log"
        file = Path(self._folder.name) / "parameters.yaml"
        # Most tests change limits of a running node. `test_lock.py` tests those that are locked.
        defaults = {"state_timeout": GENEROUS, "lock": "never", "diagnostics_period": 0.1}
        values = {**defaults, **(parameters or {})}
        file.write_text(_yaml({"/**": {"ros__parameters": values}}))
        arguments = ["--ros-args", "--params-file", str(file), *arguments]
        environment = {**os.environ, **environment}
        self._output = self.log.open("wb", buffering=0)
        self._terminal: int | None = None
        self.process: subprocess.Popen[bytes] | ForkedProcess
        if terminal or fresh:
            self.process = self._fresh_process(module, arguments, environment, terminal)
        else:
            self.process = node_starter().start(module, arguments, self.log, environment)

    def _fresh_process(
        self, module: str, arguments: Sequence[str], environment: dict[str, str], terminal: bool
    ) -> subprocess.Popen[bytes]:
        self._terminal, inner = pty.openpty() if terminal else (None, None)
        process = subprocess.Popen(
            [*(IN_ITS_TERMINAL if terminal else ()), sys.executable, "-m", module, *arguments],
            stdin=inner,
            stdout=inner if terminal else self._output,
            stderr=subprocess.STDOUT,
            start_new_session=terminal,
            env=environment,
            cwd=self._folder.name,
        )
        if inner is not None:
            os.close(inner)
            self._reader = threading.Thread(target=self._read_terminal, daemon=True)
            self._reader.start()
        return process

    def _read_terminal(self) -> None:
        while (terminal := self._terminal) is not None:
            if select.select([terminal], [], [], 0.05)[0]:
                try:
                    self._output.write(os.read(terminal, 4096))
                except OSError:  # the process has ended
                    return

    def hang_up(self) -> None:
        """Close the terminal."""
        terminal, self._terminal = self._terminal, None
        self._reader.join()
        os.close(terminal)

    def __enter__(self) -> NodeProcess:
        return self

    def __exit__(self, *error: object) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.send_signal(signal.SIGINT)
            try:
                self.process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        if self._terminal is not None:
            self.hang_up()
        self._output.close()
        if error[0] is not None:
            print("--- the node's log ---", self.text()[-4000:], sep="\n")
        self._folder.cleanup()

    def text(self) -> str:
        return self.log.read_text(errors="replace")

    def wait_for(self, pattern: str, patience: float = PATIENCE) -> str:
        """Wait until a line of the log matches. Returns the match."""
        end = time.monotonic() + patience
        while time.monotonic() < end:
            found = re.search(pattern, self.text())
            if found:
                return found.group()
            if self.process.poll() is not None:
                found = re.search(pattern, self.text())
                if found:
                    return found.group()
                raise AssertionError(
                    f"the node ended with {self.process.returncode} before {pattern!r}:\n{self.text()}"
                )
            time.sleep(0.02)
        raise AssertionError(
            f"no {pattern!r} in the node's log within {patience} s:\n{self.text()}"
        )

    @property
    def alive(self) -> bool:
        return self.process.poll() is None

    def end(self, number: int = signal.SIGINT, patience: float = PATIENCE) -> int:
        """Send a signal and wait; returns the exit code."""
        self.process.send_signal(number)
        return self.process.wait(patience)


class ForkedChild(Child):
    """A forked process of a demo."""

    def __init__(self, module: str, arguments: Sequence[str], log: Path) -> None:
        self.log, self.module = log, module
        self._output = log.open("a")
        self.started = time.monotonic()
        self.process = node_starter().start(module, arguments, log, dict(os.environ))


def _yaml(value: Any, indent: int = 0) -> str:
    """Enough YAML for parameter files. Texts need quotes, numbers do not."""
    if isinstance(value, dict):
        pad = "  " * indent
        lines = [
            f"{pad}{k}:\n{_yaml(v, indent + 1)}"
            if isinstance(v, dict)
            else f"{pad}{k}: {_scalar(v)}"
            for k, v in value.items()
        ]
        return "\n".join(lines) + ("\n" if indent == 0 else "")
    return _scalar(value)


def _scalar(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_scalar(x) for x in value) + "]"
    if isinstance(value, float):
        text = {"nan": ".nan", "inf": ".inf", "-inf": "-.inf"}.get(repr(value), repr(value))
        return text if "." in text or "e" not in text else text.replace("e", ".0e")
    return repr(value)


class Peer:
    """The other side of a robot: it sends states and records the node's messages."""

    peers: ClassVar[list[Peer]] = []
    """Those that are not closed yet."""

    def __init__(self, context: Any, space: str = "", node: str = "warpdyn", **qos: Any) -> None:
        import rclpy
        from diagnostic_msgs.msg import DiagnosticArray
        from rclpy.executors import SingleThreadedExecutor
        from rclpy.qos import DurabilityPolicy, QoSProfile
        from sensor_msgs.msg import JointState
        from std_msgs.msg import Float64MultiArray, String

        self.node = rclpy.create_node("peer", context=context)
        self.peers.append(self)
        self.executor = SingleThreadedExecutor(context=context)
        self.executor.add_node(self.node)
        self._outer = f"{space}/" if space else ""
        self.own = f"{self._outer}{node}/"
        self.commands: list[np.ndarray] = []
        self.torques: list[Any] = []
        self.diagnostics: list[Any] = []
        deep = QoSProfile(depth=1000)
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self.states = self.node.create_publisher(JointState, self._outer + "joint_states", deep)
        self.descriptions = self.node.create_publisher(
            String, self._outer + "robot_description", latched
        )
        self.controller = self.listen(
            Float64MultiArray,
            self.own + "commands",
            lambda m: self.commands.append(np.array(m.data)),
        )
        self.listen(JointState, self.own + "torques", self.torques.append)
        titles = (f"{self._outer}{node}", f"{node}: {space}")
        self.listen(
            DiagnosticArray,
            "/diagnostics",
            lambda m: self.diagnostics.extend(s for s in m.status if s.name in titles),
        )
        self._clients: dict[str, Any] = {}

    def begin(self) -> None:
        """Discard the messages of other tests from queues and lists."""
        number = -1
        while number != (number := len(self.commands) + len(self.torques) + len(self.diagnostics)):
            for _ in range(20):
                self.spin(0.002)
        for received in (self.commands, self.torques, self.diagnostics):
            received.clear()

    def close(self) -> None:
        self.peers.remove(self)
        self.executor.shutdown()
        self.node.destroy_node()

    def listen(
        self,
        kind: Any,
        topic: str,
        function: Callable[[Any], object],
        depth: int = 1000,
        **qos: Any,
    ) -> Any:
        from rclpy.qos import QoSProfile

        return self.node.create_subscription(kind, topic, function, QoSProfile(depth=depth, **qos))

    def spin(self, timeout: float = 0.01) -> None:
        self.executor.spin_once(timeout_sec=timeout)

    def wait(
        self,
        condition: Callable[[], object],
        what: str,
        patience: float = PATIENCE,
        each: Any = None,
    ) -> Any:
        """Spin, calling `each` every PERIOD, until the condition is true. Returns its value."""
        end, due = time.monotonic() + patience, 0.0
        while (now := time.monotonic()) < end:
            if each is not None and now >= due:
                each()
                due = now + PERIOD
            self.spin(0.01 if each is None else PERIOD)
            found = condition()
            if found:
                return found
        raise AssertionError(
            f"{what} did not happen within {patience} s; diagnostics: {self.message!r}"
        )

    def wait_until_matched(self) -> None:
        """Wait until states, torques, commands and diagnostics have found their endpoints."""
        self.wait(
            lambda: (
                self.states.get_subscription_count()
                and self.node.count_publishers(self.own + "torques")
                and self.node.count_publishers(self.own + "commands")
                and self.diagnostics
            ),
            "matching",
        )

    def send(
        self,
        names: Sequence[str],
        position: Any,
        velocity: Any = (),
        stamp: tuple[int, int] | None = None,
        effort: Any = (),
    ) -> None:
        from builtin_interfaces.msg import Time
        from sensor_msgs.msg import JointState

        message = JointState()
        if stamp is None:
            message.header.stamp = self.node.get_clock().now().to_msg()
        else:
            message.header.stamp = Time(sec=stamp[0], nanosec=stamp[1])
        message.name = list(names)
        for field, values in (("position", position), ("velocity", velocity), ("effort", effort)):
            setattr(message, field, array("d", [float(x) for x in values]))
        self.states.publish(message)

    def call(self, service: str, kind: Any, each: Any = None, **fields: Any) -> Any:
        """Call a service below the node's name. `each` may send states meanwhile."""
        client = self._clients.get(service)
        if client is None:
            client = self._clients[service] = self.node.create_client(kind, self.own + service)
        self.wait(client.service_is_ready, f"service {service}", each=each)
        future = client.call_async(kind.Request(**fields))
        return self.wait(
            lambda: future.done() and future.result(), f"answer of {service}", each=each
        )

    def enable(self, on: bool = True, each: Any = None) -> Any:
        from std_srvs.srv import SetBool

        return self.call("enable", SetBool, each=each, data=on)

    def starve(self, each: Any = None) -> None:
        """Set the state timeout to a tenth of a second, and wait until the watchdog stops the
        robot."""
        assert self.set_parameter("state_timeout", 0.1, each=each).successful
        self.wait_for_message("state lost", each=each)

    def reset(self) -> Any:
        from std_srvs.srv import Trigger

        return self.call("reset", Trigger)

    def set_parameter(self, name: str, value: Any, each: Any = None) -> Any:
        """The node's answer: success, reason."""
        from rcl_interfaces.srv import SetParameters
        from rclpy.parameter import Parameter

        answer = self.call(
            "set_parameters",
            SetParameters,
            each=each,
            parameters=[Parameter(name, value=value).to_parameter_msg()],
        )
        return answer.results[0]

    # The node's diagnostics.

    @property
    def status(self) -> Any:
        return self.diagnostics[-1] if self.diagnostics else None

    @property
    def message(self) -> str:
        return self.status.message if self.status else ""

    @property
    def values(self) -> dict[str, str]:
        return {v.key: v.value for v in self.status.values} if self.status else {}

    def wait_for_message(self, text: str, each: Any = None) -> None:
        """Wait until a new status, or the last one, contains the text."""
        seen = max(len(self.diagnostics) - 1, 0)
        self.wait(
            lambda: any(text in d.message for d in self.diagnostics[seen:]),
            f"diagnostics {text!r}",
            each=each,
        )

    def wait_for_value(self, key: str, good: Callable[[str], bool], each: Any = None) -> str:
        return self.wait(
            lambda: key in self.values and good(self.values[key]) and self.values[key],
            key,
            each=each,
        )
