"""A trained policy in the node, over DDS: a quadruped walks, and bad policies are refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import policy_files
import pytest
from geometry_msgs.msg import Twist
from harness import PATIENCE, ForkedChild, NodeProcess, Peer
from nav_msgs.msg import Odometry
from policy_files import TURNING, linear_policy, turning_weights

from ros2_node.demo.walking import Leg, walk

NAMES = ["left_joint", "right_joint"]


@pytest.fixture(scope="module")
def turning(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    """Parameters of a node with a policy of one layer."""
    path: Path = tmp_path_factory.mktemp("policies") / "turn.onnx"
    linear_policy(path, turning_weights(), task="Turn", robot="turning")
    task = {"policy": str(path), "policy_task": f"{policy_files.__file__}:Turn"}
    return {"robot_description": TURNING, "ramp_time": 0.0, **task}


def test_the_quadruped_follows_cmd_vel(monkeypatch):
    """It walks forward, in a curve, and stops. It does not fall, the guards are active, and the
    policy is in time."""
    monkeypatch.setattr("ros2_node.demo.walking.Child", ForkedChild)
    legs = (Leg(1.0), Leg(2.5, 0.6), Leg(2.5, 0.4, 0.0, 0.5), Leg(2.0))
    # On a busy machine /clock may arrive long before the states of the same time.
    node = {"state_timeout": 10.0, "max_state_age": 0.0}
    found = walk(legs, "quadruped_velocity", node=node)
    assert not found.fell
    speed, turning = found.errors
    assert speed < 0.15 and turning < 0.15
    ahead = found.place[found.times <= found.times[0] + 3.5, 0]
    assert 0.8 < ahead[-1] - ahead[0] < 2.0
    assert found.diagnostics["state"] == "enabled"
    assert found.diagnostics["mode"] == "quadruped_velocity"
    odd = [key for key in found.diagnostics if key.startswith(("rejected", "noticed"))]
    assert set(odd) <= {"noticed.policy_late"}
    assert int(found.diagnostics.get("noticed.policy_late", "0")) < 10


def test_odom_and_cmd_vel_reach_the_policy(turning, context):
    """The torques are those of a refreshed command and of the base pose in odom."""
    q, v = np.array([0.1, -0.2]), np.array([0.3, 0.5])
    with NodeProcess(turning) as node:
        node.wait_for("ready: turning")
        peer = Peer(context)
        odom = peer.node.create_publisher(Odometry, "odom", 10)
        speeds = peer.node.create_publisher(Twist, "cmd_vel", 10)
        refused = peer.wait(
            lambda: (a := peer.enable(each=lambda: peer.send(NAMES, q, v))) and a.message,
            "an answer",
        )
        assert "there is no fresh odom, which the policy needs" in refused or (
            "there is no fresh joint_states" in refused
        )

        def send_all():
            place = Odometry(child_frame_id="trunk")
            place.header.stamp = peer.node.get_clock().now().to_msg()
            place.pose.pose.position.x, place.pose.pose.orientation.w = 0.5, 1.0
            odom.publish(place)
            command = Twist()
            command.linear.x, command.angular.z = 1.0, 0.4
            speeds.publish(command)
            peer.send(NAMES, q, v)

        targets = np.array([0.5 * 0.4, 0.1 * (0.5 + 1.0)])
        wanted = np.array([30.0, 40.0]) * (targets - q) - 2.0 * v
        peer.wait(
            lambda: (
                peer.torques
                and np.allclose([peer.torques[-1].effort[k] for k in (0, 1)], wanted, atol=1e-5)
            ),
            "its torques",
            each=send_all,
        )
        assert peer.enable(each=send_all).success
        limited = np.clip(wanted, [-20.0, -8.0], [20.0, 8.0])
        peer.wait(
            lambda: peer.commands and np.allclose(peer.commands[-1], limited, atol=1e-5),
            "its commands",
            each=send_all,
        )
        peer.starve(each=lambda: peer.send(NAMES, q, v, effort=()))
        assert "no valid odom for 0.1 s" in peer.message
        peer.close()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"policy": "nowhere.onnx"}, r"policy: nowhere.onnx: no such policy file"),
        ({"policy_task": "cartpole_swing_up"}, r"moves 'slider' of cartpole, and turning has no"),
        ({"mode": "computed_torque"}, r"policy takes the place of mode"),
    ],
)
def test_an_unusable_policy_ends_the_node_with_one_line(turning, change, said):
    """The exit code is 2, without a traceback."""
    with NodeProcess({**turning, **change}) as node:
        node.wait_for(said)
        assert node.process.wait(PATIENCE) == 2
        assert "Traceback" not in node.text()
