"""robot_description over real DDS: missing, bad, huge, or changed while enabled."""

from __future__ import annotations

import os

import numpy as np
import pytest
from harness import PATIENCE, NodeProcess, Peer
from oracle import ROBOTS, Oracle
from std_msgs.msg import String
from std_srvs.srv import Trigger

PANDA = (ROBOTS / "panda.urdf").read_text()
PENDULUM = (ROBOTS / "double_pendulum.urdf").read_text()
LINK = """<link name="{}"><inertial><mass value="1"/>
  <inertia ixx="{}" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
JOINT = """<joint name="{}" type="{}"><parent link="{}"/><child link="{}"/><axis xyz="0 1 0"/>
  <limit lower="-1" upper="1" velocity="1" effort="10"/></joint>"""


def chain(links, moving, inertia="1"):
    """A chain of links whose first joints move, followed by comments that make the text long."""
    parts = [LINK.format(f"l{i}", inertia) for i in range(links)]
    parts += [
        JOINT.format(f"j{i}", "revolute" if i < moving else "fixed", f"l{i}", f"l{i + 1}")
        for i in range(links - 1)
    ]
    return f'<robot name="chain">{"".join(parts)}</robot>'


TWO = LINK.format("a", 1) + LINK.format("b", 1)
CIRCLE = JOINT.format("x", "revolute", "a", "b") + JOINT.format("y", "revolute", "b", "a")
LOOP = f'<robot name="loop">{TWO}{CIRCLE}</robot>'
REFUSED = {
    "empty": ("", "empty"),
    "only spaces": ("   \n", "empty"),
    "a file name": ("/robots/panda.urdf", "send the text"),
    "malformed": (PANDA[: len(PANDA) // 2], ""),
    "not URDF": ("<html><body>404</body></html>", ""),
    "looped": (LOOP, ""),
    "NaN inertia": (chain(3, 2, "nan"), ""),
    "no moving joint": (chain(3, 0), "no moving joint"),
    "binary": ("<\x01\x02\ufffd" * 100, ""),
}
LARGE = {
    "500 links": (chain(500, 20), 20),
    "5 MB": (PENDULUM.replace("</robot>", "<!--" + "x" * 5_000_000 + "--></robot>"), 2),
}


@pytest.fixture(scope="module")
def node():
    with NodeProcess({"ramp_time": 0.05}, ["-r", "__ns:=/topic"]) as node:
        node.wait_for("waiting for robot_description")
        yield node


@pytest.fixture(scope="module")
def topic_peer(context, node):
    peer = Peer(context, "topic")
    peer.wait(peer.descriptions.get_subscription_count, "description matched")
    yield peer
    peer.close()


@pytest.fixture
def described_peer(topic_peer):
    topic_peer.begin()
    topic_peer.wait(lambda: topic_peer.diagnostics, "diagnostics")
    return topic_peer


def test_without_a_model_nothing_is_enabled(described_peer, node):
    answer = described_peer.enable()
    assert not answer.success and "no model" in answer.message
    assert "waiting for a model" in described_peer.message
    assert described_peer.call("reload", Trigger).success is False
    described_peer.send(["a"], [1.0])


@pytest.mark.parametrize("case", REFUSED)
def test_a_bad_description_is_refused_with_a_reason(case, described_peer, node):
    text, reason = REFUSED[case]
    count = int(described_peer.values.get("noticed.description_refused", "0"))
    described_peer.descriptions.publish(String(data=text))
    described_peer.wait_for_value("noticed.description_refused", lambda n: int(n) > count)
    refusal = described_peer.values["model refused"]
    assert len(refusal) > 20 and reason in refusal, refusal
    assert "model refused" in described_peer.message and node.alive


@pytest.mark.parametrize("case", LARGE)
def test_a_large_description_is_accepted(case, described_peer, node):
    text, dof = LARGE[case]
    described_peer.descriptions.publish(String(data=text))
    name = "chain" if case == "500 links" else "double_pendulum"
    described_peer.wait_for_value("model", lambda m: m == name)
    assert len(described_peer.values["command joints"].split()) == dof


def test_a_description_changes_while_enabled(described_peer, node):
    """A bad one leaves the arm enabled with the old model. A good one first stops it, then replaces
    the model, and the robot is disabled."""
    panda = Oracle("panda")
    names = [*(f"panda_joint{i}" for i in range(1, 8)), "panda_finger_joint1"]
    q = np.array([0.3, -0.7, 0.2, -2.0, 0.4, 1.5, 0.1, 0.02])
    described_peer.descriptions.publish(String(data=PANDA))
    described_peer.wait_for_value("model", lambda m: m == "panda")

    def send():
        described_peer.send(names, q)

    described_peer.wait(lambda: described_peer.enable(each=send).success, "enabling", each=send)
    expected = panda.torque(names, q)
    described_peer.wait(
        lambda: (
            described_peer.commands
            and np.allclose(described_peer.commands[-1], expected, atol=1e-9)
        ),
        "torque",
        each=send,
    )
    described_peer.descriptions.publish(String(data=LOOP))
    described_peer.wait(lambda: "model refused" in described_peer.message, "refusal", each=send)
    assert described_peer.values["enabled"] == "true" and described_peer.values["model"] == "panda"
    np.testing.assert_allclose(described_peer.commands[-1], expected, atol=1e-9)

    heavier = PANDA.replace('<mass value="0.73', '<mass value="1.73')
    assert heavier != PANDA
    described_peer.descriptions.publish(String(data=heavier))
    described_peer.wait_for_value("enabled", lambda v: v == "false", each=send)
    described_peer.wait(
        lambda: not np.any(described_peer.commands[-5:]), "five zero commands", each=send
    )
    described_peer.wait(
        lambda: not np.allclose(described_peer.torques[-1].effort, expected, atol=1e-3),
        "the new model",
        each=send,
    )
    assert not np.any(described_peer.commands[-5:]), "the new model begins disabled"
    commands = np.array(described_peer.commands)
    assert np.isfinite(commands).all() and (np.abs(commands) <= 100.0).all()
    assert described_peer.call("reload", Trigger, each=send).success


def test_a_volatile_description_is_reported(context):
    """A publisher without transient local never reaches the node, and the diagnostics say why."""
    with NodeProcess() as node:
        node.wait_for("waiting for robot_description")
        peer = Peer(context)
        late = peer.node.create_publisher(String, "robot_description", 1)
        peer.wait(lambda: "QoS mismatch" in peer.message, "QoS mismatch")
        assert "DURABILITY" in peer.message and "robot_description" in peer.message
        peer.node.destroy_publisher(late)
        peer.wait(lambda: "QoS mismatch" not in peer.message, "the end of the warning")
        peer.close()


@pytest.mark.parametrize(
    "parameters",
    [
        {"robot_description_file": "/no/such/file.urdf"},
        {"robot_description": "<robot"},
        {"robot_description_file": "/"},
    ],
    ids=["no file", "bad text", "folder"],
)
def test_a_bad_description_from_a_parameter_ends_the_node(parameters):
    with NodeProcess(parameters) as node:
        assert node.process.wait(PATIENCE) == 2
        assert "model refused: " in node.text() and "Traceback" not in node.text()


def test_a_pipe_or_device_as_description_ends_the_node_at_once(tmp_path):
    """A line says what it is. Nothing is read from it."""
    os.mkfifo(tmp_path / "pipe.urdf")
    for file in (str(tmp_path / "pipe.urdf"), "/dev/zero"):
        with NodeProcess({"robot_description_file": file}) as node:
            assert node.process.wait(PATIENCE) == 2
            assert f"model refused: {file}: is a pipe, a socket or a device" in node.text()


def test_a_xacro_file_is_accepted_as_description(tmp_path, context):
    """The package xacro expands it."""
    text = PENDULUM.replace("<robot ", '<robot xmlns:xacro="http://www.ros.org/wiki/xacro" ', 1)
    text = text.replace("</robot>", '<xacro:property name="unused" value="1"/></robot>')
    file = tmp_path / "pendulum.urdf.xacro"
    file.write_text(text)
    with NodeProcess({"robot_description_file": str(file)}) as node:
        node.wait_for("ready: double_pendulum")
