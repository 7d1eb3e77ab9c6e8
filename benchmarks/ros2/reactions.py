"""Times from a fault to the first and the last command of the stop sequence, for the safety table."""

from __future__ import annotations

import time
from array import array
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from rcl_interfaces.srv import SetParameters
from rclpy.experimental import EventsExecutor
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import SetBool, Trigger

import warpdyn as wd
from ros2_node.control.commands.torque_output import LAST_COMMANDS
from ros2_node.demo.processes import Child, Client, ros_arguments

from .arm import ARM, RELIABLE, Q, arm_urdf

RATE, TRIALS = 200.0, 20
STEADY, LONGEST = 0.35, 2.0
"""Good states before a fault, and how long its stop sequence may take to end [s]."""
THRESHOLD, PUSH, TOLERANCE = 3.0, 20.0, 0.5
"""collision_threshold, and what pushes then [N·m]; max_tracking_error [rad]."""


class FaultyArm(Client):
    """An arm at rest that follows its driver until the driver fails."""

    def __init__(self, model: wd.Model) -> None:
        super().__init__("faulty")
        self.executor.remove_node(self.node)
        self.executor = EventsExecutor()
        self.executor.add_node(self.node)
        self.commands: list[tuple[float, np.ndarray]] = []
        self._clients: dict[str, Any] = {}
        self._weight = np.asarray(wd.gravity_torques(model, Q))
        deep = QoSProfile(depth=1000)
        self._states = self.node.create_publisher(JointState, "joint_states", deep)
        self.node.create_subscription(Float64MultiArray, "warpdyn/commands", self._on, deep)
        self._due = time.perf_counter()
        self.good()

    def _on(self, message: Float64MultiArray) -> None:
        self.commands.append((time.perf_counter(), np.array(message.data)))

    def good(self) -> None:
        """State of the arm at rest at Q, carried by its motors."""
        self.sending, self.frozen, self.drift = True, False, 0.0
        self.message = JointState(name=ARM, velocity=array("d", [0.0] * 7))
        self.move(0.0)
        self.push(0.0)

    def move(self, way: float) -> None:
        """Set the deviation of joint 2 from Q [rad]."""
        self.way = way
        self.message.position = array("d", (Q + way * np.eye(7)[1]).tobytes())

    def push(self, torque: float) -> None:
        """Set the external torque on joint 2 [N·m]."""
        self.message.effort = array("d", (self._weight - torque * np.eye(7)[1]).tobytes())

    def period(self) -> float:
        """Send one state and receive until the next one is due. Returns the time of sending [s]."""
        if self.drift:
            self.move(self.way + self.drift)
        if not self.frozen:
            self.message.header.stamp = self.node.get_clock().now().to_msg()
        sent = time.perf_counter()
        if self.sending:
            self._states.publish(self.message)
        self._due = max(self._due + 1.0 / RATE, sent)
        while (left := self._due - time.perf_counter()) > 0.0:
            self.executor.spin_once(timeout_sec=left)
        return sent

    def periods(self, seconds: float) -> float:
        for _ in range(round(seconds * RATE)):
            sent = self.period()
        return sent

    def client(self, kind: type, service: str) -> Any:
        """Client of a service that is available; clients are cached."""
        if service not in self._clients:
            self._clients[service] = self.node.create_client(kind, service)
        while not self._clients[service].service_is_ready():
            self.period()
        return self._clients[service]

    def request(self, kind: type, service: str, **fields: Any) -> Any:
        """Answer of a service. States continue meanwhile, and a lost answer is requested again."""
        client = self.client(kind, service)
        for _ in range(15):
            future, end = (
                client.call_async(client.srv_type.Request(**fields)),
                time.monotonic() + 2.0,
            )
            while not future.done() and time.monotonic() < end:
                self.period()
            if future.done():
                return future.result()
        raise RuntimeError(f"{service} did not answer")

    def set(self, **values: Any) -> None:
        wanted = [Parameter(name, value=x).to_parameter_msg() for name, x in values.items()]
        answer = self.request(SetParameters, "warpdyn/set_parameters", parameters=wanted)
        if refused := [each.reason for each in answer.results if not each.successful]:
            raise RuntimeError(refused[0])

    def enable(self) -> None:
        end = time.monotonic() + 30.0
        while time.monotonic() < end:
            self.periods(0.05)
            self.request(Trigger, "warpdyn/reset")
            if self.request(SetBool, "warpdyn/enable", data=True).success:
                return
        raise RuntimeError("~/enable did not succeed")

    def trial(self, begin: Callable[[FaultyArm], float]) -> tuple[float, float]:
        """Seconds from the fault to the first smaller command and to the last zero.

        `begin` causes the fault and returns its time.
        """
        self.good()
        while True:
            self.enable()
            self.periods(STEADY)
            self.commands.clear()
            self.periods(0.05)
            if len(self.commands) > 5:  # otherwise the machine paused, and the watchdog was right
                break
        begun = begin(self)
        while not self._over() and time.perf_counter() < begun + LONGEST:
            self.period()
        times, numbers = np.array([t for t, _ in self.commands]), [c for _, c in self.commands]
        if not self._over():
            return np.nan, np.nan
        size = np.array([np.abs(c).max() for c in numbers])
        zero = int(np.argmax(size == 0.0))
        last = zero  # the last command before the ramp
        while last > 0 and _shrinks(numbers[last - 1], numbers[last]):
            last -= 1
        return times[last + 1] - begun, times[zero + LAST_COMMANDS - 1] - begun

    def _over(self) -> bool:
        last = [c for _, c in self.commands[-LAST_COMMANDS:]]
        return len(last) == LAST_COMMANDS and not np.any(last)


