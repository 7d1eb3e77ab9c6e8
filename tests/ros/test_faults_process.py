"""Signals, bad parameters and missing devices over real DDS: stop sequences, refusals and exit
codes."""

from __future__ import annotations

import os
import re
import signal
import time
from contextlib import contextmanager

import numpy as np
import pytest
from harness import GENEROUS, PATIENCE, ROOT, NodeProcess, Peer
from std_msgs.msg import Float64MultiArray, String

NAMES = [*(f"panda_joint{i}" for i in range(1, 8)), "panda_finger_joint1"]

Q = np.array([0.3, -0.7, 0.2, -2.0, 0.4, 1.5, 0.1, 0.02])


@contextmanager
def hangups(handler):
    """Set the SIGHUP handler that processes inherit within the block."""
    before = signal.signal(signal.SIGHUP, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGHUP, before)


@pytest.fixture(autouse=True)
def told_of_hangups():
    """Use the default SIGHUP handler, even if these tests run under nohup."""
    with hangups(signal.SIG_DFL):
        yield


@pytest.fixture
def soon():
    """Parameters of a panda that soon has full torque."""
    return {"robot_description_file": "panda", "ramp_time": 0.1}


def enable_node(peer, node):
    """Enable the node's panda and wait for full torque. Returns this torque."""
    node.wait_for("ready: panda")
    peer.wait_until_matched()

    def send():
        peer.send(NAMES, Q)

    assert peer.wait(lambda: peer.enable(each=send).success, "enabling", each=send)
    peer.wait(lambda: peer.commands and abs(peer.commands[-1][3]) > 19.0, "full torque", each=send)
    return np.array(peer.commands[-1])


def check_that_it_stops(peer, node, full, end):
    """Check that after `end` the torques ramp down and five zeros follow, and that the process
    ends."""
    seen = len(peer.commands)
    end()
    peer.wait(lambda: not node.alive, "the end", each=lambda: peer.send(NAMES, Q))
    peer.wait(lambda: not np.any(peer.commands[-5:]), "five zero commands")
    ramp = [np.abs(c[3]) for c in peer.commands[seen:]]
    assert any(0.05 * abs(full[3]) < x < 0.95 * abs(full[3]) for x in ramp), (
        "it ramps, it does not drop"
    )


@pytest.mark.parametrize(
    "number, executor",
    [
        (signal.SIGINT, "events"),
        (signal.SIGINT, "single"),
        (signal.SIGTERM, "events"),
        (signal.SIGTERM, "single"),
        (signal.SIGHUP, "events"),
        (signal.SIGQUIT, "single"),
    ],
    ids=lambda x: getattr(x, "name", x),
)
def test_a_signal_while_enabled_ends_with_the_stop_sequence(number, executor, context, soon):
    """SIGHUP and SIGQUIT behave like the others. The exit code is 0."""
    with NodeProcess({**soon, "executor": executor}) as node:
        peer = Peer(context)
        full = enable_node(peer, node)
        check_that_it_stops(peer, node, full, lambda: node.process.send_signal(number))
        assert node.process.returncode == 0
        assert "Traceback" not in node.text()
        peer.close()


@pytest.mark.parametrize("executor", ["events", "single"])
def test_a_process_that_was_frozen_stops_its_robot(executor, context, soon):
    """States are sent meanwhile, and the first one after SIGCONT must not hide the gap."""
    parameters = {"robot_description_file": "panda", "ramp_time": 0.05, "executor": executor}
    with NodeProcess(parameters) as node:
        peer = Peer(context)
        enable_node(peer, node)
        q = Q.copy()

        def send():
            peer.send(NAMES, q)

        assert peer.set_parameter("state_timeout", 0.5, each=send).successful
        peer.wait(
            lambda: abs(peer.commands[-1][3] - peer.commands[-2][3]) < 1e-9, "rest", each=send
        )
        node.process.send_signal(signal.SIGSTOP)
        peer.spin(0.2)
        before = len(peer.commands) - 1
        q[3] += 0.3  # the arm moves meanwhile
        end = time.monotonic() + 1.0
        while time.monotonic() < end:
            send()
            peer.spin(0.005)
        node.process.send_signal(signal.SIGCONT)
        peer.wait_for_message("state lost", each=send)
        sent = np.array(peer.commands[before:])
        sizes = sent[:, 3]
        np.testing.assert_allclose(  # no torque for a state after the gap
            sent, np.outer(sizes / sizes[0], sent[0]), atol=1e-9
        )
        assert sizes[0] > 19.0 and (np.diff(sizes) <= 1e-9).all()
        assert len(sizes) > 5 and not sizes[-5:].any()
        peer.close()


