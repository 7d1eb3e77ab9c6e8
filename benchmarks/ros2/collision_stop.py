"""Time from a push on a simulated arm to the first command of the stop sequence."""

from __future__ import annotations

import time
from array import array
from pathlib import Path
from typing import Any

import numpy as np
from rclpy.experimental import EventsExecutor
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import SetBool, Trigger

import warpdyn as wd
from ros2_node.demo.plant import Arm
from ros2_node.demo.processes import Child, Client, ros_arguments

from .arm import ARM, RELIABLE, Q, arm_urdf

RATE, GAIN, THRESHOLD = 1000.0, 50.0, 3.0
FORCES, TRIALS = (20.0, 50.0), 40
EFFORT_NOISE, VELOCITY_NOISE = 0.1, 1e-3
"""Standard deviations [N·m, rad/s]."""


class PushedArm(Client):
    """MuJoCo's arm at 1 kHz in this process. Its messages are stored from `record` on."""

    def __init__(self, urdf: str, model: wd.Model) -> None:
        self.model = model
        super().__init__("pushed")
        self.executor.remove_node(self.node)
        self.executor = EventsExecutor()
        self.executor.add_node(self.node)
        self.arm = Arm(urdf, dict(zip(ARM, Q, strict=True)))
        self.torque, self.braked = np.zeros(7), True
        self.draw = np.random.default_rng(0)
        self.stopped: float | None = None
        self.sent: list[tuple[float, np.ndarray, np.ndarray, np.ndarray]] = []
        deep = QoSProfile(depth=1000)
        self._states = self.node.create_publisher(JointState, "joint_states", deep)
        self.node.create_subscription(Float64MultiArray, "warpdyn/commands", self._on_command, deep)
        self._message = JointState(name=ARM)
        self._due = time.perf_counter()

    def _on_command(self, message: Float64MultiArray) -> None:
        self.torque = np.array(message.data)
        if not self.torque.any() and self.stopped is None:
            self.stopped = time.perf_counter()

    def period(self) -> None:
        """Simulate, publish and receive for one millisecond. A braked arm does not move."""
        data = self.arm.data
        if not self.braked:
            self.arm.step(self.torque)
        own = self.arm.bias_at_rest() if self.braked else self.torque
        effort = own + self.draw.normal(scale=EFFORT_NOISE, size=7)
        velocity = data.qvel + self.draw.normal(scale=VELOCITY_NOISE, size=7)
        message = self._message
        message.header.stamp = self.node.get_clock().now().to_msg()
        message.position = array("d", data.qpos.tobytes())
        message.velocity = array("d", velocity.tobytes())
        message.effort = array("d", effort.tobytes())
        self.sent.append((time.perf_counter(), data.qpos.copy(), velocity, effort))
        self._states.publish(message)
        self._due = max(self._due + 1.0 / RATE, time.perf_counter() - 0.01)
        while (left := self._due - time.perf_counter()) > 0.0:
            self.executor.spin_once(timeout_sec=left)

    def periods(self, seconds: float) -> None:
        for _ in range(round(seconds * RATE)):
            self.period()

    def call_service(self, service: str, on: bool | None = None) -> None:
        """Call a service until it succeeds; states continue meanwhile."""
        kind = Trigger if on is None else SetBool
        client: Any = self.node.create_client(kind, service)
        end = time.monotonic() + 30.0
        while time.monotonic() < end:
            future = client.call_async(kind.Request() if on is None else kind.Request(data=on))
            while not future.done() and time.monotonic() < end:
                self.period()
            if future.done() and future.result().success:
                self.node.destroy_client(client)
                return
            self.periods(0.02)
        raise RuntimeError(f"{service} did not succeed")

    def trial(self, force: float) -> tuple[float, float, float, float]:
        """Samples and seconds from the push to the stop.

        The second pair starts at the state for which the observer exceeds the threshold.
        """
        self.braked = True
        self.arm.reset()
        self.call_service("warpdyn/reset")
        self.call_service("warpdyn/enable", True)
        self.periods(0.15)
        self.braked = False
        self.periods(0.25 + float(self.draw.uniform(0.0, 0.05)))
        self.sent.clear()
        self.periods(0.05)
        self.stopped = None
        way = self.draw.normal(size=3)
        body = self.arm.model.body("panda_hand").id
        self.arm.data.xfrc_applied[body, :3] = force * way / np.linalg.norm(way)
        first, begun = len(self.sent), time.perf_counter()
        while self.stopped is None and time.perf_counter() < begun + 1.0:
            self.period()
        self.arm.data.xfrc_applied[:] = 0.0
        if self.stopped is None:
            self.call_service("warpdyn/enable", False)
            return (np.nan,) * 4
        detected = self._first_detection(first)
        at = np.array([t for t, *_ in self.sent])
        samples = float((at[first:] < self.stopped).sum())
        node = self.stopped - at[detected] if detected is not None else np.nan
        after = float((at[detected:] < self.stopped).sum() - 1) if detected is not None else np.nan
        return samples, self.stopped - at[first], after, node

    def _first_detection(self, first: int) -> int | None:
        """First state after the push for which the same observer, in this process, exceeds the threshold."""
        zero = np.zeros(7)
        state: Any = (zero, zero, zero)
        for k, (_, q, v, effort) in enumerate(self.sent):
            dt = (1.0 / RATE) * (k > 0)
            state = wd.momentum_observer(self.model, q, v, effort, *state, dt=dt, gain=GAIN)
            if k >= first and np.abs(state[2]).max() > THRESHOLD:
                return k
        return None


def collision_stop(folder: Path, trials: int = TRIALS) -> dict[str, Any]:
    """MuJoCo panda at 1 kHz under gravity compensation, pushed at the hand in random directions."""
    file = arm_urdf(folder)
    parameters = {
        "robot_description_file": str(file),
        "effort_source": "message",
        "observer_gain": GAIN,
        "collision_threshold": THRESHOLD,
        "stale_action": "zero",
        "ramp_time": 0.05,
        "state_timeout": 10.0,  # a busy machine must not cause a stop
    }
    node = Child("ros2_node.node", ros_arguments(parameters | RELIABLE), folder / "node.log")
    pushed = PushedArm(file.read_text(), wd.load(file))
    results: dict[str, Any] = {"gain": GAIN, "threshold": THRESHOLD, "rate": RATE}
    try:
        node.wait_for("ready:")
        pushed.until(lambda: pushed.node.count_subscribers("joint_states"), "matching")
        for force in FORCES:
            rows = np.array([pushed.trial(force) for _ in range(trials)])
            felt = rows[np.isfinite(rows[:, 1])]
            names = ("samples", "ms", "node_samples", "node_ms")
            found: dict[str, Any] = {"pushes": len(rows), "felt": len(felt)}
            for name, column, unit in zip(names, felt.T, (1.0, 1e3, 1.0, 1e3), strict=True):
                for p in (50, 90, 99):
                    found[f"{name}_p{p}"] = float(np.nanpercentile(column * unit, p))
            results[f"{force:g} N"] = found
            print(f"  {force:g} N: {found}", flush=True)
    finally:
        node.end()
        pushed.close()
    return results
