"""Bad, odd and missing joint_states over real DDS, as listed in docs/ros2_reactions.md.

After each fault no command was nonfinite or beyond the effort limit, the node runs, its diagnostics
name the fault, and good states give torques again.
"""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import time
from array import array

import numpy as np
import pytest
from harness import GENEROUS, NodeProcess, Peer
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import Trigger

ARM = [f"panda_joint{i}" for i in range(1, 8)]
NAMES = [*ARM, "panda_finger_joint1"]
Q = np.array([0.3, -0.7, 0.2, -2.0, 0.4, 1.5, 0.1, 0.02])
LIMITS = np.array([87.0] * 4 + [12.0] * 3 + [100.0]) + 1e-9
NAN, INF = float("nan"), float("inf")
COUNT = itertools.count(1)


def with_entry(index, value):
    q = Q.copy()
    q[index] = value
    return q


BAD = {
    "NaN position": ("nonfinite_position", lambda p: p.send(NAMES, with_entry(3, NAN))),
    "infinite position": ("nonfinite_position", lambda p: p.send(NAMES, with_entry(0, -INF))),
    "position of 1e9": ("position_out_of_range", lambda p: p.send(NAMES, with_entry(1, 1e9))),
    "too few positions": ("wrong_length", lambda p: p.send(NAMES, Q[:5])),
    "too many positions": ("wrong_length", lambda p: p.send(NAMES, [*Q, 0.0])),
    "no positions": ("wrong_length", lambda p: p.send(NAMES, [])),
    "velocities of another length": ("wrong_length", lambda p: p.send(NAMES, Q, [0.0] * 3)),
    "empty message": ("empty_message", lambda p: p.send([], [])),
    "duplicate names": ("duplicate_name", lambda p: p.send([*ARM, "panda_joint1"], Q)),
    "only unknown names": ("no_known_joint", lambda p: p.send(["a", "b"], [0.0, 1.0])),
}
ODD = {
    "NaN velocities": (None, lambda p: p.send(NAMES, Q, [NAN] * 8)),
    "NaN efforts": (None, lambda p: p.send(NAMES, Q, effort=[NAN] * 8)),
    "unknown names among ours": ("unknown_joint", lambda p: p.send(["wheel", *NAMES], [9e9, *Q])),
    "names reordered": (None, lambda p: p.send(NAMES[::-1], Q[::-1])),
    "a mimic that contradicts": (
        "mimic_mismatch",
        lambda p: p.send([*NAMES, "panda_finger_joint2"], [*Q, 0.04]),
    ),
    "stamp of zero": (None, lambda p: p.send(NAMES, Q, stamp=(0, 0))),
    "stamp in the future": (
        "stamp_future",
        lambda p: p.send(NAMES, Q, stamp=(2_000_000_000 + next(COUNT), 0)),
    ),
    "stamps backwards": (
        "stamp_backwards",
        lambda p: p.send(NAMES, Q, stamp=(2_000_000_000 - next(COUNT), 0)),
    ),
}


def good(peer):
    peer.send(NAMES, Q)


def enable_node(peer):
    """Enable the node, whatever a previous test has left. Its watchdog is generous."""
    peer.wait_until_matched()
    assert peer.set_parameter("state_timeout", GENEROUS, each=lambda: good(peer)).successful
    peer.call("reset", Trigger, each=lambda: good(peer))

    def ask():
        return peer.enable(each=lambda: good(peer)).success

    peer.wait(ask, "enabling", each=lambda: good(peer))
    seen = len(peer.commands)
    peer.wait(lambda: len(peer.commands) > seen + 3, "commands", each=lambda: good(peer))


def check_commands(peer):
    commands = np.array(peer.commands)
    assert np.isfinite(commands).all()
    assert (np.abs(commands) <= LIMITS).all()


@pytest.mark.parametrize("fault", BAD)
def test_a_bad_message_is_rejected_and_named(fault, panda_node, peer):
    """A bad message among good ones changes nothing.

    The watchdog stops the arm if only bad messages come.
    """
    reason, send = BAD[fault]
    enable_node(peer)

    def both():
        send(peer)
        good(peer)

    def is_named():
        return reason in peer.message and peer.values["enabled"] == "true"

    peer.wait(is_named, f"diagnostics naming {reason}", each=both)
    assert int(peer.values[f"rejected.{reason}"]) > 0
    peer.starve(each=lambda: send(peer))
    peer.wait(lambda: not np.any(peer.commands[-5:]), "five zero commands")
    check_commands(peer)
    peer.begin()
    count = int(peer.wait_for_value(f"rejected.{reason}", bool))
    peer.wait_for_value(f"rejected.{reason}", lambda n: int(n) > count, each=lambda: send(peer))
    assert not peer.torques and not peer.commands, "nothing comes of a bad message"
    enable_node(peer)
    check_commands(peer)
    assert panda_node.alive


