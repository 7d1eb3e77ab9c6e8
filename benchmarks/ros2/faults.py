"""Hundreds of faults thrown at an enabled node over DDS, their kinds and numbers drawn at random.

After each: no command was ever not finite or beyond the URDF's effort limits, the node lives, and
once good states come again (and, where it has stopped, after ~/reset and ~/enable) it commands what
it commanded before.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from array import array
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from geometry_msgs.msg import WrenchStamped
from rcl_interfaces.srv import SetParameters
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from ros2_node.demo.processes import Child, Client, ros_arguments

from .arm import ARM, Q, arm_urdf

LIMITS = np.array([87.0] * 4 + [12.0] * 3)
"""Effort limits of the bundled panda [N·m]."""
STALE = 0.5
"""The node's `state_timeout` [s]: short enough to starve it often, long enough for a busy machine."""
SAME = 1e-9
"""How far a command may be from the one before a fault [N·m]."""
DRIVER = """
import sys, time, rclpy
from array import array
from sensor_msgs.msg import JointState
rclpy.init()
node = rclpy.create_node("driver")
states = node.create_publisher(JointState, "joint_states", 10)
q = array("d", map(float, sys.argv[2].split(",")))
while True:
    message = JointState(name=sys.argv[1].split(","), position=q, velocity=array("d", [0.0] * len(q)))
    message.header.stamp = node.get_clock().now().to_msg()
    states.publish(message)
    time.sleep(0.005)
"""
Send = Callable[[], None]