def test_a_closed_terminal_ends_with_the_stop_sequence(context, soon):
    """The node runs in its own terminal, which is closed. SIGHUP comes, and no output can be
    written."""
    with NodeProcess(soon, terminal=True) as node:
        peer = Peer(context)
        full = enable_node(peer, node)
        check_that_it_stops(peer, node, full, node.hang_up)
        assert node.process.returncode == 0
        peer.close()


def test_with_nohup_a_hangup_does_not_end_the_node(context, soon):
    """SIGHUP is ignored at the start and remains ignored. Commands continue."""
    with hangups(signal.SIG_IGN):
        node = NodeProcess(soon, fresh=True)
    with node:
        peer = Peer(context)
        enable_node(peer, node)
        node.process.send_signal(signal.SIGHUP)
        seen = len(peer.commands)
        peer.wait(
            lambda: len(peer.commands) > seen + 50, "commands", each=lambda: peer.send(NAMES, Q)
        )
        assert node.alive and abs(peer.commands[-1][3]) > 19.0
        peer.close()


def test_models_are_built_without_a_terminal(context, tmp_path):
    """The terminal is closed while Warp and the compiler want to print. The next description is
    still accepted."""
    caches = {"WARPDYN_CACHE_DIR": str(tmp_path / "programs"), "WARP_CACHE_PATH": str(tmp_path)}
    with hangups(signal.SIG_IGN):
        node = NodeProcess(terminal=True, WARPDYN_VERBOSE="1", **caches)
    with node:
        node.wait_for("waiting for robot_description")
        node.hang_up()
        peer = Peer(context)
        peer.wait(peer.descriptions.get_subscription_count, "description matched")
        text = (ROOT / "warpdyn" / "robots" / "double_pendulum.urdf").read_text()
        peer.descriptions.publish(String(data=text))
        peer.wait_for_value("model", lambda name: name == "double_pendulum")
        assert peer.set_parameter(
            "payload.link", re.findall(r'<link name="([^"]*)"', text)[-1]
        ).successful
        assert peer.set_parameter("payload.mass", 0.5).successful
        peer.wait(lambda: peer.diagnostics and "building" not in peer.message, "the payload")
        assert "refused" not in peer.message and node.alive
        peer.close()


@pytest.mark.parametrize(
    "way, executor, code",
    [("exception", "single", 1), ("shutdown", "single", 0), ("shutdown", "events", 0)],
)
def test_a_loop_that_breaks_ends_with_the_stop_sequence(way, executor, code, context, soon):
    """`spin_once` raises an exception, or another thread of the process calls
    `rclpy.shutdown()`."""
    path = os.pathsep.join((os.environ["PYTHONPATH"], str(ROOT / "tests" / "ros")))
    settings = {**soon, "executor": executor}
    with NodeProcess(settings, module="breaking_node", BREAKS_BY=way, PYTHONPATH=path) as node:
        peer = Peer(context)
        full = enable_node(peer, node)
        check_that_it_stops(peer, node, full, lambda: node.process.send_signal(signal.SIGUSR1))
        assert node.process.returncode == code
        assert ("the wait set is broken" in node.text()) == (way == "exception")
        peer.close()


@pytest.mark.parametrize("action, last", [("zero", 0.0), ("hold", 1.0)])
def test_stale_action_zero_and_hold_send_five_equal_commands(action, last, context):
    """They are zeros, or the last command."""
    with NodeProcess(
        {"robot_description_file": "panda", "stale_action": action, "ramp_time": 0}
    ) as node:
        node.wait_for("ready: panda")
        peer = Peer(context)
        peer.wait_until_matched()
        assert peer.wait(lambda: peer.enable(each=lambda: peer.send(NAMES, Q)).success, "enabling")
        peer.wait(lambda: len(peer.commands) > 20, "commands", each=lambda: peer.send(NAMES, Q))
        full = np.array(peer.commands[-1])
        peer.starve()
        number = len(peer.commands)
        peer.wait(lambda: not peer.message.startswith("stopping"), "the end of the sequence")
        np.testing.assert_allclose(peer.commands[-5:], np.tile(last * full, (5, 1)))
        assert len(peer.commands) >= number
        peer.close()


@pytest.mark.parametrize(
    "parameters, reason",
    [
        ({"device": "cuda:0"}, "cuda:0"),
        ({"device": "abacus"}, "abacus"),
        ({"torque_scale": float("nan")}, "torque_scale"),
        ({"torque_scale": -1.0}, "torque_scale"),
        ({"mode": "dance"}, "mode"),
        ({"state_timeout": "soon"}, "state_timeout"),
        ({"payload.mass": 1.0}, "payload.link"),
        ({"tip_links": ["nose"]}, "nose"),
        ({"joints": ["panda_finger_joint2"]}, "panda_finger_joint2"),
        ({"command_joints": ["wheel"]}, "wheel"),
    ],
    ids=str,
)
def test_a_bad_start_ends_with_code_2_and_one_clear_line(parameters, reason):
    import warp as wp

    if parameters.get("device") == "cuda:0" and wp.is_cuda_available():
        parameters, reason = {"device": "cuda:99"}, "cuda:99"
    with NodeProcess({"robot_description_file": "panda", **parameters}) as node:
        assert node.process.wait(PATIENCE) == 2
        lines = [
            line
            for line in node.text().splitlines()
            if reason in line and ("FATAL" in line or "ERROR" in line)
        ]
        assert len(lines) == 1, node.text()
        assert "Traceback" not in node.text()


