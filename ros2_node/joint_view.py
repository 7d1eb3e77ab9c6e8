"""A robot in the browser at the pose of its joint_states, with its gravity torques.

Robot: parameter `robot`, or the topic robot_description. A free base (`floating_base`) follows
`odom`. With `bag` it plays a recording instead.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import rclpy
from nav_msgs.msg import Odometry
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import JointState
from std_msgs.msg import String

import warpdyn as wd
from warpdyn import Model, viewer
from warpdyn.viewer.overlays import Overlays
from warpdyn.viewer.trajectory_files import read_trajectory

from .control.robot_description import load_model, read_description
from .control.settings.node_settings import Settings
from .control.states.base_state import BaseMotion, BaseState
from .control.states.joint_states import JointStates
from .control.states.state import State
from .ros.process import BAD_START, make_node
from .ros.serialized_messages import nanoseconds
from .ros.shutdown import ending_signals
from .ros.streams import tolerate_lost_output
from .ros.topics import LAST, LATCHED

TORQUES = 10.0
"""Rate at which torques are drawn [Hz]; numbers that change faster cannot be read."""


class RobotOnPage:
    """A model, its latest state, and its place on the page."""

    def __init__(self, page: viewer.Viewer, model: Model, settings: Settings) -> None:
        self.page, self.model = page, model
        state = State.of_robots(model, 1).row(0)
        self.base = BaseState(model.root) if model.floating_base else None
        self.states = JointStates(model, settings, state, Counter())
        view = page.add(model)
        state.q[:] = view.q[0]
        self.overlays = Overlays(page.stage, view)
        page.look()

    def show(self) -> None:
        """Show the robot at its latest state."""
        q = self.states.q.copy()
        if self.base is not None and np.isfinite(self.base.arrived):
            order = [3, 4, 5, 6] if self.model.quaternion == "xyzw" else [6, 3, 4, 5]
            q[:3], q[3:7] = self.base.place[:3], self.base.place[order]
        self.page.update(q)


class ViewNode(Node):
    """Node of the view. Parameters `robot`, `floating_base`, `host`, `port`, `rate` [Hz],
    `torques`; `bag` and its `topic`."""

    def __init__(self, **options: Any) -> None:
        super().__init__("warpdyn_view", **options)
        self.named = str(self._parameter("robot", ""))
        self._floating = bool(self._parameter("floating_base", False))
        host, port = self._parameter("host", "127.0.0.1"), self._parameter("port", 8080)
        rate = float(self._parameter("rate", 60.0))
        self._torques = bool(self._parameter("torques", True))
        self._bag = str(self._parameter("bag", ""))
        self._topic = str(self._parameter("topic", "/joint_states"))
        # A part of a robot may publish separately; the other joints then keep their positions.
        self._settings = Settings.of({"missing_joint_policy": "hold"})
        self.robot: RobotOnPage | None = None
        self._text = ""
        self._new = False
        self.page = viewer.Viewer(str(host), int(port))
        try:
            if self.named:
                self._begin(self._model(self.named, ""))
        except Exception:
            self.page.stop()
            raise
        if not self.named:
            self.create_subscription(String, "robot_description", self._on_description, LATCHED)
        if not self._bag:
            self.create_subscription(JointState, "joint_states", self._on_state, LAST)
            self.create_subscription(Odometry, "odom", self._on_odometry, LAST)
            self.create_timer(1.0 / rate, self._show)
        if self._torques:
            self.create_timer(1.0 / TORQUES, self._show_torques)

    def _parameter(self, name: str, default: Any) -> Any:
        return self.declare_parameter(name, default).value

    def _model(self, robot: str, text: str) -> Model:
        """The bundled robot or file of this name, or else the robot of a description."""
        if not self._floating:
            return load_model(Settings.of({"robot_description_file": robot}), text)
        if robot in wd.robot_names():
            return wd.load_robot(robot, floating_base=True)
        return wd.load_urdf(text or read_description(robot).decode(), floating_base=True)

    def _begin(self, model: Model) -> None:
        """Show a model instead of the previous one."""
        robot = RobotOnPage(self.page, model, self._settings)
        if self._bag:
            motion = read_trajectory(model, Path(self._bag), self._topic)
            self.page.trajectory(model, motion.q, motion.times)
            self.get_logger().info(f"{self._bag}: {motion.seconds:.3g} s of {self._topic}")
        if self._torques:
            robot.overlays.switch("gravity torques", True)
        self.robot, self._new = robot, True
        for remark in self.page.remarks:
            self.get_logger().info(remark)
        self.get_logger().info(f"{model.name} at {self.page.address}; Ctrl-C ends it")

    def _on_description(self, message: String) -> None:
        if message.data == self._text:
            return
        self._text = message.data
        try:
            self._begin(self._model("", message.data))
        except (ValueError, OSError) as error:
            self.get_logger().error(str(error))

    def _on_state(self, message: JointState) -> None:
        if self.robot is None:
            return
        reason = self.robot.states.read(
            message.name,
            message.position,
            message.velocity,
            nanoseconds(message.header.stamp),
            time.monotonic(),
        )
        self._note_read(reason)

    def _on_odometry(self, message: Odometry) -> None:
        if self.robot is None or self.robot.base is None:
            return
        place, speed = message.pose.pose, message.twist.twist
        p, o, v, w = place.position, place.orientation, speed.linear, speed.angular
        motion = BaseMotion((p.x, p.y, p.z), (o.x, o.y, o.z, o.w), (v.x, v.y, v.z), (w.x, w.y, w.z))
        stamp = nanoseconds(message.header.stamp)
        reason = self.robot.base.read(message.child_frame_id, motion, stamp, time.monotonic())
        self._note_read(reason)

    def _note_read(self, reason: str | None) -> None:
        """Note that a message was read, or log the reason why it was rejected."""
        if reason is None:
            self._new = True
        else:
            self.get_logger().warning(f"not shown: {reason}", throttle_duration_sec=5.0)

    def _show(self) -> None:
        if self.robot is not None and self._new:
            self._new = False
            self.robot.show()

    def _show_torques(self) -> None:
        if self.robot is not None:
            self.robot.overlays.update()


def main(args: list[str] | None = None) -> int:
    """Show until a signal of `ending.ENDING`."""
    tolerate_lost_output()
    stopped = ending_signals()
    rclpy.init(args=args, signal_handler_options=SignalHandlerOptions.NO)
    node: ViewNode | None = None
    try:
        node = make_node(ViewNode, "warpdyn_view", (ValueError, OSError))
        if node is None:
            return BAD_START
        while not stopped():
            rclpy.spin_once(node, timeout_sec=0.2)
    except ExternalShutdownException:
        pass
    finally:
        if node is not None:
            node.page.stop()
            node.destroy_node()
        rclpy.try_shutdown()
    return 0


if __name__ == "__main__":
    sys.exit(main())
