"""Bare echo, the reference for the node's latency: `python -m benchmarks.ros2.echo events`."""

from __future__ import annotations

import sys

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.experimental import EventsExecutor
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState


def echo(executor: str) -> None:
    """A node that returns every JointState unchanged."""
    rclpy.init()
    node = rclpy.create_node("echo")
    back = node.create_publisher(JointState, "echo/back", QoSProfile(depth=200))
    node.create_subscription(JointState, "echo/joint_states", back.publish, QoSProfile(depth=200))
    runner = EventsExecutor() if executor == "events" else SingleThreadedExecutor()
    runner.add_node(node)
    print("ready: echo", flush=True)
    while rclpy.ok():
        runner.spin_once(timeout_sec=0.2)


if __name__ == "__main__":
    echo(sys.argv[1])
