"""A simulated robot with a free base to test a policy: warpdyn simulates it on a floor, in a
process that behaves like a robot's driver.

It publishes joint_states, odom, /clock and, if tf2_msgs is installed, /tf of the base, and applies
the torques of ~/commands (remap it to the node's). A hand holds the robot in its stance until
torques have arrived for GRIP seconds; ~/reset puts it back there. Time is the simulation's, at most
as fast as real time. While torques arrive, every state waits for its answer, so a busy machine
makes the robot slow but not clumsy.
"""

from __future__ import annotations

import sys
import time
from array import array
from typing import Any

import numpy as np
from builtin_interfaces.msg import Time
from nav_msgs.msg import Odometry
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String
from std_srvs.srv import Trigger

import warpdyn as wd

from ..ros.messages import transform
from ..ros.topics import LATCHED, MANY
from .named_robot import urdf_text
from .running import Rounds, run_demo_node

GRIP = 1.5
"""Time for which torques must arrive before the hand lets go [s]."""
PATIENCE = 0.5
"""Longest wait of a state for its torques [s]; after it, torques count as ended."""
LONGEST_STEP = 0.002
"""Largest step of the simulation [s]."""
ARMATURE, VISCOUS = 0.01, 0.1
"""Rotor inertia [kg·m²] and friction [N·m·s/rad] of the joints, which descriptions leave out."""
DEEP = QoSProfile(depth=10)


class Walker(Node):
    """The robot, its hand and its messages; parameters `robot` (bundled, or a URDF file), `rate`
    [Hz], `pose_joints` and `pose` (its stance; by default its configuration "home")."""

    def __init__(self, **options: Any) -> None:
        super().__init__("walker", **options)
        declare = self.declare_parameter
        robot = str(declare("robot", "quadruped").value)
        text = urdf_text(robot)
        bundled = robot in wd.robot_names()
        model = (
            wd.load_robot(robot, floating_base=True)
            if bundled
            else wd.load_urdf(text, floating_base=True)
        )
        self.period = 1.0 / float(declare("rate", 250.0).value or 250.0)
        names: list[str] = list(declare("pose_joints", [""]).value or ())
        pose: list[float] = list(declare("pose", [0.0]).value or ())
        substeps = max(round(self.period / LONGEST_STEP), 1)
        moved = model.with_armature(ARMATURE).with_friction(viscous=VISCOUS)
        self.sim = wd.Simulation(
            moved, 1, dt=self.period / substeps, substeps=substeps, dtype="float64"
        )
        if names[:1] != [""]:
            self._stand(dict(zip(names, pose, strict=True)))
        self.names = list(model.joint_names)
        self.order: list[str] = list(declare("command_joints", self.names).value or ())
        self.columns = np.array(model.v_indices(self.order))
        self.now = 0.0
        """Simulated time [s]."""
        self.held, self.flowing, self.answered = True, False, False
        self._flowing_since = 0.0
        self._clock_topic = self.create_publisher(Clock, "/clock", DEEP)
        self._odometry = self.create_publisher(Odometry, "odom", DEEP)
        self._states = self.create_publisher(JointState, "joint_states", DEEP)
        self.create_publisher(String, "robot_description", LATCHED).publish(String(data=text))
        # tf2_msgs is optional: without it the walker publishes no transforms.
        try:
            from tf2_msgs.msg import TFMessage

            self._frames: Any = self.create_publisher(TFMessage, "/tf", MANY)
            self._frame = TFMessage
        except ImportError:
            self._frames = None
        self._state = JointState(name=self.names)
        self._place = Odometry(child_frame_id=model.root)
        self._place.header.frame_id = "odom"
        self.create_subscription(Float64MultiArray, "~/commands", self._on_commands, DEEP)
        self.create_service(Trigger, "~/reset", self._on_reset)

    def _stand(self, pose: dict[str, float]) -> None:
        """Start in this pose, with the lowest contact point on the floor."""
        model, start = self.sim.model, self.sim.start
        for name, value in pose.items():
            start[0, model.q_indices([name])[0]] = value
        heights = wd.point_heights(model, start, points=self.sim.points)
        start[0, 2] -= float(np.min(heights))
        self.sim.reset()

    def _on_commands(self, message: Float64MultiArray) -> None:
        command = np.frombuffer(message.data)
        if len(command) != len(self.columns) or not np.isfinite(command).all():
            self.get_logger().error("commands dropped", throttle_duration_sec=1.0)
            return
        self.sim.tau[0, self.columns] = command
        if not self.flowing:
            self.flowing, self._flowing_since = True, self.now
        self.answered = True

    def _on_reset(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        self.sim.reset()
        self.held, self._flowing_since = True, self.now
        response.success = True
        return response

    def step(self) -> None:
        """Run one period: move unless held, and publish the state."""
        self.now += self.period
        if self.held and self.flowing and self.now - self._flowing_since > GRIP:
            self.held = False
            self.get_logger().info("the hand lets go")
        if not self.held:
            self.sim.step()
        self.answered = False
        self.publish()

    def publish(self) -> None:
        """Publish the time, the base's pose and velocity, and the joints."""
        seconds = int(self.now)
        stamp = Time(sec=seconds, nanosec=int((self.now - seconds) * 1e9))
        q, v = self.sim.q[0], self.sim.v[0]
        self._clock_topic.publish(Clock(clock=stamp))
        place, speed = self._place.pose.pose, self._place.twist.twist
        p, o = place.position, place.orientation
        p.x, p.y, p.z, o.x, o.y, o.z, o.w = q[:7].tolist()
        linear, angular = speed.linear, speed.angular
        linear.x, linear.y, linear.z, angular.x, angular.y, angular.z = v[:6].tolist()
        self._place.header.stamp = self._state.header.stamp = stamp
        self._odometry.publish(self._place)
        if self._frames is not None and self._frames.get_subscription_count():
            moved = transform("odom", self._place.child_frame_id, q[:7].tolist(), stamp)
            self._frames.publish(self._frame(transforms=[moved]))
        self._state.position = array("d", q[7:].tobytes())
        self._state.velocity = array("d", v[6:].tobytes())
        self._states.publish(self._state)

    def wait(self, executor: Any) -> None:
        """Wait for the torques of the last state, as long as torques arrive."""
        end = time.monotonic() + PATIENCE
        while self.flowing and not self.answered:
            executor.spin_once(timeout_sec=0.01)
            self.flowing = self.answered or time.monotonic() < end


def play(walker: Walker, rounds: Rounds) -> None:
    """Simulate until the node is to end, at most in real time."""
    walker.sim.step()  # compile its kernel before anything listens
    walker.sim.reset()
    walker.get_logger().info(f"simulating {walker.sim.model.name}, held until torques come")
    due = time.monotonic()
    while not rounds.ended():
        walker.step()
        due = max(due + walker.period, time.monotonic())  # a late step is not made up for
        walker.wait(rounds.executor)
        rounds.rest(due)


def main(args: list[str] | None = None) -> int:
    """Simulate until SIGINT or SIGTERM, at most in real time."""
    return run_demo_node(Walker, play, args)


if __name__ == "__main__":
    sys.exit(main())
