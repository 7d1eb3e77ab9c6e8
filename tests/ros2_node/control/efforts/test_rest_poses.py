"""Poses at rest, collected while the robot moves from one to the next."""

from __future__ import annotations

import numpy as np

from ros2_node.control.efforts.rest_poses import AVERAGED, MOST, SETTLING, RestPoses

KNOWN, STILL, MOVING = np.ones(2, dtype=bool), np.zeros(2), np.array([0.0, 0.1])


def rest(poses, q, tau, seconds=SETTLING + AVERAGED + 0.03, v=STILL, known=KNOWN):
    draw = np.random.default_rng(0)
    for _ in range(round(seconds / 0.01)):
        poses.add(0.01, np.asarray(q, float), v, tau + draw.normal(scale=0.1, size=2), known)


def test_a_rest_pose_is_the_mean_after_settling():
    poses = RestPoses(2, 2)
    rest(poses, [0.5, 0.0], np.array([900.0, 0.0]), SETTLING - 0.02)
    assert not len(poses)
    rest(poses, [0.5, 0.0], np.array([3.0, -1.0]))
    assert len(poses) == 1 and (poses.q == [[0.5, 0.0]]).all()
    np.testing.assert_allclose(poses.tau, [[3.0, -1.0]], atol=0.1)


def test_a_nearby_pose_replaces_the_old_one_and_a_gap_restarts_it():
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


def test_other_joints_with_efforts_discard_the_poses():
    poses = RestPoses(2, 2)
    rest(poses, [0.0, 0.0], np.zeros(2))
    assert len(poses) == 1
    rest(poses, [0.0, 0.0], np.zeros(2), 0.1, known=KNOWN & [True, False])
    assert not len(poses)


def test_a_pose_is_the_mean_of_0_5_s_after_0_3_s_of_settling():
    """Each state is weighted by its time. The next half second is another pose."""
    poses = RestPoses(1, 1)
    known = np.ones(1, dtype=bool)

    def add(dt, q, tau, v=0.0):
        poses.add(dt, np.array([q]), np.array([v]), np.array([tau]), known)

    add(0.3, 0.0, 1.0)
    add(0.2, 0.01, 2.0)
    np.testing.assert_allclose(poses.q, [[0.004]], rtol=1e-12)
    np.testing.assert_allclose(poses.tau, [[1.4]], rtol=1e-12)
    add(0.5, 3.0, 7.0)
    np.testing.assert_allclose(poses.q, [[0.004], [3.0]], rtol=1e-12)
    np.testing.assert_allclose(poses.tau, [[1.4], [7.0]], rtol=1e-12)
    for v, rests in ((0.01, False), (0.0099, True)):
        add(0.5, 6.0, 0.0, v)
        assert len(poses) == 2 + rests


def test_poses_0_1_rad_apart_are_distinct():
    """The older one of two closer poses is discarded. The newest hundred poses are kept."""
    for q, count in ((0.1, 2), (0.099, 1)):
        poses = RestPoses(1, 1)
        for place in (0.0, q):
            poses.add(0.8, np.array([place]), np.zeros(1), np.zeros(1), KNOWN[:1])
        assert len(poses) == count and poses.q[-1] == q
    for k in range(105):
        poses.add(0.8, np.array([float(k)]), np.zeros(1), np.zeros(1), KNOWN[:1])
    np.testing.assert_array_equal(poses.q[:, 0], np.arange(5.0, 105.0))
