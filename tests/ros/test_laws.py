"""The node's own laws over real DDS: their torques, and their reactions to errors."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from driven_arm import HAND, READY
from geometry_msgs.msg import PoseStamped
from law_side import MODEL, NAMES, STIFFNESS, Side, joint_law, reference  # noqa: F401  a fixture
from oracle import Oracle
from std_msgs.msg import String
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

EXACT = 1e-9


@pytest.fixture(scope="module")
def hand(context):
    parameters = {
        "law": "cartesian_impedance",
        "law_options": [f"frame={HAND}"],
        "law_inputs.stiffness": [500.0, 500.0, 500.0, 30.0, 30.0, 30.0],
        "max_pose_error": [0.1, 0.4],
    }
    side = Side(context, "hand", parameters)
    yield side
    side.close()


def trajectory(*steps, names=NAMES):
    """A trajectory of some points, each a step from READY, 0.2 s apart and at rest."""
    message = JointTrajectory(joint_names=list(names))
    for k, step in enumerate(steps):
        point = JointTrajectoryPoint(
            positions=(READY + step).tolist(), velocities=[0.0] * len(names)
        )
        point.time_from_start.nanosec = 200_000_000 * (k + 1)
        message.points.append(point)
    return message


def pose(step=(0.0, 0.0, 0.0), turn=(0.0, 0.0, 0.0), frame=MODEL.root, length=1.0):
    """A pose a little away from that of the hand."""
    T = Oracle().pose(NAMES, READY, HAND)
    message = PoseStamped()
    message.header.frame_id = frame
    p, o = message.pose.position, message.pose.orientation
    p.x, p.y, p.z = (T[:3, 3] + step).tolist()
    R = pin.exp3(np.array(turn)) @ T[:3, :3]
    o.x, o.y, o.z, o.w = (length * pin.Quaternion(R).coeffs()).tolist()
    return message


def test_each_joint_is_a_spring_about_its_reference(joints):
    """Enabled before any reference, the arm is held. Then the torque is K e + D ė plus the weight.
    A reference for some joints leaves the others."""
    weight = Oracle().torque(NAMES, READY)
    assert joints.peer.enable(each=joints.send).success
    joints.wait_for_torque(weight, "the weight")
    joints.v[:] = 0.02
    moving = Oracle().torque(NAMES, READY) - 2.0 * joints.v
    joints.wait_for_torque(moving, "dampers")
    joints.v[:] = 0.0
    joints.publish("reference", reference([READY[1] + 0.05], names=NAMES[1:2]))
    joints.wait_for_torque(weight + STIFFNESS * [0, 0.05, 0, 0, 0, 0, 0, 0], "one spring")


def test_stiffness_changes_while_enabled_without_a_step(joints):
    """A change takes ramp_time. A bad value is refused and changes nothing."""
    peer = joints.peer
    weight = Oracle().torque(NAMES, READY)
    assert peer.set_parameter("ramp_time", 1.0, each=joints.send).successful
    assert peer.enable(each=joints.send).success
    joints.publish("reference", reference(READY + np.array([0.05, 0, 0, 0, 0, 0, 0, 0])))
    soft = weight + np.array([30.0, 0, 0, 0, 0, 0, 0, 0])
    joints.wait_for_torque(soft, "the spring")
    seen = len(peer.commands)
    assert peer.set_parameter("law_inputs.stiffness", 1000.0, each=joints.send).successful
    hard = weight + np.array([50.0, 0, 0, 0, 0, 0, 0, 0])
    joints.wait_for_torque(hard, "the harder spring")
    way = np.array([soft[0], *(c[0] for c in peer.commands[seen:])])
    assert (np.diff(way) >= -EXACT).all() and ((way > soft[0] + 1) & (way < hard[0] - 1)).sum() >= 5
    for name, value, said in (
        ("law_inputs.stiffness", -5.0, "stiffness must be at least 0"),
        ("law_inputs.stiffness", [1.0, 2.0], "must be 8 numbers"),
        ("law_inputs.stiffness", float("nan"), "must lie in"),
        ("law", "teaching", "read-only"),
    ):
        answer = peer.set_parameter(name, value, each=joints.send)
        assert not answer.successful and said in answer.reason
    joints.wait_for_torque(hard, "the spring as before")
    back = {"law_inputs.stiffness": STIFFNESS.tolist(), "ramp_time": 0.05}
    assert all(peer.set_parameter(n, x, each=joints.send).successful for n, x in back.items())


def test_invalid_and_distant_references_are_refused(joints):
    """The spring still acts about the previous one. An arm that is pushed too far stops."""
    peer = joints.peer
    weight = Oracle().torque(NAMES, READY)
    assert peer.enable(each=joints.send).success
    joints.publish("reference", reference(READY))
    joints.wait_for_torque(weight, "the weight")
    joints.wait_for_refusal("reference", reference(READY * np.nan), "reference_nonfinite")
    joints.wait_for_refusal("reference", reference(READY + 0.5), "reference_too_far")
    joints.wait_for_torque(weight, "the reference of before")
    try:
        for share in np.linspace(0.008, 0.352, 44):  # small steps, since a jump would be dropped
            joints.q[0] = READY[0] + share
            pull = weight[0] - STIFFNESS[0] * share
            peer.wait(
                lambda tau=pull: abs(peer.torques[-1].effort[0] - tau) < 1e-6,
                "torques of this position",
                each=joints.send,
            )
        joints.peer.wait_for_message("panda_joint1 is 0.3", each=joints.send)
        peer.wait(lambda: not np.any(peer.commands[-5:]), "five zeros", each=joints.send)
    finally:
        joints.q[:] = READY
    assert not peer.enable(each=joints.send).success, "a latched fault"
    assert peer.reset().success
    assert peer.enable(each=joints.send).success
    joints.wait_for_torque(weight, "the weight again")


def test_a_law_stops_with_its_states_and_restarts_at_the_present_pose(joints):
    """joint_states stop, or ~/enable gets false, and five zeros follow. After ~/enable the arm
    holds its present position."""
    peer = joints.peer
    assert peer.enable(each=joints.send).success
    peer.starve()
    peer.wait(lambda: not np.any(peer.commands[-5:]), "five zeros")
    assert peer.set_parameter("state_timeout", 10.0).successful
    joints.q[:] = READY + np.array([0.4, 0.2, -0.2, 0.1, 0, 0, 0, 0])
    there = Oracle().torque(NAMES, joints.q)
    try:
        joints.wait_for_torque(
            there - STIFFNESS * (joints.q - READY), "a spring to READY", enabled=False
        )
        assert peer.set_parameter("state_timeout", 0.2, each=joints.send).successful
        begin = peer.node.get_clock().now().nanoseconds
        peer.wait(
            lambda: peer.node.get_clock().now().nanoseconds > begin + 300_000_000,
            "an old reference",
            each=joints.send,
        )
        assert peer.enable(each=joints.send).success
        joints.wait_for_torque(there, "the weight there")
        assert peer.enable(False, each=joints.send).success
        peer.wait(lambda: not np.any(peer.commands[-5:]), "five zeros", each=joints.send)
    finally:
        joints.q[:] = READY
        assert peer.set_parameter("state_timeout", 10.0, each=joints.send).successful


def test_the_hand_is_a_spring_about_its_pose(hand):
    """It begins at its present pose, whatever was sent before, and is pulled to later poses."""
    peer, oracle = hand.peer, Oracle()
    weight = oracle.torque(NAMES, READY)
    hand.publish("pose_reference", pose(step=(0.05, 0.0, 0.0)))
    hand.wait_for_torque(weight, "the weight, disabled", enabled=False)
    assert peer.enable(each=hand.send).success
    hand.wait_for_torque(weight, "the weight")
    hand.publish("pose_reference", pose(step=(0.02, -0.04, 0.01), turn=(0.1, 0.0, 0.2)))
    wrench = [10.0, -20.0, 5.0, 3.0, 0.0, 6.0]
    pull = oracle.jacobian(NAMES, READY, HAND).T @ wrench
    hand.wait_for_torque(weight + pull, "the spring")
    assert peer.set_parameter("law_inputs.max_force", [12.0, 20.0], each=hand.send).successful
    soft = 12.0 / np.linalg.norm(wrench[:3])
    pull = oracle.jacobian(NAMES, READY, HAND).T @ [*(soft * np.array(wrench[:3])), *wrench[3:]]
    hand.wait_for_torque(weight + pull, "the spring that is bounded")
    assert peer.set_parameter("law_inputs.max_force", [100.0, 20.0], each=hand.send).successful


def test_invalid_poses_are_refused(hand):
    """They have another frame, NaN, an invalid quaternion or a large distance. A stiffness matrix
    that pushes is refused too. The spring still acts."""
    peer = hand.peer
    weight = Oracle().torque(NAMES, READY)
    assert peer.enable(each=hand.send).success
    hand.publish("pose_reference", pose())
    hand.wait_for_torque(weight, "the weight")
    for message, reason in (
        (pose(frame="camera"), "pose_other_frame"),
        (pose(step=(np.nan, 0.0, 0.0)), "pose_nonfinite"),
        (pose(length=1.3), "pose_no_rotation"),
        (pose(length=0.0), "pose_no_rotation"),
        (pose(step=(0.3, 0.0, 0.0)), "pose_too_far"),
    ):
        hand.wait_for_refusal("pose_reference", message, reason)
    assert "panda_hand is 0.3 m from its pose reference" in peer.values["last pose refused"]
    answer = peer.set_parameter("law_inputs.stiffness", [-1.0] * 6, each=hand.send)
    assert not answer.successful and "stiffness must not push" in answer.reason
    answer = peer.set_parameter("law_inputs.stiffness", [1.0] * 7, each=hand.send)
    assert not answer.successful and "must be 36 numbers" in answer.reason
    hand.wait_for_torque(weight, "the weight still")


def test_a_trajectory_is_followed_to_its_end(joints):
    """Its status is published, and the final torques are those of the last point. An impossible
    trajectory is refused with its reason, and an empty one cancels."""
    peer, told = joints.peer, []
    joints.begin()
    peer.listen(String, peer.own + "trajectory_status", lambda m: told.append(m.data))
    step = 0.02 * np.array([*[1.0] * 7, 0.1])
    peer.wait(
        lambda: peer.set_parameter("trajectory.goal_tolerance", 0.1, each=joints.send).successful,
        "set",
    )
    joints.publish("trajectory", trajectory(0.5 * step, step))
    peer.wait(lambda: "succeeded" in told, "success", each=joints.send)
    weight = Oracle().torque(NAMES, READY)
    joints.wait_for_torque(weight + STIFFNESS * step, "the torques of its end")
    joints.publish("trajectory", trajectory(50 * step))
    peer.wait(lambda: told[-1].startswith("refused: "), "a refusal", each=joints.send)
    assert "limit" in told[-1]
    joints.publish("trajectory", trajectory(0.0 * step))
    peer.wait(lambda: told[-1].startswith("running"), "the way back", each=joints.send)
    joints.publish("trajectory", JointTrajectory())
    peer.wait(lambda: told[-1] == "cancelled", "cancellation", each=joints.send)
