"""A node with a law, and a peer that sends its states and references."""

from __future__ import annotations

import numpy as np
import pytest
from driven_arm import READY
from harness import NodeProcess, Peer
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

import warpdyn as wd

MODEL = wd.load_robot("panda")

NAMES = list(MODEL.joint_names)

REST = np.zeros(8)

STIFFNESS = np.array([600.0, 600.0, 400.0, 400.0, 100.0, 80.0, 40.0, 500.0])


class Side:
    """A node with a law, in its own namespace, and a peer that sends it a constant state."""

    def __init__(self, context, space: str, parameters: dict) -> None:
        base = {"robot_description_file": "panda", "ramp_time": 0.05}
        arguments = ["-r", f"__ns:=/{space}"]
        self.process = NodeProcess({**base, **parameters}, arguments).__enter__()
        self.process.wait_for("ready: panda")
        self.peer = Peer(context, space)
        self.q, self.v = READY.copy(), REST.copy()
        self.publishers: dict = {}
        self.peer.wait_until_matched()

    def send(self):
        self.peer.send(NAMES, self.q, self.v)

    def publish(self, topic, message):
        if topic not in self.publishers:
            made = self.peer.node.create_publisher(type(message), self.peer.own + topic, 1)
            self.publishers[topic] = made
            self.peer.wait(made.get_subscription_count, f"{topic} matched", each=self.send)
        self.publishers[topic].publish(message)

    def wait_for_torque(self, expected, what, enabled=True):
        """Wait until the node sends this."""
        peer = self.peer

        def last():
            if enabled:
                return peer.commands[-1] if peer.commands else np.nan
            return peer.torques[-1].effort if peer.torques else np.nan

        peer.wait(lambda: np.allclose(last(), expected, atol=1e-7), what, each=self.send)

    def begin(self):
        """Enable the robot at READY, whatever reference a previous test has left."""

        def enable():
            self.publish("reference", reference(READY))
            return self.peer.enable(each=self.send).success

        self.peer.wait(enable, "enabling", each=self.send)

    def refusal_count(self, reason):
        return int(self.peer.values.get(f"noticed.{reason}", 0))

    def wait_for_refusal(self, topic, message, reason):
        """Send the message until it is counted. Each one is counted once."""
        before = self.refusal_count(reason)

        def again():
            self.publish(topic, message)
            self.send()

        self.peer.wait(lambda: self.refusal_count(reason) > before, reason, each=again)

    def close(self):
        self.peer.close()
        self.process.__exit__(None, None, None)


@pytest.fixture(scope="module", name="joints")
def joint_law(context):
    parameters = {
        "law": "joint_impedance",
        "law_inputs.stiffness": STIFFNESS.tolist(),
        "law_inputs.damping_ratio": 0.0,
        "law_inputs.damping": 2.0,
        "reference_timeout": 0.0,
        "max_tracking_error": 0.3,
    }
    side = Side(context, "joints", parameters)
    yield side
    side.close()


def reference(positions, velocities=(), names=NAMES):
    point = JointTrajectoryPoint(positions=list(positions), velocities=list(velocities))
    return JointTrajectory(joint_names=list(names), points=[point])
