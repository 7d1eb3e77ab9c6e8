"""/tf and /tf_static with the generated tf2_msgs. Their products are Pinocchio's link poses."""

from __future__ import annotations

import numpy as np
from harness import NodeProcess, Peer
from oracle import Oracle
from rclpy.qos import DurabilityPolicy

NAMES = [*(f"panda_joint{i}" for i in range(1, 8)), "panda_finger_joint1"]
Q = np.array([0.3, -0.7, 0.2, -2.0, 0.4, 1.5, 0.1, 0.02])


def matrix(transform):
    move, turn = transform.translation, transform.rotation
    x, y, z, w = turn.x, turn.y, turn.z, turn.w
    T = np.eye(4)
    T[:3, 3] = move.x, move.y, move.z
    T[:3, :3] = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    return T


def test_transforms_form_the_tree_of_links(context):
    from tf2_msgs.msg import TFMessage

    with NodeProcess(
        {"robot_description_file": "panda", "publish_tf": True, "frame_prefix": "left/"}
    ) as node:
        node.wait_for("ready: panda")
        peer = Peer(context)
        above = {}

        def remember(message):
            for t in message.transforms:
                above[t.child_frame_id] = (t.header.frame_id, matrix(t.transform))

        peer.listen(TFMessage, "/tf", remember)
        peer.listen(TFMessage, "/tf_static", remember, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        peer.wait(lambda: len(above) == 12, "all transforms", each=lambda: peer.send(NAMES, Q))
        oracle = Oracle()
        for frame in above:
            T, at = np.eye(4), frame
            while at in above:
                at, step = above[at]
                T = step @ T
            assert at == "left/panda_link0"
            np.testing.assert_allclose(
                T, oracle.pose(NAMES, Q, frame.removeprefix("left/")), atol=1e-9
            )
        peer.close()


def test_without_tf2_msgs_the_node_warns_once_and_continues(context, tmp_path):
    """A tf2_msgs that cannot be imported stands for a machine without it."""
    (tmp_path / "tf2_msgs").mkdir()
    (tmp_path / "tf2_msgs" / "__init__.py").write_text("raise ImportError('not installed')\n")
    import os

    path = os.pathsep.join([str(tmp_path), os.environ["PYTHONPATH"]])
    with NodeProcess(
        {"robot_description_file": "panda", "publish_tf": True}, PYTHONPATH=path
    ) as node:
        node.wait_for("ready: panda")
        assert node.text().count("tf2_msgs is not installed") == 1
        peer = Peer(context)
        peer.wait(lambda: peer.torques, "torques", each=lambda: peer.send(NAMES, Q))
        peer.close()