def test_a_robot_whose_torques_would_overflow_is_refused():
    """Its masses are absurd. One line names the link, and no node runs."""
    text = (ROOT / "warpdyn" / "robots" / "double_pendulum.urdf").read_text()
    heavy = re.sub(r'<mass value="[^"]*"', '<mass value="1e306"', text)
    assert heavy != text
    with NodeProcess({"robot_description": heavy}) as node:
        node.wait_for("model refused: .*numbers beyond")


def test_torques_that_overflow_are_a_fault(context, tmp_path):
    """A law returns infinite torques for finite states. They are not published, and the fault is
    latched."""
    text = (ROOT / "warpdyn" / "robots" / "double_pendulum.urdf").read_text()
    law = tmp_path / "overflowing.py"
    law.write_text(
        "import warpdyn as wd\n\n\n@wd.kernel\ndef overflow(robot, q, v):\n"
        '    """Torques beyond all numbers."""\n    return {"tau": 1e308 * (q + 10.0)}\n'
    )
    parameters = {"robot_description": text, "start_enabled": True, "law": f"{law}:overflow"}
    with NodeProcess(parameters) as node:
        node.wait_for("ready: ")
        peer = Peer(context)
        peer.wait_until_matched()
        joints = re.findall(r'<joint name="([^"]*)" type="(?:revolute|continuous)"', text)
        q, v = [1.0] * len(joints), [0.0] * len(joints)
        peer.wait(
            lambda: "not finite" in peer.message, "fault", each=lambda: peer.send(joints, q, v)
        )
        assert peer.message.startswith("fault") and not peer.torques and not peer.commands
        answer = peer.enable(each=lambda: peer.send(joints, q, v))
        assert not answer.success and "~/reset" in answer.message
        assert node.alive
        peer.close()


def test_enable_without_a_state_is_refused(panda_node, peer):
    peer.wait_until_matched()
    assert peer.set_parameter("state_timeout", 0.1).successful
    peer.wait(
        lambda: "waiting for joint_states" in peer.message or "lost" in peer.message, "no state"
    )
    answer = peer.enable()
    assert not answer.success and "no fresh joint_states" in answer.message
    assert peer.set_parameter("state_timeout", GENEROUS).successful


def test_start_enabled_ramps_from_the_first_state(context):
    with NodeProcess(
        {"robot_description_file": "panda", "start_enabled": True, "ramp_time": 20.0}
    ) as node:
        node.wait_for("ready: panda")
        peer = Peer(context)
        peer.wait_until_matched()
        peer.wait(lambda: len(peer.commands) > 20, "commands", each=lambda: peer.send(NAMES, Q))
        first, last = (np.abs(peer.commands[k]).max() for k in (0, -1))
        assert first < 2.0, "it begins at zero"
        assert first < last < 20.0, "it rises"
        peer.close()


def test_enable_without_a_controller_says_so(context, soon):
    """The answer and the diagnostics say so, until a controller subscribes."""
    with NodeProcess(soon) as node:
        node.wait_for("ready: panda")
        peer = Peer(context)
        peer.wait_until_matched()
        peer.node.destroy_subscription(peer.controller)

        def send():
            peer.send(NAMES, Q)

        peer.wait(lambda: peer.torques, "torques", each=send)
        peer.wait(lambda: "nobody subscribes" in enabled_anew(peer, send), "the answer", each=send)
        peer.wait_for_message("no controller: nobody subscribes to ~/commands", each=send)
        peer.listen(Float64MultiArray, peer.own + "commands", lambda message: None)
        peer.wait(lambda: peer.message == "enabled", "the end of the warning", each=send)
        peer.close()


def enabled_anew(peer, send):
    """The answer of ~/enable after a stop sequence."""
    peer.enable(False, each=send)
    return peer.wait(lambda: (a := peer.enable(each=send)).success and a, "enabling").message


@pytest.mark.parametrize(
    "module, robot", [("state_source", "nonsense"), ("plant", "/dev/zero"), ("walker", "nonsense")]
)
def test_an_unknown_robot_ends_a_demo_node_with_one_line(module, robot):
    """The exit code is 2, without a traceback."""
    arguments = ["-p", f"robot:={robot}"]
    with NodeProcess(arguments=arguments, module=f"ros2_node.demo.{module}") as node:
        assert node.process.wait(PATIENCE) == 2
        assert "Traceback" not in node.text() and f"{robot}: " in node.text()
