"""Parameters of the teleoperation demo: what the nodes and the plant take."""

from __future__ import annotations

import numpy as np
from fleets import MODEL, Q

from ros2_node.control.robot_check import check_robot
from ros2_node.control.settings.node_settings import Settings
from ros2_node.demo.plant import READY
from ros2_node.demo.teleoperation_setup import JOINTS, POSE, STIFFNESS, follower, leader, plant


def test_both_nodes_can_be_made():
    for values in (leader(), follower()):
        check_robot(MODEL, Settings.of(values))


def test_the_pose_is_ready_and_the_lists_fit():
    np.testing.assert_allclose(POSE, [READY.get(joint, 0.0) for joint in JOINTS])
    assert len(STIFFNESS) == len(Q) and plant()["command_joints"] == JOINTS