@pytest.mark.parametrize("fault", ODD)
def test_an_odd_message_is_used_and_counted(fault, panda_node, peer):
    reason, send = ODD[fault]
    enable_node(peer)
    expected = peer.torques[-1].effort
    seen = len(peer.torques)
    peer.wait(lambda: len(peer.torques) > seen + 10, "torques", each=lambda: send(peer))
    np.testing.assert_allclose(peer.torques[-1].effort, expected, atol=1e-9)
    if reason:
        peer.wait_for_value(f"noticed.{reason}", lambda n: int(n) > 0, each=lambda: send(peer))
    peer.wait_for_value("enabled", lambda v: v == "true", each=lambda: send(peer))
    check_commands(peer)


def test_states_without_the_gripper_are_rejected(panda_node, peer):
    """The gripper's states stop. The states are rejected with this reason, and then the watchdog
    stops the arm."""
    enable_node(peer)

    def arm():
        peer.send(ARM, Q[:7])

    peer.starve(each=arm)
    peer.wait(lambda: "missing_joint" in peer.message, "missing_joint", each=arm)
    check_commands(peer)


PUBLISHER = """
import sys, time, rclpy
from array import array
from sensor_msgs.msg import JointState
rclpy.init()
node = rclpy.create_node("driver", namespace="shared")
states = node.create_publisher(JointState, "joint_states", 10)
names, q = sys.argv[1].split(","), array("d", map(float, sys.argv[2].split(",")))
while True:
    message = JointState(name=names, position=q)
    message.header.stamp = node.get_clock().now().to_msg()
    states.publish(message)
    time.sleep(float(sys.argv[3]))
"""


@pytest.fixture
def driver():
    """Start joint_states publishers as separate processes."""
    running = []

    def start(q=Q, period=0.005):
        argument = ",".join(map(str, q))
        process = subprocess.Popen(
            [sys.executable, "-c", PUBLISHER, ",".join(NAMES), argument, str(period)]
        )
        running.append(process)
        return process

    yield start
    for process in running:
        process.kill()
        process.wait()


def publishers_of_states(peer):
    """Their identifiers in DDS."""
    infos = peer.node.get_publishers_info_by_topic("/shared/joint_states")
    return {bytes(info.endpoint_gid) for info in infos}


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGSTOP], ids=["killed", "frozen"])
def test_a_publisher_that_dies_or_freezes_stops_the_robot(end, panda_node, peer, driver):
    """The watchdog notices it. The torques ramp down, and the robot remains disabled until
    ~/enable."""
    before = publishers_of_states(peer)
    process = driver()
    peer.wait_until_matched()
    peer.wait(lambda: peer.torques, "states of the driver")
    (its,) = peer.wait(lambda: publishers_of_states(peer) - before, "the driver's publisher")
    assert peer.set_parameter("state_timeout", GENEROUS).successful
    peer.call("reset", Trigger)
    peer.wait(lambda: peer.enable().success, "enabling")
    peer.wait(lambda: len(peer.commands) > 20, "commands")
    os.kill(process.pid, end)
    peer.starve()
    peer.wait(lambda: not np.any(peer.commands[-5:]), "five zero commands")
    assert its in publishers_of_states(peer), (
        "the node noticed before DDS, which takes 20 s for a killed publisher"
    )
    check_commands(peer)
    assert peer.set_parameter("state_timeout", GENEROUS).successful
    number = len(peer.commands)
    again = driver()
    seen = len(peer.torques)
    peer.wait(lambda: len(peer.torques) > seen + 10, "torques of the next driver")
    assert len(peer.commands) == number, "latched: states alone do not enable"
    peer.wait(lambda: peer.enable().success, "enabling again")
    again.kill()


def test_a_driver_that_repeats_its_last_message_is_not_alive(panda_node, peer):
    enable_node(peer)

    def repeat():
        peer.send(NAMES, Q, stamp=(5, 5))

    peer.starve(each=repeat)
    peer.wait_for_value("noticed.repeated_message", lambda n: int(n) > 0, each=repeat)
    check_commands(peer)


def test_two_contradicting_publishers_are_reported(panda_node, peer, driver):
    """Each state is used, the command limits hold, and the diagnostics report position jumps."""
    enable_node(peer)
    driver(-Q)
    peer.wait(lambda: "position_jump" in peer.message, "position_jump", each=lambda: good(peer))
    check_commands(peer)
    assert panda_node.alive


