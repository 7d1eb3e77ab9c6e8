"""Live teleoperation demo: two simulated arms and a leading hand, over DDS on this machine.

The arms, a node for each, the node between them, and the hand run in separate processes.

    python -m ros2_node.demo.teleoperating --seconds 8
    python -m ros2_node.demo.teleoperating --feedback 20
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import rclpy
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState

from .processes import Child, Client, ProcessError, on_this_machine, ros_arguments
from .teleoperation_setup import JOINTS, follower, leader, plant

ARMS = "leader", "follower"
BUSY = 300.0
"""Longest time for a step of the demo on a busy machine [s]."""


@dataclass(frozen=True)
class LeaderRecording:
    """Recording of joint_states at equal times: times (T,) [s], positions of the seven joints (T,
    7) of the leader and of the follower [rad]."""

    times: np.ndarray
    leader: np.ndarray
    follower: np.ndarray

    @property
    def swing(self) -> float:
        """Largest angle by which the hand has led a joint [rad]."""
        return float(np.ptp(self.leader, axis=0).max())

    @property
    def error(self) -> float:
        """Largest distance between a joint of the follower and of the leader [rad]."""
        return float(np.abs(self.leader - self.follower).max())


def teleoperate(
    seconds: float,
    feedback: float = 0.0,
    parameters: dict[str, Any] | None = None,
    say: Callable[[str], None] = lambda text: None,
) -> LeaderRecording:
    """Lead for `seconds`. feedback: stiffness with which the hand feels the follower [N·m/rad]; 0 =
    none. parameters: of both nodes, in addition to those above."""
    with tempfile.TemporaryDirectory(prefix="warpdyn_teleoperation_") as folder:
        rclpy.init()
        children: list[Child] = []
        client = Client("observer", children)

        def start(module: str, values: dict[str, Any], space: str = "") -> Child:
            remappings = {"__ns": f"/{space}"} if space else {}
            if module == "demo.plant":
                remappings["~/commands"] = "warpdyn/commands"
            log = Path(folder) / f"{module}_{space}.log"
            child = Child(f"ros2_node.{module}", ros_arguments(values, remappings), log)
            children.append(child)
            return child

        laws = {"leader": {**leader(), "law_inputs.coupling": feedback}, "follower": follower()}
        try:
            for arm in ARMS:
                start("demo.plant", plant(), arm)
                start("node", {**laws[arm], **(parameters or {})}, arm)
            start("demo.teleoperation", {"joints": JOINTS, "feedback": feedback > 0.0})
            hand = start("demo.teleoperation_leader", {"command_joints": JOINTS})
            client.until(lambda: "leading" in hand.log.read_text(), "torques", BUSY)
            say("both arms have torques: the hand leads")
            led = _record_arms(client, seconds)
        finally:
            # The last process started ends first, because it uses the earlier ones.
            for child in reversed(children):
                child.end()
            client.close()
            rclpy.try_shutdown()
        return led


def _record_arms(client: Client, seconds: float) -> LeaderRecording:
    """Record the joints of both arms at each state of the leader, once both arms have one."""
    last: dict[str, np.ndarray] = {}
    rows: list[np.ndarray] = []
    times: list[float] = []

    def on_state(message: JointState, arm: str) -> None:
        names = list(message.name)
        last[arm] = np.array([message.position[names.index(joint)] for joint in JOINTS])
        if arm == "leader" and len(last) == len(ARMS):
            stamp = message.header.stamp
            times.append(stamp.sec + 1e-9 * stamp.nanosec)
            rows.append(np.stack([last[each] for each in ARMS]))

    for arm in ARMS:
        client.node.create_subscription(
            JointState,
            f"{arm}/joint_states",
            lambda message, arm=arm: on_state(message, arm),
            QoSProfile(depth=10),
        )
    client.until(lambda: times and times[-1] - times[0] >= seconds, "the hand's way", BUSY)
    trace = np.array(rows)
    return LeaderRecording(np.array(times) - times[0], trace[:, 0], trace[:, 1])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seconds", type=float, default=8.0, help="how long the hand leads [s]")
    parser.add_argument(
        "--feedback", type=float, default=0.0, help="how hard it feels the follower [N·m/rad]"
    )
    parser.add_argument("--domain", type=int, default=1 + os.getpid() % 100, help="ROS_DOMAIN_ID")
    options = parser.parse_args()
    on_this_machine(options.domain)
    try:
        led = teleoperate(
            options.seconds, options.feedback, say=lambda text: print(f"  {text}", flush=True)
        )
    except ProcessError as error:
        print(f"the demo stopped: {error}", file=sys.stderr)
        return 2
    print(
        f"  {led.times[-1]:.1f} s: the hand led a joint by {np.degrees(led.swing):.1f} deg; the "
        f"follower was {np.degrees(led.error):.2f} deg off at most"
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
