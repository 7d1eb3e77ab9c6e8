"""External torques, collisions, payload identification and gravity diagnosis from measured efforts,
over DDS. One node serves all tests. The peer's stamps are its clock, so that a busy machine has no
effect. The efforts are Pinocchio's."""

from __future__ import annotations

import time

import numpy as np
import pytest
from geometry_msgs.msg import WrenchStamped
from harness import NodeProcess, Peer
from oracle import Oracle
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger

NAMES = [*(f"panda_joint{k}" for k in range(1, 8)), "panda_finger_joint1"]
Q = np.array([0.3, -0.7, 0.2, -2.0, 0.4, 1.5, 0.1, 0.02])
REST = np.zeros(8)
HELD = Oracle().torque(NAMES, Q)
WRENCH = np.array([4.0, -6.0, 9.0, 0.3, 0.0, -0.2])
PUSH = Oracle().push(NAMES, Q, "panda_hand", WRENCH)
THRESHOLD = 2.0
ROUNDING = 1e-6


class Arm:
    """The simulated arm. Each state is sent once, and its torques are awaited."""

    def __init__(self, peer: Peer) -> None:
        self.peer, self.clock = peer, 1_000_000_000
        self.external: list[JointState] = []
        self.wrenches: list[WrenchStamped] = []
        peer.listen(JointState, peer.own + "external_torques", self.external.append)
        peer.listen(WrenchStamped, peer.own + "external_wrench_estimate", self.wrenches.append)

    def state(self, effort, q=Q, v=REST, dt=0.002) -> None:
        self.clock += round(dt * 1e9)
        stamp, seen = divmod(self.clock, 1_000_000_000), len(self.peer.torques)
        end = time.monotonic() + 90.0
        while len(self.peer.torques) == seen and time.monotonic() < end:
            self.peer.send(NAMES, q, v, stamp, effort)
            sent = time.monotonic()
            while len(self.peer.torques) == seen and time.monotonic() < sent + 1.0:
                self.peer.spin(0.05)
        assert len(self.peer.torques) > seen, "a state was not answered"

    def states(self, count, effort, **more) -> None:
        for _ in range(count):
            self.state(effort, **more)

    def external_torques_at(self, effort, count=60, **more) -> np.ndarray:
        """External torques after the observer has settled."""
        self.states(count, effort, **more)
        wanted = self.clock
        self.peer.wait(
            lambda: (
                self.external
                and self.external[-1].header.stamp.sec * 10**9
                + self.external[-1].header.stamp.nanosec
                >= wanted
            ),
            "external torques",
        )
        return np.array(self.external[-1].effort)

    def again(self) -> None:
        """Disable the robot, clear its fault, and wait until external torques are zero, as at the
        beginning of a test."""
        self.peer.enable(False)
        self.peer.wait_for_message("ready, disabled", each=lambda: self.state(HELD))
        self.peer.reset()


@pytest.fixture(scope="module")
def node():
    parameters = {
        "robot_description_file": "panda",
        "effort_source": "message",
        "observer_gain": 200.0,
        "external_wrench_link": "panda_hand",
        "payload.link": "panda_hand",
        "ramp_time": 0.05,
        "stale_action": "zero",
        "max_state_age": 0.0,  # the peer's stamps are a separate clock
    }
    with NodeProcess(parameters, ["-r", "__ns:=/felt"]) as node:
        node.wait_for("ready: panda", 300.0)
        yield node


@pytest.fixture(scope="module")
def arm(node, context):
    peer = Peer(context, "felt")
    peer.wait_until_matched()
    arm = Arm(peer)
    peer.wait(
        lambda: peer.node.count_publishers(peer.own + "external_wrench_estimate"), "its topics"
    )
    arm.state(HELD)
    yield arm
    peer.close()


