"""Poses at rest are gathered while the robot moves from one to the next."""

from __future__ import annotations

import numpy as np

from ros2_node.control.efforts.rest_poses import AVERAGED, MOST, SETTLING, RestPoses

KNOWN, STILL, MOVING = np.ones(2, dtype=bool), np.zeros(2), np.array([0.0, 0.1])


def rest(poses, q, tau, seconds=SETTLING + AVERAGED + 0.03, v=STILL, known=KNOWN):
    draw = np.random.default_rng(0)
    for _ in range(round(seconds / 0.01)):
        poses.add(0.01, np.asarray(q, float), v, tau + draw.normal(scale=0.1, size=2), known)


def test_a_pose_is_the_mean_of_what_was_measured_when_it_had_settled():
    poses = RestPoses(2, 2)
    rest(poses, [0.5, 0.0], np.array([900.0, 0.0]), SETTLING - 0.02)
    assert not len(poses)
    rest(poses, [0.5, 0.0], np.array([3.0, -1.0]))
    assert len(poses) == 1 and (poses.q == [[0.5, 0.0]]).all()
    np.testing.assert_allclose(poses.tau, [[3.0, -1.0]], atol=0.1)


def test_the_same_pose_counts_once_and_motion_or_a_gap_begins_anew():
    poses = RestPoses(2, 2)
    for q in (0.0, 0.01, 1.0, 2.0):
        rest(poses, [q, 0.0], np.zeros(2))
        poses.add(0.01, np.zeros(2), MOVING, np.zeros(2), KNOWN)
    np.testing.assert_allclose(poses.q[:, 0], [0.01, 1.0, 2.0])
    for _ in range(3):
        rest(poses, [5.0, 0.0], np.zeros(2), 0.7)
        poses.add(0.0, np.zeros(2), STILL, np.zeros(2), KNOWN)
    assert len(poses) == 3, "never long enough"
    for k in range(MOST + 5):
        rest(poses, [0.2 * k, 3.0], np.zeros(2))
        poses.add(0.01, np.zeros(2), MOVING, np.zeros(2), KNOWN)
    assert len(poses) == MOST


def test_other_joints_with_efforts_are_another_arm():
    poses = RestPoses(2, 2)
    rest(poses, [0.0, 0.0], np.zeros(2))
    assert len(poses) == 1
    rest(poses, [0.0, 0.0], np.zeros(2), 0.1, known=KNOWN & [True, False])
    assert not len(poses)
