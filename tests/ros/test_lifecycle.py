"""The managed node, whose transitions are requested over DDS as by `ros2 lifecycle`."""

from __future__ import annotations

import signal

import numpy as np
import pytest
from harness import PATIENCE, ROOT, NodeProcess, Peer
from lifecycle_msgs.msg import State, Transition
from lifecycle_msgs.srv import ChangeState, GetAvailableTransitions, GetState
from std_msgs.msg import String

MODULE = "ros2_node.lifecycle_node"
NAMES = [*(f"panda_joint{i}" for i in range(1, 8)), "panda_finger_joint1"]
Q = np.array([0.3, -0.7, 0.2, -2.0, 0.4, 1.5, 0.1, 0.02])
SOON = {"robot_description_file": "panda", "ramp_time": 0.1}


class LifecyclePeer(Peer):
    """A peer that also requests transitions."""

    @classmethod
    def of_node(cls, context, space: str) -> LifecyclePeer:
        """The peer of a node in that namespace, after they have matched."""
        peer = cls(context, space)
        peer.wait(lambda: peer.diagnostics, "diagnostics")
        return peer

    def go(self, label: str, each=None) -> bool:
        answer = self.call(
            "change_state", ChangeState, each=each, transition=Transition(label=label)
        )
        return bool(answer.success)

    @property
    def state(self) -> str:
        return str(self.call("get_state", GetState).current_state.label)

    def show(self) -> None:
        self.send(NAMES, Q)

    def full(self) -> None:
        """Wait for full torque."""
        self.wait(
            lambda: self.commands and abs(self.commands[-1][3]) > 19.0, "torque", each=self.show
        )

    def check_stop(self) -> None:
        """Wait for five zeros, and check that no command follows, whatever states are sent."""
        self.wait(lambda: len(self.commands) > 5 and not np.any(self.commands[-5:]), "five zeros")
        number = len(self.commands)
        for _ in range(50):
            self.show()
            self.spin()
        assert len(self.commands) == number


def managed_process(space, parameters):
    return NodeProcess(parameters, ["-r", f"__ns:=/{space}"], module=MODULE)


@pytest.fixture(scope="module")
def managed_node(context):
    """One node for the tests of this module. Each test begins with it unconfigured."""
    with managed_process("kept", SOON) as node:
        node.wait_for("unconfigured")
        peer = LifecyclePeer.of_node(context, "kept")
        yield peer, node
        peer.close()


@pytest.fixture
def peer(managed_node):
    peer, node = managed_node
    yield peer
    for step in {"active": ("deactivate", "cleanup"), "inactive": ("cleanup",)}.get(peer.state, ()):
        assert peer.go(step)
    assert peer.state == "unconfigured" and node.alive
    peer.begin()


def active(peer):
    assert peer.go("configure") and peer.go("activate")
    peer.wait_until_matched()


def test_states_follow_the_transitions(peer):
    """They are those of the design of managed nodes. A transition that does not fit the state is
    refused."""
    assert peer.state == "unconfigured"
    assert not peer.go("activate"), "from unconfigured"
    assert peer.go("configure") and peer.state == "inactive"
    offered = peer.call("get_available_transitions", GetAvailableTransitions)
    labels = {t.transition.label for t in offered.available_transitions}
    assert {"activate", "cleanup", "shutdown"} <= labels
    assert peer.go("activate") and peer.state == "active"
    assert peer.go("deactivate") and peer.state == "inactive"
    assert peer.go("cleanup") and peer.state == "unconfigured"


def test_a_node_that_is_not_active_refuses_enable_with_the_remedy(peer):
    def waits(state, step):
        answer = peer.enable(each=peer.show)
        assert not answer.success
        expected = f"the node is {state}: ros2 lifecycle set /kept/warpdyn {step}"
        assert answer.message.removeprefix("there is no model yet: ") == expected
        peer.wait(lambda: expected in peer.message, "diagnostics", each=peer.show)
        assert not peer.torques and not peer.commands

    waits("unconfigured", "configure")
    assert peer.go("configure")
    waits("inactive", "activate")
    assert peer.go("activate")
    peer.wait(lambda: peer.torques, "torques", each=peer.show)
    assert not peer.commands, "active does not mean enabled"


def test_deactivate_ends_with_the_stop_sequence(peer):
    """Afterwards ~/enable is needed again."""
    active(peer)
    peer.wait(lambda: peer.enable(each=peer.show).success, "enabling", each=peer.show)
    peer.full()
    assert peer.go("deactivate", each=peer.show)
    peer.check_stop()
    assert peer.go("activate")
    peer.torques.clear()
    number = len(peer.commands)
    peer.wait(lambda: len(peer.torques) > 10, "torques", each=peer.show)
    assert len(peer.commands) == number
    peer.wait(lambda: peer.enable(each=peer.show).success, "enabling", each=peer.show)


@pytest.mark.parametrize("way", ["shutdown", "SIGINT"])
def test_shutdown_and_signals_stop_an_enabled_arm(way, context):
    """Activate starts the commands if start_enabled is set. Shutdown first deactivates."""
    with managed_process(way, {**SOON, "start_enabled": True}) as node:
        node.wait_for("unconfigured")
        peer = LifecyclePeer.of_node(context, way)
        active(peer)
        peer.full()
        if way == "shutdown":
            assert peer.go("shutdown", each=peer.show)
            peer.check_stop()
            assert peer.state == "finalized"
        node.process.send_signal(signal.SIGINT)
        peer.wait(lambda: node.process.poll() is not None, "the end of the process")
        assert node.process.returncode == 0
        peer.wait(lambda: not np.any(peer.commands[-5:]), "five zeros")
        assert "Traceback" not in node.text()
        peer.close()


def test_activating_again_with_start_enabled_starts_again(context):
    with managed_process("again", {**SOON, "start_enabled": True}) as node:
        node.wait_for("unconfigured")
        peer = LifecyclePeer.of_node(context, "again")
        active(peer)
        for _ in range(2):
            peer.full()
            assert peer.go("deactivate", each=peer.show)
            peer.check_stop()
            peer.commands.clear()
            assert peer.go("activate")
        peer.full()
        peer.close()


def test_configure_waits_for_the_description_of_the_topic(context):
    """Configure fails with one line if there is no description or a bad one.

    A good one that was published before is used.
    """
    with managed_process("described", {}) as node:
        node.wait_for("unconfigured")
        peer = LifecyclePeer.of_node(context, "described")
        assert not peer.go("configure")
        assert "no robot_description has come" in node.text()
        text = (ROOT / "warpdyn" / "robots" / "double_pendulum.urdf").read_text()
        peer.wait(peer.descriptions.get_subscription_count, "matching", PATIENCE)
        peer.descriptions.publish(String(data="<robot"))
        assert not peer.go("configure") and peer.state == "unconfigured"
        assert "model refused" in node.text()
        peer.descriptions.publish(String(data=text))
        peer.wait(lambda: peer.go("configure"), "the good one")
        node.wait_for("ready: double_pendulum")
        assert peer.call("get_state", GetState).current_state.id == State.PRIMARY_STATE_INACTIVE
        peer.close()
