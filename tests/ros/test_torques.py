"""Torques of the node as a process, over DDS, compared with Pinocchio's."""

from __future__ import annotations

import itertools
import os
import sys
from array import array

import numpy as np
import pytest
from geometry_msgs.msg import PoseArray, PoseStamped, WrenchStamped
from harness import NodeProcess, Peer
from oracle import Oracle
from rclpy.qos import DurabilityPolicy
from std_msgs.msg import Float64MultiArray, String
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

import warpdyn as wd

ARM = [f"panda_joint{i}" for i in range(1, 8)]
NAMES = [*ARM, "panda_finger_joint1"]
EXACT = 1e-9
"""Torques up to 100 N·m, both sides in float64."""


def answer(peer, names, q, v=()):
    """The torques by name for one state, identified by its stamp."""
    stamp = answer.stamp = answer.stamp + 1
    seen = len(peer.torques)

    def answers():
        return [t for t in peer.torques[seen:] if t.header.stamp.sec == stamp]

    message = peer.wait(
        answers, "torques", each=lambda: answers() or peer.send(names, q, v, stamp=(stamp, 0))
    )[0]
    return dict(zip(message.name, message.effort, strict=True))


answer.stamp = 1


@pytest.fixture(scope="module")
def oracle():
    return Oracle()


def test_gravity_torques_are_right_for_states_in_any_order(panda_node, peer, oracle):
    """The names have random orders, and velocities are present, absent or NaN."""
    rng = np.random.default_rng(1)
    peer.wait_until_matched()
    for k in range(30):
        q = rng.uniform(-2.0, 2.0, 8)
        q[7] = abs(q[7]) * 0.01
        order = rng.permutation(8)
        names = [NAMES[i] for i in order]
        v = ((), rng.normal(size=8), np.full(8, np.nan))[k % 3]
        torque = answer(peer, names, q[order], v)
        expected = oracle.torque(NAMES, q)
        np.testing.assert_allclose([torque[n] for n in NAMES], expected, atol=EXACT)


def test_commands_are_the_torques_within_the_limits(panda_node, peer, oracle):
    """Commands after the ramp are g(q) in the order of command_joints.

    The limits are 87 and 12 N·m and 100 N.
    """
    peer.wait_until_matched()
    q = np.array([0.3, -0.7, 0.2, -2.0, 0.4, 1.5, 0.1, 0.02])
    assert peer.enable(each=lambda: peer.send(NAMES, q)).success
    expected = oracle.torque(NAMES, q)
    peer.wait(
        lambda: peer.commands and np.allclose(peer.commands[-1], expected, atol=EXACT),
        "full torque",
        each=lambda: peer.send(NAMES, q),
    )
    sizes = [np.abs(c[1]) for c in peer.commands]
    assert sizes[0] < 0.5 * abs(expected[1])
    assert all(a <= b + EXACT for a, b in itertools.pairwise(sizes)), "the ramp rises"
    assert peer.enable(False, each=lambda: peer.send(NAMES, q)).success
    peer.wait(
        lambda: len(peer.commands) > 5 and not np.any(peer.commands[-5:]), "five zero commands"
    )


def test_arm_and_gripper_may_publish_separately(panda_node, peer, oracle):
    peer.wait_until_matched()
    q = np.array([0.3, -0.7, 0.2, -2.0, 0.4, 1.5, 0.1, 0.03])
    seen = len(peer.torques)

    def both():
        peer.send(ARM, q[:7])
        peer.send(["panda_finger_joint1", "panda_finger_joint2", "a_camera"], [q[7], q[7], 1.0])

    peer.wait(lambda: len(peer.torques) > seen + 3, "torques", each=both)
    np.testing.assert_allclose(peer.torques[-1].effort, oracle.torque(NAMES, q), atol=EXACT)