def test_external_torques_and_the_wrench_are_published(arm):
    """The torques are by joint, and the wrench is on the hand, in its frame. Both are zero without
    a push."""
    assert np.abs(arm.external_torques_at(HELD)).max() < ROUNDING
    np.testing.assert_allclose(arm.external_torques_at(HELD - PUSH), PUSH, atol=1e-6)
    assert list(arm.external[-1].name) == NAMES
    message = arm.peer.wait(lambda: arm.wrenches and arm.wrenches[-1], "a wrench")
    force, torque = message.wrench.force, message.wrench.torque
    found = [force.x, force.y, force.z, torque.x, torque.y, torque.z]
    np.testing.assert_allclose(found, WRENCH, atol=0.05)
    assert message.header.frame_id == "panda_hand"
    assert "panda_joint" in arm.peer.wait_for_value("largest external torque", lambda v: "N·m" in v)


def test_a_joint_without_effort_has_nan_and_the_others_are_observed(arm):
    """joint_state_broadcaster writes NaN for a missing effort. It is counted."""
    effort = HELD - PUSH
    effort[7] = np.nan
    found = arm.external_torques_at(effort)
    assert np.isnan(found[7])
    np.testing.assert_allclose(found[:7], PUSH[:7], atol=1e-6)
    arm.peer.wait_for_value("noticed.effort_nonfinite", bool, each=lambda: arm.state(effort))


@pytest.mark.parametrize(
    "fault, reason",
    [
        ({"effort": ()}, "effort_missing"),
        ({"effort": HELD, "dt": 5.0}, "effort_gap"),
        ({"effort": HELD, "dt": -0.5}, "effort_time_jump"),
        ({"effort": HELD, "v": ()}, "effort_no_velocity"),
    ],
    ids=lambda x: x if isinstance(x, str) else "",
)
def test_a_fault_restarts_the_observer_and_is_counted(arm, fault, reason):
    """External torques are zero at once, and the push is observed again within a few times 1 /
    gain. The torques of the node do not change."""
    np.testing.assert_allclose(arm.external_torques_at(HELD - PUSH), PUSH, atol=1e-6)
    arm.state(**fault)
    arm.peer.wait_for_value(f"noticed.{reason}", bool, each=lambda: arm.state(HELD))
    begun = arm.external_torques_at(HELD - PUSH, count=1)
    assert np.abs(begun).max() < 0.2 * np.abs(PUSH).max()
    np.testing.assert_allclose(arm.external_torques_at(HELD - PUSH), PUSH, atol=1e-6)
    np.testing.assert_allclose(arm.peer.torques[-1].effort[:8], HELD, atol=1e-6)


def test_a_collision_stops_the_robot_and_names_the_joint(arm):
    """One joint is beyond its threshold. The commands are zeros, and a latched fault has joint,
    torque and threshold."""
    peer = arm.peer
    arm.again()
    assert peer.set_parameter("collision_threshold", THRESHOLD).successful
    arm.states(50, HELD)
    assert peer.enable(each=lambda: arm.state(HELD)).success
    arm.states(50, HELD)
    assert np.abs(peer.commands[-1]).max() > 1.0
    before = len(peer.commands)
    arm.states(20, HELD - PUSH)
    peer.wait(lambda: peer.commands[before:] and not peer.commands[-1].any(), "zeros")
    k = int(np.argmax(np.abs(PUSH)))
    peer.wait_for_message(f"fault: collision: external torque of {NAMES[k]}")
    assert f"threshold {THRESHOLD:g}" in peer.message
    assert not peer.enable().success, "latched"
    assert peer.reset().success
    assert peer.set_parameter("collision_threshold", 0.0).successful


def test_speed_raises_the_threshold(arm):
    """The same push on a fast arm does not stop it."""
    peer = arm.peer
    arm.again()
    for name, value in (("collision_threshold", THRESHOLD), ("collision_speed_factor", 100.0)):
        assert peer.set_parameter(name, value).successful
    v = np.full(8, 0.5) * np.array([1, 1, 1, 1, 1, 1, 1, 0])
    fast = Oracle().torque(NAMES, Q, v)
    arm.states(5, HELD, v=v, dt=0.2)  # gaps: the observer restarts at this speed
    assert peer.enable(each=lambda: arm.state(fast, v=v)).success
    seen = len(peer.commands)
    arm.states(60, fast - PUSH, v=v)
    peer.wait(lambda: len(peer.commands) > seen and peer.commands[-1].any(), "commands go on")
    assert peer.status is None or "fault" not in peer.message
    arm.again()
    for name in ("collision_threshold", "collision_speed_factor"):
        assert peer.set_parameter(name, 0.0).successful


