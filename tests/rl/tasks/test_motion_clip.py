"""Clips: what files hold, which are refused, velocities and other rates."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

rl = pytest.importorskip("warpdyn.rl")

import warpdyn as wd
from warpdyn.rl.tasks.motion_clip import MotionClip, at_rate, velocities_of

MODEL = wd.load_robot("quadruped")
ARM = wd.load_robot("double_pendulum")
TWIST = np.array([0.5, 0.1, 0.0, 0.1, 0.0, 0.8, *np.linspace(-0.2, 0.2, 12)])


def motion(frames: int = 11, rate: float = 20.0) -> np.ndarray:
    """A motion of constant velocity TWIST, from home."""
    home = np.array(MODEL.configurations["home"], float)
    times = np.arange(frames)[:, None] / rate
    return np.asarray(wd.integrate(MODEL, np.repeat(home[None], frames, 0), times * TWIST))


def clip(**changed: Any) -> MotionClip:
    q = motion()
    made = MotionClip(20.0, tuple(MODEL.joint_names), q[:, 7:], q[:, :3], q[:, 3:7])
    return replace(made, **changed)


@pytest.mark.parametrize("ending", ["csv", "npz"])
def test_a_written_clip_is_read_again(ending: str, tmp_path: Path) -> None:
    """With a free base, and without one; joints in any order."""
    path = tmp_path / f"motion.{ending}"
    clip().write(path)
    found = MotionClip.read(path)
    assert found.rate == pytest.approx(20.0) and found.seconds == pytest.approx(0.5)
    np.testing.assert_allclose(found.configurations(MODEL), motion(), atol=2e-6)
    angles = np.linspace(0.0, 1.0, 5)[:, None] * [1.0, -1.0]
    names = tuple(reversed(ARM.joint_names))
    MotionClip(10.0, names, angles[:, ::-1]).write(path)
    np.testing.assert_allclose(MotionClip.read(path).configurations(ARM), angles, atol=2e-6)


def test_the_columns_of_a_csv_file_may_have_any_order(tmp_path: Path) -> None:
    path = tmp_path / "motion.csv"
    clip().write(path)
    rows = [line.split(",") for line in path.read_text().splitlines()]
    path.write_text("\n".join(",".join(reversed(row)) for row in rows))
    np.testing.assert_allclose(MotionClip.read(path).configurations(MODEL), motion(), atol=2e-6)


WRONG: list[tuple[str, Any, str]] = [
    ("two frames", lambda: clip(joint_positions=motion()[:2, 7:]), "base_position of shape"),
    ("too short", lambda: MotionClip(9.0, ("a",), np.zeros((2, 1))), "2 frames; a motion needs 3"),
    ("no rate", lambda: clip(rate=0.0), "a rate of 0.0 frames per second"),
    ("half a base", lambda: clip(base_quaternion=None), "needs both base_position and"),
    ("w first", lambda: clip(base_quaternion=2.0 * motion()[:, 3:7]), "of length 2 in frame 0"),
    ("NaN", lambda: clip(base_position=motion()[:, :3] / 0.0), "not finite, in frame 0"),
    ("twice", lambda: MotionClip(9.0, ("a", "a"), np.zeros((3, 2))), "names a more than once"),
]


@pytest.mark.parametrize(("make", "error"), [x[1:] for x in WRONG], ids=[x[0] for x in WRONG])
@pytest.mark.filterwarnings("ignore:divide by zero")
@pytest.mark.filterwarnings("ignore:invalid value")
def test_a_clip_that_is_none_is_refused(make: Any, error: str) -> None:
    with pytest.raises(rl.TaskError, match=error):
        make()


def test_a_clip_of_another_robot_is_refused_by_name() -> None:
    names = [*MODEL.joint_names]
    with pytest.raises(rl.TaskError, match=f"lacks the joint {names[0]} of quadruped"):
        clip(joint_names=("other", *names[1:])).configurations(MODEL)
    made = clip(joint_names=(*names, "tail"), joint_positions=np.zeros((11, 13)))
    with pytest.raises(rl.TaskError, match="has the joint tail, which quadruped lacks"):
        made.configurations(MODEL)
    with pytest.raises(rl.TaskError, match="has no pose of the base, which quadruped needs"):
        clip(base_position=None, base_quaternion=None).configurations(MODEL)
    made = replace(clip(), joint_names=ARM.joint_names, joint_positions=np.zeros((11, 2)))
    with pytest.raises(rl.TaskError, match="but the base of double_pendulum is fixed"):
        made.configurations(ARM)
    far = motion()[:, 7:]
    far[4, 2] = 3.0
    with pytest.raises(rl.TaskError, match=f"{names[2]} at 3 in frame 4; its limits are"):
        clip(joint_positions=far).configurations(MODEL)


def test_files_that_are_no_motions_are_refused(tmp_path: Path) -> None:
    """In one line that names the file."""
    cases: dict[str, tuple[str, str]] = {
        "x.txt": ("", "CSV or NPZ files, by their ending"),
        "empty.csv": ("", "must have 0 numbers in each row"),
        "words.csv": ("time,a\n0,b\n", "is no CSV file of a motion"),
        "ragged.csv": ("time,a\n0,1\n1\n", "is no CSV file of a motion"),
        "timeless.csv": ("a\n0\n1\n2\n", "has no column time"),
        "half.csv": ("time,base_x\n0,1\n1,1\n2,1\n", "has no column base_y and 5 more"),
        "uneven.csv": ("time,a\n0,1\n1,1\n2,1\n5,1\n", "frame 3 comes 3 s after the one before"),
        "twice.csv": ("time,a,a\n0,1,1\n1,1,1\n2,1,1\n", "names a column twice"),
        "text.npz": ("no archive", "is no NPZ file of a motion"),
    }
    for name, (text, error) in cases.items():
        (tmp_path / name).write_text(text)
        with pytest.raises(rl.TaskError, match=error) as caught:
            MotionClip.read(tmp_path / name)
        assert str(tmp_path / name) in str(caught.value)
    with pytest.raises(rl.TaskError, match="no such motion file"):
        MotionClip.read(tmp_path / "none.csv")
    np.savez(
        tmp_path / "other.npz", rate=1.0, joint_names=["a"], joint_positions=np.zeros((3, 1)), v=1
    )
    with pytest.raises(rl.TaskError, match="has the array v; a motion has joint_names, rate"):
        MotionClip.read(tmp_path / "other.npz")
    np.savez(tmp_path / "code.npz", rate=1.0, joint_names=[print], joint_positions=np.zeros((3, 1)))
    with pytest.raises(rl.TaskError, match=r"is no NPZ file of a motion: Object arrays"):
        MotionClip.read(tmp_path / "code.npz")


def test_velocities_of_a_constant_motion_are_exact() -> None:
    """On the manifold: linear and angular velocity of the base in its own axes, joint speeds."""
    found = velocities_of(MODEL, motion(), 20.0)
    np.testing.assert_allclose(found, np.repeat(TWIST[None], 11, 0), atol=1e-9)


def test_a_closed_motion_has_equal_velocities_at_both_ends() -> None:
    times = np.linspace(0.0, 2.0 * np.pi, 41)
    q = np.stack([np.sin(times), 0.0 * times], 1)
    rate = 40.0 / (2.0 * np.pi)
    v = velocities_of(ARM, q, rate, closed=True)
    assert (v[0] == v[-1]).all() and v[0, 0] == pytest.approx(1.0, abs=0.01)
    np.testing.assert_allclose(v[:, 0], np.cos(times), atol=0.01)


@pytest.mark.parametrize("wanted", [50.0, 20.0, 7.0])
def test_another_rate_is_the_same_motion(wanted: float) -> None:
    """A motion of constant velocity is met exactly; no frame is beyond its end."""
    v = velocities_of(MODEL, motion(), 20.0)
    q, w = at_rate(MODEL, motion(), v, 20.0, wanted)
    frames = int(np.floor(0.5 * wanted + 1e-6)) + 1
    assert len(q) == len(w) == frames
    exact = motion(frames, wanted)
    np.testing.assert_allclose(np.asarray(wd.difference(MODEL, exact, q)), 0.0, atol=1e-7)
    np.testing.assert_allclose(w, np.repeat(TWIST[None], frames, 0), atol=1e-9)