def test_additional_outputs_agree_with_pinocchio(context, oracle):
    """They are poses of links and tips, mass matrix and Jacobian, each on its own topic, for
    subscribers with the default QoS."""
    links, found, names = {}, {}, []
    parameters = {
        "robot_description_file": "panda",
        "tip_links": ["panda_hand"],
        "publish_mass_matrix": True,
        "jacobian_links": ["panda_hand"],
        "frame_prefix": "a_",
        "executor": "single",
        "rate": 200.0,
    }
    with NodeProcess(parameters) as node:
        peer = Peer(context)
        peer.listen(PoseArray, peer.own + "link_poses", lambda m: found.update(poses=m))
        peer.listen(PoseStamped, peer.own + "poses/panda_hand", lambda m: found.update(tip=m))
        peer.listen(Float64MultiArray, peer.own + "mass_matrix", lambda m: found.update(M=m))
        peer.listen(
            Float64MultiArray, peer.own + "jacobian/panda_hand", lambda m: found.update(J=m)
        )
        latched = {"durability": DurabilityPolicy.TRANSIENT_LOCAL}
        peer.listen(
            String, peer.own + "link_names", lambda m: names.extend(m.data.split()), **latched
        )
        node.wait_for("ready: panda")
        q = np.array([0.3, -0.7, 0.2, -2.0, 0.4, 1.5, 0.1, 0.03])
        peer.wait(lambda: len(found) == 4 and names, "all extras", each=lambda: peer.send(NAMES, q))
        links = dict(zip(names, found["poses"].poses, strict=True))
        for link, pose in [*links.items(), ("panda_hand", found["tip"].pose)]:
            T = oracle.pose(NAMES, q, link)
            np.testing.assert_allclose(
                [pose.position.x, pose.position.y, pose.position.z], T[:3, 3], atol=EXACT
            )
            x, y, z, w = (
                pose.orientation.x,
                pose.orientation.y,
                pose.orientation.z,
                pose.orientation.w,
            )
            first = [1 - 2 * (y * y + z * z), 2 * (x * y + z * w), 2 * (x * z - y * w)]
            np.testing.assert_allclose(first, T[:3, 0], atol=EXACT)
        assert found["poses"].header.frame_id == "a_panda_link0"
        M, J = found["M"], found["J"]
        assert [(d.label, d.size) for d in M.layout.dim] == [("dof", 8), ("dof", 8)]
        np.testing.assert_allclose(
            np.reshape(M.data, (8, 8)), oracle.mass_matrix(NAMES, q), atol=EXACT
        )
        assert [(d.label, d.size) for d in J.layout.dim] == [("linear_angular", 6), ("dof", 8)]
        np.testing.assert_allclose(
            np.reshape(J.data, (6, 8)), oracle.jacobian(NAMES, q, "panda_hand"), atol=EXACT
        )
        peer.close()


def reference(names, q=(), v=(), a=()):
    point = JointTrajectoryPoint(
        positions=list(map(float, q)),
        velocities=list(map(float, v)),
        accelerations=list(map(float, a)),
    )
    return JointTrajectory(joint_names=list(names), points=[point])


def test_modes_with_references_payload_and_wrench_agree_with_pinocchio(context, oracle):
    """A load and a push come while the node runs."""
    parameters = {
        "robot_description_file": "panda",
        "mode": "inverse_dynamics",
        "kp": [50] * 8,
        "kd": 10,
        "joint_limit_repulsion": "never",  # states and references may be beyond the limits
    }
    rng = np.random.default_rng(2)
    q, v, a = rng.uniform(-1.5, 1.5, 8), rng.normal(size=8), rng.normal(size=8)
    with NodeProcess({**parameters, "state_timeout": 1.0, "reference_timeout": 0}) as node:
        node.wait_for("ready: panda")
        peer = Peer(context)
        peer.wait_until_matched()
        references = peer.node.create_publisher(JointTrajectory, peer.own + "reference", 1)
        peer.wait(references.get_subscription_count, "reference matched")

        def wait_for_torques(expected, what, each=lambda: None):
            def send():
                each()
                peer.send(NAMES, q, v)

            peer.wait(
                lambda: peer.torques and np.allclose(peer.torques[-1].effort, expected, atol=EXACT),
                what,
                each=send,
            )

        wait_for_torques(oracle.torque(NAMES, q, v), "the bias force without a reference")
        references.publish(reference(NAMES[::-1], a=a[::-1]))
        wait_for_torques(oracle.torque(NAMES, q, v, a), "torques for the accelerations")

        assert peer.set_parameter("mode", "computed_torque").successful
        wanted, rate = q + 0.01, v * 0.9
        references.publish(reference(NAMES, wanted, rate, a))
        wait_for_torques(
            oracle.torque(NAMES, q, v, a + 50 * (wanted - q) + 10 * (rate - v)), "computed torque"
        )

        assert peer.set_parameter("mode", "gravity").successful
        wait_for_torques(oracle.torque(NAMES, q), "gravity again")
        wrenches = peer.node.create_publisher(WrenchStamped, peer.own + "external_wrench", 1)
        peer.wait(wrenches.get_subscription_count, "wrench matched")
        push = WrenchStamped()
        push.header.frame_id = "panda_hand"
        push.wrench.force.x, push.wrench.force.z, push.wrench.torque.y = 3.0, -5.0, 0.7
        pushed = oracle.push(NAMES, q, "panda_hand", np.array([3.0, 0.0, -5.0, 0.0, 0.7, 0.0]))
        wait_for_torques(
            oracle.torque(NAMES, q) - pushed,
            "the push compensated",
            each=lambda: wrenches.publish(push),
        )
        wait_for_torques(oracle.torque(NAMES, q), "the push forgotten")

        loaded = Oracle()
        loaded.add_load("panda_hand", 2.0, np.array([0.0, 0.01, 0.1]))
        for name, value in (
            ("payload.link", "panda_hand"),
            ("payload.com", [0.0, 0.01, 0.1]),
            ("payload.mass", 2.0),
        ):
            assert peer.set_parameter(name, value).successful
        wait_for_torques(loaded.torque(NAMES, q), "the load compensated")
        peer.close()