def test_after_a_collision_the_arm_can_float(arm):
    """The arm tracks a distant reference in computed torque, with `collision_reaction: gravity`.

    After the collision it only carries its weight, and reports this. After ~/enable with false and
    true it tracks again.
    """
    peer = arm.peer
    arm.again()
    for name, value in (
        ("mode", "computed_torque"),
        ("collision_reaction", "gravity"),
        ("collision_threshold", THRESHOLD),
    ):
        peer.wait(
            lambda n=name, x=value: peer.set_parameter(n, x).successful, f"{name} to be taken"
        )
    arm.states(20, HELD)
    assert peer.enable(each=lambda: arm.state(HELD)).success
    aside = Q + np.array([0, 0.1, 0, 0, 0, 0, 0, 0])
    still = Oracle().torque(NAMES, aside)
    a = np.array([0, -100.0 * 0.1, 0, 0, 0, 0, 0, 0])  # back to its position at ~/enable
    pulled = Oracle().torque(NAMES, aside, REST, a)
    for share in np.linspace(0.08, 1.0, 13):  # in small steps, since a jump would be dropped
        q = Q + share * (aside - Q)
        weight, before = Oracle().torque(NAMES, q), len(peer.torques)
        peer.wait(
            lambda n=before: len(peer.torques) > n + 1,
            "its torques",
            each=lambda q=q, weight=weight: arm.state(weight, q=q),
        )
    peer.wait(
        lambda: np.allclose(peer.commands[-1], pulled, atol=1e-6),
        "commands that pull it back",
        each=lambda: arm.state(still, q=aside),
    )
    pushed = still - Oracle().push(NAMES, aside, "panda_hand", WRENCH)
    peer.wait(
        lambda: np.allclose(peer.commands[-1], still, atol=1e-6),
        "gravity torques",
        each=lambda: arm.state(pushed, q=aside),
    )
    peer.wait_for_message("floating: collision", each=lambda: arm.state(still, q=aside))
    arm.again()
    for name, value in (
        ("mode", "gravity"),
        ("collision_reaction", "stop"),
        ("collision_threshold", 0.0),
    ):
        assert peer.set_parameter(name, value).successful


def test_a_list_of_thresholds_has_one_for_each_joint(arm):
    """It is in the order of command_joints. The refusal of another length has both numbers."""
    peer = arm.peer
    assert peer.set_parameter("collision_threshold", [20.0] * 8).successful
    answer = peer.set_parameter("collision_threshold", [20.0, 20.0])
    assert not answer.successful and "8 command joints" in answer.reason
    assert peer.set_parameter("collision_threshold", 0.0).successful


INERTIA = np.diag([0.012, 0.015, 0.009])
COM = np.array([0.01, -0.02, 0.09])


def loaded_oracle() -> Oracle:
    import pinocchio as pin

    oracle = Oracle()
    frame = oracle.model.frames[oracle.model.getFrameId("panda_hand")]
    load = pin.Inertia(1.6, COM, INERTIA)
    oracle.model.inertias[frame.parentJoint] += frame.placement.act(load)
    oracle.data = oracle.model.createData()
    return oracle


