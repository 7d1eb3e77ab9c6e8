"""Motion clips: contents of files, files that are refused, velocities and other rates."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

rl = pytest.importorskip("warpdyn.rl")

import warpdyn as wd
from warpdyn.rl.tasks import motion_clip
from warpdyn.rl.tasks.motion_clip import REMEDY, MotionClip, at_rate, velocities_of

MODEL = wd.load_robot("quadruped")
ARM = wd.load_robot("double_pendulum")
TWIST = np.array([0.5, 0.1, 0.0, 0.1, 0.0, 0.8, *np.linspace(-0.2, 0.2, 12)])


def motion(frames: int = 11, rate: float = 20.0) -> np.ndarray:
    """A motion of constant velocity TWIST that starts at home."""
    home = np.array(MODEL.configurations["home"], float)
    times = np.arange(frames)[:, None] / rate
    return np.asarray(wd.integrate(MODEL, np.repeat(home[None], frames, 0), times * TWIST))


def clip(**changed: Any) -> MotionClip:
    q = motion()
    made = MotionClip(20.0, tuple(MODEL.joint_names), q[:, 7:], q[:, :3], q[:, 3:7])
    return replace(made, **changed)


@pytest.mark.parametrize("ending", ["csv", "npz"])
def test_a_written_clip_is_read_back(ending: str, tmp_path: Path) -> None:
    """The robot has a free base or a fixed one. Joints may have any order."""
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
def test_an_invalid_clip_is_refused(make: Any, error: str) -> None:
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


def test_files_without_a_motion_are_refused(tmp_path: Path) -> None:
    """The message is one line that names the file."""
    cases: dict[str, tuple[str, str]] = {
        "x.txt": ("", "CSV or NPZ files, by their ending"),
        "empty.csv": ("", "must have 0 numbers in each row"),
        "words.csv": ("time,a\n0,b\n", "is not a CSV file of a motion"),
        "ragged.csv": ("time,a\n0,1\n1\n", "is not a CSV file of a motion"),
        "timeless.csv": ("a\n0\n1\n2\n", "has no column time"),
        "half.csv": ("time,base_x\n0,1\n1,1\n2,1\n", "has no column base_y and 5 more"),
        "uneven.csv": ("time,a\n0,1\n1,1\n2,1\n5,1\n", "frame 3 comes 3 s after the one before"),
        "twice.csv": ("time,a,a\n0,1,1\n1,1,1\n2,1,1\n", "names a column twice"),
        "text.npz": ("no archive", "is not an NPZ file of a motion"),
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
    with pytest.raises(rl.TaskError, match=r"is not an NPZ file of a motion: Object arrays"):
        MotionClip.read(tmp_path / "code.npz")


def test_velocities_of_a_constant_motion_are_exact_on_the_manifold() -> None:
    """The base has linear and angular velocity in its own axes, and joints have speeds."""
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
def test_a_clip_at_another_rate_is_the_same_motion(wanted: float) -> None:
    """A motion of constant velocity is resampled exactly. No frame is after its end."""
    v = velocities_of(MODEL, motion(), 20.0)
    q, w = at_rate(MODEL, motion(), v, 20.0, wanted)
    frames = int(np.floor(0.5 * wanted + 1e-6)) + 1
    assert len(q) == len(w) == frames
    exact = motion(frames, wanted)
    np.testing.assert_allclose(np.asarray(wd.difference(MODEL, exact, q)), 0.0, atol=1e-7)
    np.testing.assert_allclose(w, np.repeat(TWIST[None], frames, 0), atol=1e-9)


def test_a_file_of_another_ending_is_neither_read_nor_written(tmp_path: Path) -> None:
    path = tmp_path / "motion.txt"
    said = f"^{re.escape(str(path))}: motions are CSV or NPZ files, by their ending$"
    with pytest.raises(rl.TaskError, match=said):
        clip().write(path)
    assert not path.exists()
    (tmp_path / "motion.CSV").write_text("time,a\n0,1\n1,1\n2,1\n")
    assert MotionClip.read(tmp_path / "motion.CSV").joint_names == ("a",)


def test_unreadable_files_are_refused_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder, a pipe, and a disk that fails."""
    (tmp_path / "folder.csv").mkdir()
    os.mkfifo(tmp_path / "pipe.npz")
    for name in ("folder.csv", "pipe.npz"):
        with pytest.raises(rl.TaskError, match=f"^{re.escape(str(tmp_path / name))} .*{REMEDY}"):
            MotionClip.read(tmp_path / name)

    def fail_to_read(*_: object) -> bytes:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(motion_clip, "read_regular_file", fail_to_read)
    with pytest.raises(rl.TaskError, match=r"^x\.csv cannot be read: Input/output error$"):
        MotionClip.read("x.csv")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("time,a\n0,1\n1,1\n", "needs 3 or more frames with finite times"),
        ("time,a\n0,1\nnan,1\n2,1\n", "needs 3 or more frames with finite times"),
        (
            "time,a\n2,1\n1,1\n0,1\n",
            "frame 1 comes -1 s after the one before, and the mean is -1 s",
        ),
        ("time,a\n0,1\n0,1\n0,1\n", "frame 1 comes 0 s after the one before, and the mean is 0 s"),
        ("time,a\n0,1\n1,1\n2,1,3\n", "is not a CSV file of a motion: "),
        ("time,a\n0,1,5\n1,1,5\n2,1,5\n", "must have 2 numbers in each row, as many as names"),
        ("time,base_q\n0,1\n1,1\n2,1\n", "0 frames"),
    ],
)
def test_a_table_without_a_motion_is_refused(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text(text)
    if said == "0 frames":  # an unknown column is taken for a joint
        assert MotionClip.read(path).joint_names == ("base_q",)
        return
    with pytest.raises(rl.TaskError, match=re.escape(said)) as caught:
        MotionClip.read(path)
    assert str(caught.value).startswith(str(path))


def test_steps_in_time_may_differ_by_a_tenth(tmp_path: Path) -> None:
    """Each step may differ from the mean step by a tenth. Positions are interpolated at even times,
    and the rate is the mean rate."""
    path = tmp_path / "a.csv"
    path.write_text("time,a\n0,1\n1.09,2\n2,3\n\n")
    found = MotionClip.read(path)
    assert found.rate == 1.0
    np.testing.assert_allclose(found.joint_positions.ravel(), [1.0, 1.0 + 1.0 / 1.09, 3.0])
    path.write_text("time,a\n0,1\n1.11,2\n2,3\n")
    with pytest.raises(rl.TaskError, match=r"frame 1 comes 1\.11 s after the one before"):
        MotionClip.read(path)


def test_frames_at_uneven_times_are_the_same_motion(tmp_path: Path) -> None:
    """A recorder that becomes slower: each step is within a tenth of the mean, and the frame in the
    middle is 20 frames late. Joint speeds and the twist of the base stay constant."""
    path, times = tmp_path / "a.csv", np.cumsum([0.0, *np.linspace(0.91, 1.09, 200)]) / 50.0
    home = np.repeat(np.array(MODEL.configurations["home"], float)[None], len(times), 0)
    spin = np.array([0.5, 0.1, 0.0, 0.0, 0.0, 0.8, *[0.0] * 12])
    q = np.asarray(wd.integrate(MODEL, home, times[:, None] * spin))
    q[:, 7] += 0.05 * times
    q[:100, 3:7] *= -1.0  # the same rotations
    names = [motion_clip.TIME, *motion_clip.PLACE, *motion_clip.TURN, *MODEL.joint_names]
    np.savetxt(
        path, np.column_stack([times, q]), header=",".join(names), delimiter=",", comments=""
    )
    found = MotionClip.read(path)
    speeds = velocities_of(MODEL, found.configurations(MODEL), found.rate)
    spin[6] = 0.05
    # Between frames the base moves on lines, not on arcs: v ω / 8 of a step [m] apart.
    np.testing.assert_allclose(speeds, np.repeat(spin[None], 201, 0), atol=2e-3)


def test_a_wrapped_angle_is_unwrapped() -> None:
    """The angle of a joint without limits may wrap. A joint with limits cannot turn by half a turn
    in a frame. A slider may move by any distance."""
    builder = wd.ModelBuilder("wheel").add_link("base").add_link("rim", mass=1.0)
    builder.add_joint("turn", "continuous", "base", "rim")
    angles = np.linspace(3.0, 15.0, 61)[:, None]
    wrapped = (angles + np.pi) % (2.0 * np.pi) - np.pi
    wheel = builder.build()
    q = MotionClip(10.0, ("turn",), wrapped).configurations(wheel)
    np.testing.assert_allclose(velocities_of(wheel, q, 10.0), np.full((61, 1), 2.0))
    assert q[0, 0] == wrapped[0, 0]
    builder = wd.ModelBuilder("arm").add_link("base").add_link("rim", mass=1.0)
    builder.add_joint("turn", "revolute", "base", "rim", lower=-3.2, upper=3.2)
    said = (
        r"^clip turns turn by -6.083 rad from frame 0 to frame 1, more than half a turn; write ang"
    )
    with pytest.raises(rl.TaskError, match=said):
        MotionClip(10.0, ("turn",), wrapped).configurations(builder.build())
    builder = wd.ModelBuilder("cart").add_link("base").add_link("rim", mass=1.0)
    builder.add_joint("turn", "prismatic", "base", "rim", lower=0.0, upper=9.0)
    ahead = np.array([[1.0], [8.0], [1.0]])
    assert (
        MotionClip(10.0, ("turn",), ahead).configurations(builder.build()).tolist()
        == ahead.tolist()
    )


def test_a_wrapped_angle_at_uneven_times_is_refused(tmp_path: Path) -> None:
    """Interpolation from 3.1 to -3.1 would pass zero.

    An angle that grows beyond one turn is accepted.
    """
    path, times = tmp_path / "a.csv", np.cumsum([0.0, *np.linspace(0.91, 1.09, 200)])
    for angles, wraps in ((3.0 + 0.04 * times, True), (4.0 * times, False)):
        wrapped = (angles + np.pi) % (2.0 * np.pi) - np.pi if wraps else angles
        table = np.column_stack([times, wrapped])
        np.savetxt(path, table, header="time,turn", delimiter=",", comments="")
        if wraps:
            with pytest.raises(rl.TaskError, match=r"a\.csv: turn jumps by more than .*np\.unwrap"):
                MotionClip.read(path)
        else:
            found = MotionClip.read(path).joint_positions
            np.testing.assert_allclose(np.diff(found[:, 0]), 4.0)


def test_an_archive_without_a_motion_is_refused(tmp_path: Path) -> None:
    """Too large once unpacked, or with invalid rates or names."""
    path, whole = tmp_path / "a.npz", {"joint_positions": np.zeros((3, 1))}
    for rate, said in ((np.array("fast"), "could not convert"), (np.zeros(2), "only")):
        np.savez(path, joint_names=["a"], rate=rate, **whole)
        with pytest.raises(rl.TaskError, match=f"is not an NPZ file of a motion: .*{said}"):
            MotionClip.read(path)
    size = 300 * 2**20
    np.savez_compressed(path, joint_names=["a"], rate=1.0, joint_positions=np.zeros(size, np.int8))
    with pytest.raises(rl.TaskError, match=r"^\S+ unpacks to 300 MiB; the limit is 256$"):
        MotionClip.read(path)
    np.savez(path, joint_names=["a"], **whole)
    with pytest.raises(rl.TaskError, match=r"^\S+ has no array rate$"):
        MotionClip.read(path)


def test_a_clip_for_a_robot_with_other_conventions_is_refused() -> None:
    """The message is one line with the remedy. Joints of several coordinates are refused, too."""
    said = (
        "quadruped has w-x-y-z quaternions and velocities of the base in local axes; tasks need "
        "x-y-z-w and local: wd.load(..., floating_base=True)"
    )
    with pytest.raises(rl.TaskError, match=f"^{re.escape(said)}$"):
        clip().configurations(wd.load_robot("quadruped", quaternion="wxyz"))
    with pytest.raises(rl.TaskError, match="velocities of the base in world axes; tasks need"):
        clip().configurations(MODEL.with_base_velocity("world"))
    ball = wd.ModelBuilder("swing").add_link("base").add_link("rod", mass=1.0)
    ball.add_joint("ball", "ball", "base", "rod")
    said = "swing has 4 coordinates for 1 joints; motions are of joints with one coordinate each"
    with pytest.raises(rl.TaskError, match=f"^{said}$"):
        MotionClip(9.0, ("ball",), np.zeros((3, 1))).configurations(ball.build())


def test_messages_count_further_mistakes() -> None:
    """The mistakes are missing and unknown joints.

    A joint limit is reported by frame, joint and numbers.
    """
    names = list(MODEL.joint_names)
    for given, said in (
        (("x", "y", *names[2:]), f"lacks the joint {names[0]} of quadruped and 1 more"),
        (("x", *names[1:]), f"lacks the joint {names[0]} of quadruped"),
    ):
        with pytest.raises(rl.TaskError, match=f"^clip {said}$"):
            clip(joint_names=given).configurations(MODEL)
    wide = replace(clip(), joint_names=(*names, "x", "y", "z"), joint_positions=np.zeros((11, 15)))
    with pytest.raises(
        rl.TaskError, match=r"^clip has the joint x, which quadruped lacks and 2 more$"
    ):
        wide.configurations(MODEL)
    lower, upper = MODEL.position_lower[7:], MODEL.position_upper[7:]
    for limit, sign in ((lower, -1.0), (upper, 1.0)):
        far = motion()[:, 7:]
        far[3, 5] = limit[5] + 0.0009 * sign  # within the tolerance
        assert np.allclose(clip(joint_positions=far).configurations(MODEL)[:, 7:], far)
        far[3, 5] = limit[5] + 0.0011 * sign
        said = (
            f"clip has {names[5]} at {far[3, 5]:.4g} in frame 3; its limits are {lower[5]:.4g} to "
            f"{upper[5]:.4g}"
        )
        with pytest.raises(rl.TaskError, match=f"^{re.escape(said)}$"):
            clip(joint_positions=far).configurations(MODEL)


def test_quaternions_are_normalised() -> None:
    """A length within 1 % of 1 is scaled. The first frame beyond that is named."""
    turned = 1.009 * motion()[:, 3:7]
    assert np.linalg.norm(clip(base_quaternion=turned).base_quaternion, axis=1) == pytest.approx(1)
    turned[4:] *= 0.5
    with pytest.raises(rl.TaskError, match=r"of length 0\.504 in frame 4; quaternions are x, y, z"):
        clip(base_quaternion=turned)
    for rate in (np.inf, np.nan, -1.0):
        with pytest.raises(
            rl.TaskError, match=rf"^clip has a rate of {rate} frames per second; it"
        ):
            clip(rate=rate)
