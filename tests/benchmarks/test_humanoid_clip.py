"""The bundled motion clip: its script reproduces it, and a robot can follow it."""

from __future__ import annotations

import numpy as np
import pytest

import warpdyn as wd
from benchmarks.rl.humanoid_clip import FEET, FILE, RATE, ROUTINE, Posture, moments, smooth
from warpdyn import rl

MODEL = wd.load_robot("humanoid")
CLIP = rl.MotionClip.read(FILE)
Q = CLIP.configurations(MODEL)


def test_the_script_reproduces_the_file() -> None:
    """The first frames are compared. The file has float32 precision."""
    posture, frames = Posture(), moments(ROUTINE)
    assert len(frames) == len(Q) and CLIP.rate == RATE
    for _ in range(5):
        posture.reach(frames[0])
    found = np.array([posture.reach(each) for each in frames[:15]])
    np.testing.assert_allclose(found[:, 7:], Q[:15, 7:], atol=1e-4)


def test_feet_are_on_the_ground_or_lifted_as_planned() -> None:
    """They are never below the ground. Each is lifted 16 cm once, and otherwise does not move."""
    points = wd.ContactPoints(MODEL).only("*_ankle_roll_link")
    heights = np.asarray(wd.point_heights(MODEL, Q, points=points))
    np.testing.assert_allclose(heights.min(axis=1), 0.0, atol=1e-5)
    for name in FEET:
        places = np.asarray(wd.fk(MODEL, Q, frame=name))[:, :3, 3]
        rise = places[:, 2] - places[:, 2].min()
        assert rise.max() == pytest.approx(0.16, abs=0.01)
        assert np.ptp(places[rise < 0.005, :2], axis=0).max() < 0.005


def test_the_centre_of_mass_is_over_the_standing_foot() -> None:
    lifted = np.array([each.lifted for each in moments(ROUTINE)])
    com = np.asarray(wd.com(MODEL, Q))
    for foot, other in ((0, 1), (1, 0)):
        alone = lifted[:, other] > 0.01
        place = np.asarray(wd.fk(MODEL, Q, frame=FEET[foot]))[alone, :3, 3]
        assert alone.sum() > 60
        assert np.abs(com[alone, :2] - place[:, :2] - [0.02, 0.0]).max() < 0.012


def test_the_clip_is_smooth_and_within_torque_limits() -> None:
    """Joint accelerations are below 20 rad/s². Without contacts the torques of arms and waist are
    within their limits."""
    v = np.asarray(wd.difference(MODEL, Q[:-1], Q[1:])) * RATE
    assert np.abs(np.diff(v, axis=0) * RATE)[:, 6:].max() < 20.0
    tau = np.asarray(wd.rnea(MODEL, Q[:-1], v, 0.0 * v))[:, 18:]
    assert (np.abs(tau) < MODEL.effort_limit[18:]).all()


def test_a_pose_begins_and_ends_at_rest() -> None:
    assert (smooth(0.0), smooth(0.5), smooth(1.0)) == (0.0, 0.5, 1.0)
    step = 1e-4
    assert smooth(step) < 1e-10 and 1.0 - smooth(1.0 - step) < 1e-10