def _shrinks(before: np.ndarray, after: np.ndarray) -> bool:
    """True if a command is the previous one, scaled down."""
    k = int(np.argmax(np.abs(before)))
    share = after[k] / before[k] if before[k] else 1.0
    return bool(0.0 <= share < 1.0 - 1e-9 and np.allclose(after, share * before, atol=1e-9))


def silence(arm: FaultyArm) -> float:
    sent = arm.period()
    arm.sending = False
    return sent


def frozen(arm: FaultyArm) -> float:
    arm.frozen = True
    return arm.period()


def not_finite(arm: FaultyArm) -> float:
    arm.message.position[1] = np.nan
    return arm.period()


def jumped(arm: FaultyArm) -> float:
    arm.move(2.0)
    return arm.period()


def disabled(arm: FaultyArm) -> float:
    arm.client(SetBool, "warpdyn/enable").call_async(SetBool.Request(data=False))
    return time.perf_counter()


def pushed(arm: FaultyArm) -> float:
    arm.push(PUSH)
    return arm.period()


def efforts_end(arm: FaultyArm) -> float:
    sent = arm.period()
    arm.message.effort = array("d")
    return sent


def astray(arm: FaultyArm) -> float:
    arm.drift = 0.012
    while True:
        sent = arm.period()
        if arm.way > TOLERANCE:
            arm.drift = 0.0
            return sent


FAULTS: dict[Callable[[FaultyArm], float], dict[str, Any]] = {
    silence: {},
    frozen: {},
    not_finite: {},
    jumped: {},
    disabled: {},
    pushed: {"collision_threshold": THRESHOLD},
    efforts_end: {"collision_threshold": THRESHOLD},
    astray: {"collision_threshold": 0.0, "mode": "computed_torque"},
}
"""Each with the parameters that it needs."""


def reactions(folder: Path) -> dict[str, Any]:
    """An enabled arm at 200 Hz whose driver fails; state_timeout 0.1 s, stale_action ramp_down."""
    file = arm_urdf(folder)
    parameters = {
        "robot_description_file": str(file),
        "effort_source": "message",
        "ramp_time": 0.3,
        "max_tracking_error": TOLERANCE,
    }
    node = Child("ros2_node.node", ros_arguments(parameters | RELIABLE), folder / "node.log")
    arm = FaultyArm(wd.load(file))
    results: dict[str, Any] = {"rate": RATE, "trials": TRIALS, "threshold": THRESHOLD, "push": PUSH}
    try:
        node.wait_for("ready:")
        arm.until(lambda: arm.node.count_subscribers("joint_states"), "matching")
        for fault, values in FAULTS.items():
            arm.good()
            if values:
                arm.set(**values)
            rows = np.array([arm.trial(fault) for _ in range(TRIALS)])
            told = rows[np.isfinite(rows[:, 0])] * 1e3
            found: dict[str, Any] = {"told": len(told)}
            for name, column in zip(("first_ms", "end_ms"), told.T, strict=True):
                found[f"{name}_p50"] = float(np.median(column))
                found[f"{name}_max"] = float(column.max())
            results[fault.__name__] = found
            print(f"  {fault.__name__}: {found}", flush=True)
    finally:
        node.end()
        arm.close()
    return results