def test_many_namespaces_and_a_flat_batch_in_one_process(context, oracle):
    """There are three robots with their own topics, and 4,096 in one message."""
    spaces = ["r0", "r1", "fleet/r2"]
    parameters = {
        "robot_description_file": "panda",
        "namespaces": spaces,
        "ramp_time": 0.05,
        "position_limit_margin": 0.0,  # states are drawn beyond the limits too
    }
    with NodeProcess(parameters) as node:
        node.wait_for("ready: panda")
        peers = [Peer(context, space) for space in spaces]
        rng = np.random.default_rng(3)
        q = rng.uniform(-1.5, 1.5, (3, 8))

        def send_all():
            for peer, row in zip(peers, q, strict=True):
                peer.send(NAMES, row)
                peer.spin(0.0)

        for peer, row in zip(peers, q, strict=True):
            peer.wait(lambda p=peer: p.torques, "torques", each=send_all)
            np.testing.assert_allclose(
                peer.torques[-1].effort, oracle.torque(NAMES, row), atol=EXACT
            )
        assert peers[1].enable(each=send_all).success
        peers[1].wait(lambda: peers[1].commands, "commands of r1", each=send_all)
        assert not peers[0].commands and not peers[2].commands

        batches: list[Float64MultiArray] = []
        peers[0].listen(Float64MultiArray, "warpdyn/batch/torques", batches.append)
        states = peers[0].node.create_publisher(Float64MultiArray, "warpdyn/batch/state", 5)
        peers[0].wait(states.get_subscription_count, "batch matched")
        batch = rng.uniform(-1.5, 1.5, (4096, 2, 8))
        batch[7, 0, 3] = np.nan
        message = Float64MultiArray()
        message.data = array("d", batch.tobytes())
        peers[0].wait(
            lambda: batches, "batch torques", each=lambda: batches or states.publish(message)
        )
        assert [(d.label, d.size) for d in batches[0].layout.dim] == [("robot", 4096), ("dof", 8)]
        torque = np.reshape(batches[0].data, (4096, 8))
        for i in (0, 6, 8, 4095):
            np.testing.assert_allclose(torque[i], oracle.torque(NAMES, batch[i, 0]), atol=EXACT)
        assert not torque[7].any(), "the robot with NaN gets nothing, its neighbours are right"
        for peer in peers:
            peer.close()


LAW = """import warpdyn as wd


@wd.kernel
def impedance(robot, q, v, q_desired, v_desired, target: (3,), kd: () = 40.0, *, frame, kp=1.0):
    J = robot.jacobian(q, frame=frame, reference="local_world_aligned")[:3]
    force = kp * (target - robot.fk(q, frame=frame)[:3, 3]) - kd * (J @ v)
    return robot.gravity_torques(q) + J.T @ force + 10 * (q_desired - q) + 2 * (v_desired - v)
"""


