"""The reference of a motion: its table, its repetitions, and the frames ahead."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

rl = pytest.importorskip("warpdyn.rl")

import warpdyn as wd
from warpdyn.rl.tasks.motion_clip import MotionClip
from warpdyn.rl.tasks.motion_reference import MotionReference

MODEL = wd.load_robot("quadruped")
HOME = np.array(MODEL.configurations["home"], float)
TWIST = np.array([0.5, 0.1, 0.0, 0.0, 0.0, 0.8, *np.zeros(12)])
FOOT = (wd.ContactPoint("FL_foot", (0.0, 0.0, 0.0), 0.0),)
STEP = 0.02


class Rows:
    """A table in the form that the functions of a task take."""

    def __init__(self, table: np.ndarray):
        self.table = table

    def look(self, rows: Any, columns: Any) -> np.ndarray:
        return self.table[np.asarray(rows, int), np.asarray(columns, int)]


def circle(steps: Any) -> np.ndarray:
    """The robot on a circle after these numbers of steps, at constant speed and turning rate."""
    steps = np.atleast_1d(np.asarray(steps, float))
    start = np.repeat(HOME[None], len(steps), 0)
    return np.asarray(wd.integrate(MODEL, start, steps[:, None] * STEP * TWIST))


def reference(q: np.ndarray, **options: Any) -> MotionReference:
    clip = MotionClip(1.0 / STEP, tuple(MODEL.joint_names), q[:, 7:], q[:, :3], q[:, 3:7])
    return MotionReference(MODEL, clip, STEP, more=5, bodies=FOOT, **options)


def test_a_row_has_the_state_and_the_positions_of_the_bodies() -> None:
    """Velocities are differences of the clip, positions of bodies its forward kinematics."""
    made = reference(circle(range(13)), repeat=True)
    assert made.frames == 12 and made.table.shape == (13 + 5, 19 + 18 + 3)
    s = rl.Episode({"motion": Rows(made.table), "facing": 0.0, "offset": np.zeros(2)})
    q, v = made.state(s, 7.0)
    np.testing.assert_allclose(q, circle(7)[0], atol=1e-9)
    np.testing.assert_allclose(v, TWIST, atol=1e-9)
    wanted = np.asarray(wd.point_positions(MODEL, circle(7), points=FOOT))[0]
    np.testing.assert_allclose(made.places(s, 7.0), wanted, atol=1e-9)
    joints, speeds = made.joints(s, 7.0)
    np.testing.assert_allclose(joints, HOME[7:], atol=1e-9)
    assert (np.abs(speeds) < 1e-9).all()


def test_a_repeated_motion_continues_along_its_circle() -> None:
    """The base and the frames ahead of it are on the circle after two and a half laps."""
    made = reference(circle(range(13)), repeat=True)
    assert made.lap_turn == pytest.approx(12 * STEP * 0.8)
    fields = {"motion": Rows(made.table), "frame": 0.0, "facing": 0.0, "offset": np.zeros(2)}
    for step in range(31):
        s = rl.Episode(fields)
        for ahead in (0, 1, 5):
            place, turned = made.base(s, s.frame + ahead)
            exact = circle(step + ahead)
            np.testing.assert_allclose(place, exact[0, :3], atol=1e-7)
            pose = np.asarray(wd.fk(MODEL, exact, frame="base"))[0]
            np.testing.assert_allclose(turned, pose[:3, :3], atol=1e-7)
            foot = np.asarray(wd.point_positions(MODEL, exact, points=FOOT))[0]
            np.testing.assert_allclose(made.places(s, s.frame + ahead), foot, atol=1e-7)
        fields |= made.after_step(s)
    assert fields["frame"] == 31 % 12


def test_a_motion_without_repetition_stays_at_its_last_frame() -> None:
    """It is at rest there, and its lap turns by zero."""
    made = reference(circle(range(13)), repeat=False)
    s = rl.Episode({"motion": Rows(made.table), "frame": 12.0})
    assert made.after_step(s) == {"frame": 12.0} and made.lap_turn == 0.0
    q, v = made.state(s, 15.0)
    np.testing.assert_allclose(q, circle(12)[0], atol=1e-9)
    assert (v == 0.0).all()


def test_a_closed_motion_repeats_by_default() -> None:
    q = circle(range(13))
    assert reference(q, repeat=None).repeat
    q[-1, 8] += 0.2
    assert not reference(q, repeat=None).repeat


def test_repeating_a_motion_that_is_not_closed_is_refused() -> None:
    """The error says whether the height, the tilt or a joint differs."""
    for column, change, error in (
        (2, 0.1, "the height of the base differs by 0.1 m"),
        (8, 0.2, f"{MODEL.joint_names[1]} differs by 0.2"),
    ):
        q = circle(range(13))
        q[-1, column] += change
        with pytest.raises(rl.TaskError, match=f"so it cannot repeat: {error}"):
            reference(q, repeat=True)
    q = circle(range(13))
    q[:, 3:7] = [0.0, 0.0, 0.0, 1.0]
    q[-1, 3:7] = [np.sin(0.1), 0.0, 0.0, np.cos(0.1)]
    with pytest.raises(rl.TaskError, match=r"the tilt of the base differs by 0\.199 rad"):
        reference(q, repeat=True)


def test_a_motion_shorter_than_two_steps_is_refused() -> None:
    clip = MotionClip(500.0, ("shoulder", "elbow"), np.zeros((6, 2)))
    arm = wd.load_robot("double_pendulum").rename(
        joints=dict(
            zip(wd.load_robot("double_pendulum").joint_names, clip.joint_names, strict=True)
        )
    )
    with pytest.raises(rl.TaskError, match=r"lasts 0.01 s, less than two steps of 0.02 s"):
        MotionReference(arm, clip, STEP, repeat=False, more=1, bodies=())
