"""Parameters of the nodes and plants of the teleoperation demo."""

from __future__ import annotations

import numpy as np
from fleets import MODEL, Q

from ros2_node.control.fleet import check_robot
from ros2_node.control.settings.node_settings import Settings
from ros2_node.demo.plant import READY
from ros2_node.demo.teleoperation_setup import JOINTS, POSE, STIFFNESS, follower, leader, plant


def test_the_settings_of_both_nodes_are_valid():
    for values in (leader(), follower()):
        check_robot(MODEL, Settings.of(values))


def test_the_pose_is_ready_and_the_lists_fit():
    np.testing.assert_allclose(POSE, [READY.get(joint, 0.0) for joint in JOINTS])
    assert len(STIFFNESS) == len(Q) and plant()["command_joints"] == JOINTS


def test_nodes_and_plants_have_the_documented_parameters():
    """Four fifths of the leader's friction are compensated. The plants wait for their commands."""
    node = {
        "robot_description_file": "panda",
        "joints": JOINTS,
        "start_enabled": True,
        "ramp_time": 0.3,
        "state_timeout": 1.0,
        "max_state_age": 0.0,
    }
    teaching = {"law": "teaching", "friction.scale": 0.8, "friction.coulomb": 1.0}
    assert leader() == {**node, **teaching}
    assert follower() == {
        **node,
        "law": "joint_impedance",
        "law_inputs.stiffness": [300.0, 300.0, 200.0, 200.0, 60.0, 40.0, 20.0, 0.0],
        "law_inputs.damping_ratio": 1.0,
        "reference_timeout": 0.2,
    }
    assert plant() == {
        "robot": "panda",
        "braked": True,
        "lockstep": True,
        "rate": 250.0,
        "friction": 1.0,
        "command_joints": JOINTS,
        "pose_joints": JOINTS,
        "pose": POSE,
    }
    assert len(JOINTS) == 7 and JOINTS[::6] == ["panda_joint1", "panda_joint7"]