def test_a_users_law_computes_the_commands(context, oracle, tmp_path):
    """References and inputs change at run time, and commands are within the limits."""
    (tmp_path / "laws_of_mine.py").write_text(LAW)
    parameters = {
        "robot_description_file": "panda",
        "law": "laws_of_mine:impedance",
        "law_options": ["frame=panda_hand", "kp=300"],
        "law_inputs.target": [0.4, 0.1, 0.5],
        "state_timeout": 1.0,
        "reference_timeout": 0.0,
        "ramp_time": 0.0,
        "max_tracking_error": 0.0,
        "position_limit_margin": 0.0,  # states are drawn beyond the limits too
        "joint_limit_repulsion": "never",  # and references
    }
    rng = np.random.default_rng(5)
    q, v = rng.uniform(-1.0, 1.0, 8), 0.1 * rng.normal(size=8)
    q[7] = 0.02
    J, place = (
        oracle.jacobian(NAMES, q, "panda_hand")[:3],
        oracle.pose(NAMES, q, "panda_hand")[:3, 3],
    )
    path = os.pathsep.join([str(tmp_path), *sys.path])
    with NodeProcess(parameters, PYTHONPATH=path) as node:
        node.wait_for("ready: panda.*law laws_of_mine:impedance")
        peer = Peer(context)
        peer.wait_until_matched()
        references = peer.node.create_publisher(JointTrajectory, peer.own + "reference", 1)
        peer.wait(references.get_subscription_count, "reference matched")

        def expected_torques(target, kd, position, rate):
            force = 300.0 * (np.array(target) - place) - kd * (J @ v)
            return oracle.torque(NAMES, q) + J.T @ force + 10 * (position - q) + 2 * (rate - v)

        def wait_for_torques(expected, what):
            peer.wait(
                lambda: peer.torques and np.allclose(peer.torques[-1].effort, expected, atol=EXACT),
                what,
                each=lambda: peer.send(NAMES, q, v),
            )

        wait_for_torques(
            expected_torques([0.4, 0.1, 0.5], 40.0, q, 0.0), "the law without a reference"
        )
        references.publish(reference(NAMES[::-1], (q + 0.01)[::-1], v[::-1]))
        wait_for_torques(
            expected_torques([0.4, 0.1, 0.5], 40.0, q + 0.01, v), "the law with a reference"
        )
        assert peer.set_parameter("law_inputs.target", [0.3, 0.0, 0.4]).successful
        assert peer.set_parameter("law_inputs.kd", 20.0).successful
        torque = expected_torques([0.3, 0.0, 0.4], 20.0, q + 0.01, v)
        wait_for_torques(torque, "the law with other inputs")
        refused = peer.set_parameter("law_inputs.target", [0.3, 0.0])
        assert not refused.successful and "must be 3 numbers" in refused.reason
        assert peer.enable(each=lambda: peer.send(NAMES, q, v)).success
        limit = wd.load_robot("panda").effort_limit
        peer.wait(
            lambda: (
                peer.commands
                and np.allclose(peer.commands[-1].data, np.clip(torque, -limit, limit), atol=EXACT)
            ),
            "commands",
            each=lambda: peer.send(NAMES, q, v),
        )
        peer.wait(lambda: not np.any(peer.commands[-1].data), "the stop of a stale state")


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"law": "no_such_module:f"}, "there is no module 'no_such_module'"),
        ({"law": "laws_of_mine:impedance", "law_inputs.tagret": [0.0]}, "law_inputs.tagret is no"),
        (
            {"law": "laws_of_mine:impedance", "law_options": ["frame=panda_hand"]},
            "law_inputs.target",
        ),
    ],
)
def test_an_unusable_law_ends_the_node(parameters, said, tmp_path):
    """The log has the reason, and the exit code is 2."""
    (tmp_path / "laws_of_mine.py").write_text(LAW)
    path = os.pathsep.join([str(tmp_path), *sys.path])
    with NodeProcess({"robot_description_file": "panda", **parameters}, PYTHONPATH=path) as node:
        node.wait_for(said)
        assert node.process.wait(30) == 2
