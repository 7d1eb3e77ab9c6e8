"""A node in this process, and messages for it."""

from __future__ import annotations

import time
from types import SimpleNamespace

import pytest
from builtin_interfaces.msg import Time
from fleets import MODEL, NAMES, Q
from rclpy.parameter import Parameter as RosParameter
from sensor_msgs.msg import JointState

import warpdyn as wd
from ros2_node.node import WarpdynNode
from ros2_node.ros.topics import TorqueTopics

REST = wd.rnea(MODEL, Q, 0 * Q, 0 * Q)


@pytest.fixture(scope="module", name="make")
def node_maker(context):
    """Create nodes from parameters (`payload__mass` for payload.mass) and remove them at the
    end."""
    nodes = []

    def make_node(**values):
        values = {
            "allow_several_publishers": True,
            **values,
        }  # nodes of other tests are not destroyed
        overrides = [RosParameter(k.replace("__", "."), value=v) for k, v in values.items()]
        nodes.append(WarpdynNode(context=context, parameter_overrides=overrides))
        return nodes[-1]

    yield make_node
    for node in nodes:
        node.destroy_node()


def ready(node):
    """Wait until the node's model runs, and return its robots."""
    end = time.monotonic() + 60.0
    while node._models.fleet is None:
        node._watch()
        assert node.exit_code is None and time.monotonic() < end
        time.sleep(0.002)
    return node._models.fleet.robots


@pytest.fixture(scope="module", name="panda")
def panda_node(make):
    # The tests' stamps are seconds that begin at zero.
    node = make(
        robot_description_file="panda", ramp_time=0.0, state_timeout=10.0, max_state_age=0.0
    )
    ready(node)
    return node


@pytest.fixture(name="sent")
def sent_messages(panda, monkeypatch):
    """Commands and torques that the node would publish, by robot."""
    out = SimpleNamespace(commands=[], torques=[])
    for topics in panda._topics:
        monkeypatch.setattr(topics, "send_command", lambda c: out.commands.append(c.copy()))
        monkeypatch.setattr(
            topics, "send_torque", lambda t, stamp: out.torques.append((t.copy(), stamp))
        )
    monkeypatch.setattr(TorqueTopics, "unheard", "")
    yield out
    (robot,) = panda._models.fleet.robots
    robot.disable(0.0)
    while robot.stop_step(1e12) is not None:
        pass
    robot.reset()


def state(q=Q, names=NAMES, sec=0):
    message = JointState(name=list(names), position=[float(x) for x in q])
    message.header.stamp = Time(sec=sec)
    return message


def answer(node, service, kind, **fields):
    """The success flag and message of a service's callback."""
    robots = list(range(len(node._topics)))
    return getattr(node._gate, service)(robots, kind.Request(**fields))