class Campaign(Client):
    """The peer that throws faults and looks at every command."""

    def __init__(self, children: Sequence[Child], seed: int) -> None:
        super().__init__("faults", children)
        self.random = np.random.default_rng(seed)
        deep, make = QoSProfile(depth=1000), self.node.create_publisher
        self.states = make(JointState, "joint_states", deep)
        self.references = make(JointTrajectory, "warpdyn/reference", deep)
        self.wrenches = make(WrenchStamped, "warpdyn/external_wrench", deep)
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self.descriptions = make(String, "robot_description", latched)
        self.node.create_subscription(Float64MultiArray, "warpdyn/commands", self._look, deep)
        self.setting: Any = self.node.create_client(SetParameters, "warpdyn/set_parameters")
        self.last = np.full(7, np.nan)
        self.checked = self.not_finite = self.beyond = 0
        self.most = 0.0

    def _look(self, message: Float64MultiArray) -> None:
        self.last = np.array(message.data)
        self.checked += 1
        if len(self.last) != 7 or not np.isfinite(self.last).all():
            self.not_finite += 1
            return
        share = float(np.abs(self.last / LIMITS).max())
        self.most = max(self.most, share)
        self.beyond += share > 1.0 + 1e-12

    def state(self, q: Any = Q, names: Sequence[str] = ARM, **other: Any) -> JointState:
        """A message at rest; `velocity` and `stamp` (seconds) as given."""
        velocity = other.get("velocity", [0.0] * len(q))
        message = JointState(name=list(names), position=array("d", map(float, q)))
        message.velocity = array("d", map(float, velocity))
        message.header.stamp = self.node.get_clock().now().to_msg()
        if "stamp" in other:
            message.header.stamp.sec, message.header.stamp.nanosec = int(other["stamp"]), 0
        return message

    def good(self) -> None:
        self.states.publish(self.state())

    def play(self, send: Send, times: int) -> None:
        for _ in range(times):
            send()
            self.executor.spin_once(timeout_sec=0.002)

    def play_for(self, send: Send, seconds: float) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.play(send, 1)

    def ask(self, service: str, on: bool | None = None) -> Any:
        """As `call`, while good states come."""
        timer = self.node.create_timer(0.005, self.good)
        try:
            return self.call(service, on)
        finally:
            self.node.destroy_timer(timer)

    def recover(self, expected: np.ndarray | None) -> bool:
        """Bring it back to the torques it had; returns whether it had stopped."""
        stopped = False
        end = time.monotonic() + 60.0
        while time.monotonic() < end:
            self.play(self.good, 3)
            answer = self.ask("warpdyn/enable", True)
            if not answer.success:
                stopped = True
                self.ask("warpdyn/reset")
                continue
            stopped |= answer.message.startswith("enabled")
            self.last[:] = np.nan
            self.play_for(self.good, 0.03)
            for _ in range(200):
                if expected is None or np.abs(self.last - expected).max() <= SAME:
                    return stopped
                self.play(self.good, 5)
        raise RuntimeError(f"the node did not come back: {self.last} and not {expected}")

    def set(self, name: str, value: Any) -> bool:
        """Set a parameter while good states come; whether it was taken."""
        self.until(self.setting.service_is_ready, "set_parameters")
        request = SetParameters.Request(
            parameters=[Parameter(name, value=value).to_parameter_msg()]
        )
        future = self.setting.call_async(request)
        while not future.done():
            self.play(self.good, 1)
        return bool(future.result().results[0].successful)

    # Faults. Each is thrown among good states or alone, as it is drawn.

    def among(self, fault: Send) -> Send:
        def both() -> None:
            fault()
            self.good()

        return both if self.random.random() < 0.6 else fault

    def changed(self, value: float) -> np.ndarray:
        q = Q.copy()
        q[self.random.integers(7)] = value
        return q

    def bad_state(self) -> Send:
        pick, number = self.random, self.random.uniform
        odd = float(pick.choice([np.nan, np.inf, -np.inf, 1e9, -1e300]))
        count = int(pick.integers(0, 12))
        drop = int(pick.integers(7))
        messages: list[Callable[[], Any]] = [
            lambda: self.state(self.changed(odd)),
            lambda: self.state(Q, velocity=self.changed(odd)),
            lambda: self.state(Q, velocity=self.changed(9000.0)),
            lambda: self.state(number(-3, 3, count)),
            lambda: self.state(Q, velocity=number(-1, 1, count)),
            lambda: self.state([], []),
            lambda: self.state(Q, [*ARM[:6], ARM[0]]),
            lambda: self.state([1.0, 2.0], ["wheel", "door"]),
            lambda: self.state([odd, *Q], ["wheel", *ARM]),
            lambda: self.state(Q[::-1], ARM[::-1]),
            lambda: self.state(np.delete(Q, drop), [*ARM[:drop], *ARM[drop + 1 :]]),
            lambda: self.state(Q, stamp=5),
            lambda: self.state(Q, stamp=pick.integers(0, 2**31 - 1)),
            lambda: self.state(Q + number(-3, 3, 7)),
            lambda: self.state(Q + number(-0.3, 0.3, 7)),
            lambda: self.state(Q, [f"{name}\0\n{pick.integers(9)}" for name in ARM]),
        ]
        message = messages[pick.integers(len(messages))]
        return self.among(lambda: self.states.publish(message()))

    def broken_bytes(self) -> Send:
        whole = bytes(serialize_message(self.state()))
        cut = int(self.random.integers(0, len(whole)))
        flips = self.random.integers(0, len(whole), 6)

        def send() -> None:
            data = bytearray(whole[:cut] if self.random.random() < 0.5 else whole)
            for at in flips:
                if at < len(data):
                    data[at] ^= int(self.random.integers(1, 256))
            self.states.publish(bytes(data))

        return self.among(send)

    def bad_reference(self) -> Send:
        pick = self.random
        value = float(pick.choice([np.nan, np.inf, 1e9, 3.0, -3.0]))
        lengths = pick.integers(0, 9, 3)
        names = [list(ARM), [*ARM, "wheel"], ["wheel"], ARM[:3]][pick.integers(4)]
        points = int(pick.choice([0, 1, 1, 1, 2]))

        def send() -> None:
            parts = [np.full(n, value).tolist() for n in lengths]
            point = JointTrajectoryPoint(
                positions=parts[0], velocities=parts[1], accelerations=parts[2]
            )
            self.references.publish(JointTrajectory(joint_names=names, points=[point] * points))
            self.good()

        return send

    def bad_wrench(self) -> Send:
        pick = self.random
        value = float(pick.choice([np.nan, np.inf, 1e12]))
        frame = str(pick.choice(["panda_hand", "nowhere", ""]))

        def send() -> None:
            message = WrenchStamped()
            message.header.frame_id = frame
            message.wrench.force.x = message.wrench.torque.z = value
            self.wrenches.publish(message)
            self.good()

        return send

    def bad_description(self) -> Send:
        text = str(
            self.random.choice(
                ["", "<robot", "no xml", "<robot name='x'/>", "<html><body/></html>", "\u0001" * 99]
            )
        )
        return lambda: (self.descriptions.publish(String(data=text)), self.good())[1]

    def bad_parameter(self) -> Send:
        faults: list[tuple[str, Any]] = [
            ("torque_scale", float("nan")), ("torque_scale", 7.0), ("torque_scale", [1.0, 1.0]),
            ("kp", -1.0), ("kd", "much"), ("state_timeout", 0.0), ("gravity", [0.0]),
            ("gravity", [0.0, 0.0, float("inf")]), ("payload.link", "nowhere"), ("mode", "gravity"),
            ("payload.mass", 1.0), ("payload.mass", -1.0), ("robot_description", "<robot"),
            ("robot_description_file", "/dev/zero"), ("effort_limits", [1.0]), ("joints", ["a"]),
        ]  # fmt: skip
        name, value = faults[self.random.integers(len(faults))]

        def send() -> None:
            if self.set(name, value):
                raise RuntimeError(f"{name} = {value!r} was taken")

        return send

    def lost_driver(self) -> Send:
        """Another process publishes, and is killed or frozen; or the two contradict each other."""
        end = int(self.random.choice([signal.SIGKILL, signal.SIGSTOP]))
        q = Q if self.random.random() < 0.5 else Q + self.random.uniform(-2, 2, 7)
        text = ",".join(map(str, q))

        def send() -> None:
            process = subprocess.Popen([sys.executable, "-c", DRIVER, ",".join(ARM), text])
            try:
                before = self.node.count_publishers("joint_states")
                while self.node.count_publishers("joint_states") == before:
                    self.play(self.good, 1)
                self.play_for(self.good, 0.2)
                os.kill(process.pid, end)
                self.play_for(lambda: None, STALE * 1.5)
            finally:
                process.kill()
                process.wait()

        return send