def test_a_flood_of_states_does_not_stop_the_node(panda_node, peer):
    """The peer sends as fast as it can. The services answer, and the torques remain right."""
    enable_node(peer)
    message = JointState(name=NAMES, position=array("d", Q))
    begun = time.monotonic()
    sent = 0
    while time.monotonic() - begun < 2.0:
        peer.states.publish(message)
        sent += 1
    print(f"{sent / 2:.0f} messages a second")
    assert peer.enable(False, each=lambda: good(peer)).success
    peer.wait(
        lambda: peer.message.startswith(("ready", "stopping")),
        "ready again",
        each=lambda: good(peer),
    )
    check_commands(peer)
    enable_node(peer)


def test_a_subscriber_with_incompatible_qos_is_reported(panda_node, peer):
    """A subscriber of ~/commands that requests transient local gets no message. The diagnostics say
    so until it is gone."""
    from rclpy.qos import DurabilityPolicy

    enable_node(peer)
    stranger = peer.listen(
        Float64MultiArray,
        peer.own + "commands",
        lambda m: None,
        durability=DurabilityPolicy.TRANSIENT_LOCAL,
    )
    peer.wait(lambda: "QoS mismatch" in peer.message, "QoS mismatch", each=lambda: good(peer))
    assert "DURABILITY" in peer.message
    peer.node.destroy_subscription(stranger)
    peer.wait(lambda: "QoS" not in peer.message, "mismatch forgotten", each=lambda: good(peer))


def test_best_effort_states_are_read(panda_node, peer):
    """This is the usual QoS of sensors."""
    from rclpy.qos import QoSProfile, ReliabilityPolicy

    peer.wait_until_matched()
    best_effort = QoSProfile(depth=5, reliability=ReliabilityPolicy.BEST_EFFORT)
    states = peer.node.create_publisher(JointState, "shared/joint_states", best_effort)
    message = JointState(name=NAMES, position=array("d", Q))
    peer.wait(lambda: len(peer.torques) > 5, "torques", each=lambda: states.publish(message))
    peer.node.destroy_publisher(states)


def test_missing_velocities_are_rejected_or_replaced_by_differences(context):
    """Missing velocities or NaN in mode inverse_dynamics are rejected with a reason.

    Finite differences of positions are accepted.
    """
    with NodeProcess({"robot_description_file": "panda", "mode": "inverse_dynamics"}) as node:
        node.wait_for("ready: panda")
        peer = Peer(context)
        peer.wait_until_matched()
        peer.wait(
            lambda: "missing_velocity" in peer.message, "missing_velocity", each=lambda: good(peer)
        )
        peer.wait(
            lambda: "nonfinite_velocity" in peer.message,
            "nonfinite_velocity",
            each=lambda: peer.send(NAMES, Q, [NAN] * 8),
        )
        assert not peer.torques
        assert not peer.enable(each=lambda: good(peer)).success
        assert peer.set_parameter(
            "velocity_source", "finite_difference", each=lambda: good(peer)
        ).successful
        peer.wait(lambda: peer.torques, "torques", each=lambda: good(peer))
        peer.close()


def test_clock_jumps_and_a_paused_simulation_do_not_stop_the_arm(context):
    """A dead publisher still stops it while the clock runs."""
    with NodeProcess(
        {
            "robot_description_file": "panda",
            "use_sim_time": True,
            "ramp_time": 0.05,
            "state_timeout": 2.0,
        }
    ) as node:
        node.wait_for("ready: panda")
        peer = Peer(context)
        clock = peer.node.create_publisher(Clock, "/clock", 10)
        simulated = [1000.0]

        def tick(step=0.01):
            simulated[0] += step
            message = Clock()
            message.clock.sec, message.clock.nanosec = (
                int(simulated[0]),
                int(simulated[0] % 1.0 * 1e9),
            )
            clock.publish(message)

        def run():
            tick()
            peer.send(NAMES, Q, stamp=(int(simulated[0]), int(simulated[0] % 1.0 * 1e9)))

        peer.wait(lambda: peer.diagnostics and clock.get_subscription_count(), "matching", each=run)
        peer.wait(lambda: peer.torques, "torques", each=run)
        assert peer.enable(each=run).success
        for jump in (1000.0, -1500.0):
            tick(jump)
            before = int(peer.values.get("noticed.clock_jump", "0"))
            peer.wait_for_value("noticed.clock_jump", lambda n, b=before: int(n) > b, each=run)
            peer.wait_for_value("enabled", lambda v: v == "true", each=run)
        number = len(peer.diagnostics)
        peer.wait(
            lambda: "paused" in peer.message and len(peer.diagnostics) > number + 2, "a pause seen"
        )
        assert peer.values["enabled"] == "true" and peer.message.startswith("enabled")
        seen = len(peer.commands)
        peer.wait(lambda: len(peer.commands) > seen + 10, "commands after the pause", each=run)
        peer.wait(
            lambda: "state lost" in peer.message,
            "the watchdog while only the clock runs",
            each=tick,
        )
        check_commands(peer)
        peer.close()
