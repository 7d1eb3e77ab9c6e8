"""Live demo of a walking policy: the node and a simulated quadruped, over local DDS.

Both run in separate processes. The demo reports how the robot followed cmd_vel.

    python -m ros2_node.demo.walking --policy quadruped_velocity --seconds 20
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import Twist
from nav_msgs.msg import Odometry
from rclpy.qos import QoSProfile

from .processes import Child, Client, ProcessError, on_this_machine, ros_arguments

COMMANDS = "warpdyn/commands"
RAMP_TIME = 0.5
SETTLING = 1.5
"""Time in which a robot settles after a change of command [s]; errors count only after it."""
BUSY = 300.0
"""Longest time for the first seconds of a held robot on a busy machine [s]."""
AVERAGE = 0.5
"""Time over which speeds are averaged [s], because a trotting trunk swings."""


class Leg(NamedTuple):
    """A part of the course: duration, and speeds forward, sideways [m/s] and turning [rad/s]."""

    seconds: float
    forward: float = 0.0
    sideways: float = 0.0
    turning: float = 0.0


COURSE = (Leg(4, 0.6), Leg(4, 0.4, 0.0, 0.6), Leg(4, 0.0, 0.4), Leg(4, -0.5), Leg(4))


@dataclass(frozen=True)
class Walk:
    """Recording of the odometry: times (T,) [s], place (T, 7), speed (T, 6) in the base's axes, and
    the commands at these times (T, 3). diagnostics: the node's last values, by key."""

    times: np.ndarray
    place: np.ndarray
    speed: np.ndarray
    commanded: np.ndarray
    diagnostics: dict[str, str]

    @property
    def fell(self) -> bool:
        """True if the base was tilted by more than 60 degrees, or was below half of its first
        height."""
        x, y = self.place[:, 3], self.place[:, 4]
        upright = 1.0 - 2.0 * (x * x + y * y)
        low = self.place[:, 2] < 0.5 * self.place[0, 2]
        return bool((upright < 0.5).any() or low.any())

    @property
    def errors(self) -> tuple[float, float]:
        """Mean error of the horizontal velocity [m/s], and of the turning speed [rad/s], relative
        to the command, once a command has settled."""
        n = max(round(AVERAGE / float(np.median(np.diff(self.times)))), 1)
        moved = np.stack([self.speed[:, 0], self.speed[:, 1], self.speed[:, 5]], axis=1)
        means = np.stack([np.convolve(x, np.ones(n) / n, "valid") for x in moved.T], axis=1)
        off = means - self.commanded[n - 1 :]
        changes = self.times[1:][np.any(np.diff(self.commanded, axis=0), axis=1)]
        begun = np.concatenate([self.times[:1], changes])
        since = self.times - begun[np.searchsorted(begun, self.times, side="right") - 1]
        off = off[since[n - 1 :] > SETTLING]
        return float(np.linalg.norm(off[:, :2], axis=1).mean()), float(np.abs(off[:, 2]).mean())


def walk(
    legs: Sequence[Leg],
    policy: str,
    node: dict[str, Any] | None = None,
    plant: dict[str, Any] | None = None,
    say: Callable[[str], None] = lambda text: None,
) -> Walk:
    """Walk these legs. `node` and `plant` are parameters of the two processes."""
    with tempfile.TemporaryDirectory(prefix="warpdyn_walk_") as folder:
        robot = {"robot_description_file": "quadruped", "policy": policy, "use_sim_time": True}
        values = {**robot, "ramp_time": RAMP_TIME, "start_enabled": True, **(node or {})}
        rclpy.init()
        children: list[Child] = []
        client = Client("course", children)
        try:
            arguments = ros_arguments(plant or {}, {"~/commands": COMMANDS})
            quadruped = Child("ros2_node.demo.walker", arguments, Path(folder) / "walker.log")
            children.append(quadruped)
            quadruped.wait_for("simulating")
            controller = Child("ros2_node.node", ros_arguments(values), Path(folder) / "node.log")
            children.append(controller)
            say(f"node ready after {controller.wait_for('ready:'):.1f} s")
            found = _record_walk(client, legs, quadruped, say)
            controller.check()
        finally:
            for child in children:
                child.end()
            client.close()
            rclpy.try_shutdown()
        return found


def _record_walk(
    client: Client, legs: Sequence[Leg], quadruped: Child, say: Callable[[str], None]
) -> Walk:
    """Record the odometry while cmd_vel follows the legs, in the simulation's time."""
    rows: list[list[float]] = []
    status: dict[str, str] = {}
    command = np.zeros(3)

    def on_odometry(message: Odometry) -> None:
        stamp, place, speed = message.header.stamp, message.pose.pose, message.twist.twist
        p, o, v, w = place.position, place.orientation, speed.linear, speed.angular
        row = [stamp.sec + 1e-9 * stamp.nanosec, p.x, p.y, p.z, o.x, o.y, o.z, o.w]
        rows.append([*row, v.x, v.y, v.z, w.x, w.y, w.z, *command])

    def on_diagnostics(message: DiagnosticArray) -> None:
        for each in message.status:
            status.update({value.key: value.value for value in each.values})

    deep = QoSProfile(depth=1000)
    client.node.create_subscription(Odometry, "odom", on_odometry, deep)
    client.node.create_subscription(DiagnosticArray, "/diagnostics", on_diagnostics, deep)
    speeds = client.node.create_publisher(Twist, "cmd_vel", QoSProfile(depth=1))
    client.until(lambda: "lets go" in quadruped.log.read_text(), "torques", BUSY)
    client.until(lambda: rows, "odometry")
    # Earlier odometry is from the robot in the hand's grip, so the recording starts again.
    rows.clear()
    client.until(lambda: rows, "odometry")
    until = rows[0][0]
    for leg in legs:
        until += leg.seconds
        command[:] = leg[1:]
        message = Twist()
        message.linear.x, message.linear.y, message.angular.z = command.tolist()
        patience = 60.0 + 30.0 * leg.seconds
        sent = 0.0

        # cmd_vel is repeated every 0.05 simulated seconds.
        def over(until: float = until, message: Twist = message) -> bool:
            nonlocal sent
            if rows[-1][0] - sent > 0.05:
                sent = rows[-1][0]
                speeds.publish(message)
            return rows[-1][0] >= until

        client.until(over, f"{leg.seconds:g} simulated seconds", patience)
        say(f"after {leg}: at {np.round(rows[-1][1:4], 2)} m")
    trace = np.array(rows)
    return Walk(trace[:, 0], trace[:, 1:8], trace[:, 8:14], trace[:, 14:], status)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--policy", default="quadruped_velocity", help="ONNX file, or a name")
    parser.add_argument("--seconds", type=float, default=20.0, help="how long the course is [s]")
    parser.add_argument("--domain", type=int, default=1 + os.getpid() % 100, help="ROS_DOMAIN_ID")
    options = parser.parse_args()
    on_this_machine(options.domain)
    share = options.seconds / sum(leg.seconds for leg in COURSE)
    legs = [leg._replace(seconds=share * leg.seconds) for leg in COURSE]
    try:
        found = walk(legs, options.policy, say=lambda text: print(f"  {text}", flush=True))
    except ProcessError as error:
        print(f"the demo stopped: {error}", file=sys.stderr)
        return 2
    speed, turning = found.errors
    print(
        f"  {found.times[-1] - found.times[0]:.1f} s, "
        f"{'it FELL' if found.fell else 'no fall'}; mean errors {speed:.3f} m/s, {turning:.3f} rad/s"
    )
    return int(found.fell)


if __name__ == "__main__":
    raise SystemExit(main())