ONCE = ("bad_parameter", "lost_driver")
"""Kinds that are thrown once and not again and again."""
KINDS = {
    "bad_state": 0.5, "broken_bytes": 0.12, "bad_reference": 0.12, "bad_wrench": 0.06,
    "bad_description": 0.05, "bad_parameter": 0.08, "silence": 0.05, "lost_driver": 0.02,
}  # fmt: skip
"""How often each kind is drawn."""


def faults(folder: Path, number: int = 500, seed: int = 0) -> dict[str, Any]:
    """Faults drawn at random, thrown at an enabled panda in mode computed_torque."""
    parameters = {
        "robot_description_file": str(arm_urdf(folder)),
        "mode": "computed_torque",
        "ramp_time": 0.02,
        "state_timeout": STALE,
        "allow_several_publishers": True,  # of kind lost_driver
    }
    node = Child("ros2_node.node", ros_arguments(parameters), folder / "node.log")
    campaign = Campaign([node], seed)
    thrown: Counter[str] = Counter()
    stops: Counter[str] = Counter()
    try:
        node.wait_for("ready:")
        campaign.until(campaign.states.get_subscription_count, "matching")
        campaign.recover(None)
        campaign.play_for(campaign.good, 0.5)
        expected = campaign.last.copy()
        for k in range(number):
            kind = str(campaign.random.choice(list(KINDS), p=list(KINDS.values())))
            thrown[kind] += 1
            if kind == "silence":
                campaign.play_for(lambda: None, STALE * 1.5)
            else:
                fault = getattr(campaign, kind)()
                campaign.play(fault, 1 if kind in ONCE else int(campaign.random.integers(1, 30)))
            node.check()
            stops[kind] += campaign.recover(expected)
            print(f"\r  {k + 1} of {number}, {campaign.checked} commands", end="", flush=True)
        print()
    finally:
        node.end()
        campaign.close()
    return {
        "faults": number,
        "seed": seed,
        "thrown": dict(thrown),
        "stopped_by": dict(stops),
        "commands_checked": campaign.checked,
        "commands_not_finite": campaign.not_finite,
        "commands_beyond_limits": campaign.beyond,
        "largest_share_of_a_limit": campaign.most,
        "torque_after_each_fault": f"within {SAME:g} N·m of the one before",
    }