def test_a_payload_is_identified_from_a_motion(arm):
    """The record lasts until the next call. The answer has mass, centre and inertia with
    deviations, and the parameters to set. With these the arm's torques include the load."""
    peer, oracle = arm.peer, loaded_oracle()
    arm.again()
    assert peer.set_parameter("identification_cutoff", 5.0).successful
    answer = peer.call("identify_payload", Trigger)
    assert answer.success and "listening until the next call" in answer.message
    w = 2 * np.pi * np.array([0.31, 0.43, 0.53, 0.71, 0.83, 0.97, 1.1, 0.0])
    size = np.array([0.5, 0.4, 0.5, 0.5, 0.6, 0.6, 0.4, 0.0])
    draw = np.random.default_rng(0)
    for k in range(301):
        t = 0.02 * k
        phase = w * t + np.arange(8)
        q, v, a = Q + size * np.sin(phase), size * w * np.cos(phase), -size * w * w * np.sin(phase)
        effort = oracle.torque(NAMES, q, v, a) + draw.normal(scale=0.05, size=8)
        arm.state(effort, q=q, v=v, dt=0.02)
    heard = peer.call("identify_payload", Trigger)
    assert heard.success and "heard 6.0 s" in heard.message

    def ask_for_payload():
        reply = peer.call("identify_payload", Trigger)
        return reply if reply.success or "computing" not in reply.message else None

    text = peer.wait(ask_for_payload, "an answer", 300.0).message
    values = dict(line.strip().split(": ", 1) for line in text.splitlines() if ": " in line)
    mass, deviation = (float(x.split()[0]) for x in values["mass"].split("±"))
    assert abs(mass - 1.6) < 4 * deviation < 0.05, text
    com = [float(x) for x in values["payload.com"].strip("[]").split(", ")]
    np.testing.assert_allclose(com, COM, atol=0.01)
    inertia = [float(x) for x in values["payload.inertia"].strip("[]").split(", ")]
    np.testing.assert_allclose(np.array(inertia)[[0, 3, 5]], INERTIA.diagonal(), atol=0.006)
    for name, value in (
        ("payload.mass", float(values["payload.mass"])),
        ("payload.com", com),
        ("payload.inertia", inertia),
    ):
        assert peer.set_parameter(name, value).successful
    peer.wait(
        lambda: np.allclose(peer.torques[-1].effort[:8], oracle.torque(NAMES, Q), atol=0.15),
        "torques with the load",
        each=lambda: arm.state(HELD),
    )
    assert peer.set_parameter("payload.mass", 0.0).successful


def test_identification_time_ends_the_record_and_gaps_are_reported(arm):
    """A record in which states were lost is answered with this reason."""
    peer = arm.peer
    assert peer.set_parameter("identification_time", 1.0).successful
    assert "listening for 1 s" in peer.call("identify_payload", Trigger).message
    arm.states(5, HELD)
    waiting = peer.call("identify_payload", Trigger)
    assert not waiting.success and "are left" in waiting.message
    arm.state(HELD, dt=1.0)
    arm.states(120, HELD, dt=0.01)

    def ask_for_payload():
        reply = peer.call("identify_payload", Trigger)
        return reply if "computing" not in reply.message else None

    reply = peer.wait(ask_for_payload, "an answer", 300.0)
    assert not reply.success and "states were lost" in reply.message
    assert peer.set_parameter("identification_time", 0.0).successful


def test_gravity_is_diagnosed_from_several_poses(arm):
    """Too few poses are reported. With enough, the answer names the load that the model lacks."""
    peer, oracle = arm.peer, loaded_oracle()
    arm.again()
    # another set of joints with efforts discards earlier poses
    lacking = HELD.copy()
    lacking[7] = np.nan
    arm.state(lacking)
    few = peer.call("diagnose_gravity", Trigger)
    assert not few.success and "poses at rest so far" in few.message
    for k in range(4):
        q = Q + np.array([0.2, 0.25, -0.3, 0.2, 0.5, -0.3, 0.4, 0.0]) * (k - 2)
        effort = oracle.torque(NAMES, q)
        effort[7] = np.nan
        arm.states(45, effort, q=q, dt=0.02)
        arm.state(effort, q=q, v=np.full(8, 0.1) * (REST == 0), dt=0.01)
    answer = peer.call("diagnose_gravity", Trigger)
    assert answer.success and "4 poses at rest" in answer.message
    assert "a payload of 1.6" in answer.message and "panda_joint2: model" in answer.message


def test_without_efforts_the_services_say_what_is_missing(panda_node, peer):
    """The topics do not exist, and a threshold without efforts is refused."""
    peer.wait_until_matched()
    for service in ("identify_payload", "diagnose_gravity"):
        answer = peer.call(service, Trigger)
        assert not answer.success and "effort_source: message" in answer.message
    refused = peer.set_parameter("collision_threshold", 5.0)
    assert not refused.successful and "effort_source" in refused.reason
    assert not peer.node.count_publishers(peer.own + "external_torques")
