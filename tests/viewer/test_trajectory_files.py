"""Trajectories from files, and files without one."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import warpdyn as wd

viewer = pytest.importorskip("warpdyn.viewer")
from log_files import JointRow, write_messages

from warpdyn.viewer import trajectory_files
from warpdyn.viewer.trajectory_files import read_trajectory

ARM = wd.load_robot("double_pendulum")
FIRST, SECOND = ARM.joint_names
TIMES = np.linspace(0.0, 1.0, 5)
Q = np.stack([np.sin(TIMES), np.cos(TIMES)], axis=1)


def test_numpy_files_are_read(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", q=Q, times=TIMES)
    np.savez(tmp_path / "b.npz", **{FIRST: Q[:, 0], SECOND: Q[:, 1], "t": TIMES})
    for name in ("a.npz", "b.npz"):
        motion = read_trajectory(ARM, tmp_path / name)
        assert np.allclose(motion.q[:, 0], Q) and np.allclose(motion.times, TIMES)


def test_tables_with_names_are_read(tmp_path: Path) -> None:
    """Columns have names of joints or numbers. Other columns are ignored."""
    for names in (f"time,{SECOND},{FIRST},note", "seconds,q1,q0,x"):
        rows = [f"{t},{b},{a},7" for t, (a, b) in zip(TIMES, Q, strict=True)]
        (tmp_path / "a.csv").write_text("\n".join([names, *rows]) + "\n")
        motion = read_trajectory(ARM, tmp_path / "a.csv")
        assert np.allclose(motion.q[:, 0], Q) and np.allclose(motion.times, TIMES)


def test_timestamps_of_labelled_logs_are_seconds(tmp_path: Path) -> None:
    """`timestamp` is a time, as in labels, and comes before `stamp`, which is in nanoseconds."""
    stamps = {"stamp": 1e9 * TIMES, "timestamp": TIMES}
    np.savez(tmp_path / "a.npz", q=Q, **stamps)
    assert np.array_equal(read_trajectory(ARM, tmp_path / "a.npz").times, TIMES)


def test_a_robot_without_moving_joints_has_no_trajectory(tmp_path: Path) -> None:
    rock = wd.ModelBuilder("rock").add_link("stone").build()
    np.savez(tmp_path / "a.npz", q0=TIMES, time=TIMES)
    with pytest.raises(wd.viewer.ViewerError, match="rock has no joint that moves"):
        read_trajectory(rock, tmp_path / "a.npz")


@pytest.mark.parametrize(
    ("header", "error"),
    [("time,q0,q1,q0", "several columns have the name q0"), ("time,q0,q1,q2", "there is a q2")],
)
def test_tables_of_other_robots_are_refused(tmp_path: Path, header: str, error: str) -> None:
    (tmp_path / "a.csv").write_text(f"{header}\n0,1,2,3\n1,1,2,3\n")
    with pytest.raises(wd.viewer.ViewerError, match=error):
        read_trajectory(ARM, tmp_path / "a.csv")


def test_a_message_of_a_bag_names_each_joint_once(tmp_path: Path) -> None:
    message: JointRow = (10**9, [FIRST, SECOND, FIRST], [1.0, 2.0, 3.0], [], [])
    path = write_messages(tmp_path / "bag", [message])
    with pytest.raises(wd.viewer.ViewerError, match=rf"1\.000 s names joint {FIRST} twice"):
        read_trajectory(ARM, path)


@pytest.mark.parametrize("kind", ["sqlite3", "mcap", "ros1"])
def test_joint_states_of_a_bag_are_read(tmp_path: Path, kind: str) -> None:
    """Messages name the joints, and a joint that one leaves out does not move. Times start at the
    first message. A ROS 2 bag may be a folder or the file in it; ROS 1 bags work too."""
    pytest.importorskip("rosbags")
    from rosbags import rosbag1, rosbag2
    from rosbags.typesys import Stores, get_typestore

    ros1 = kind == "ros1"
    store = get_typestore(Stores.ROS1_NOETIC if ros1 else Stores.LATEST)
    state, header = (
        store.types[f"{n}"] for n in ("sensor_msgs/msg/JointState", "std_msgs/msg/Header")
    )
    stamp, none = store.types["builtin_interfaces/msg/Time"], np.zeros(0)
    path, writing = tmp_path / ("drive.bag" if ros1 else "bag"), rosbag2.StoragePlugin
    plugin = writing.MCAP if kind == "mcap" else writing.SQLITE3
    opened: Any = rosbag1.Writer(path)
    if not ros1:
        opened = rosbag2.Writer(path, version=9, storage_plugin=plugin)
    with opened as writer:
        connection = writer.add_connection("/joint_states", state.__msgtype__, typestore=store)
        for k, (a, b) in enumerate(Q):
            names, values = ([SECOND, FIRST], [b, a]) if k != 3 else ([FIRST], [a])
            first = (0, stamp(0, 0)) if ros1 else (stamp(0, 0),)
            message = state(header(*first, ""), names, np.array(values), none, none)
            serialize = store.serialize_ros1 if ros1 else store.serialize_cdr
            raw = serialize(message, state.__msgtype__)
            writer.write(connection, int(1e9 * (5 + TIMES[k])), raw)
    files = sorted(path.glob("*.mcap")) if kind == "mcap" else []
    for each in (path, *files):
        motion = read_trajectory(ARM, each)
        assert np.allclose(motion.times, TIMES) and np.allclose(motion.q[:, 0, 0], Q[:, 0])
        assert np.allclose(motion.q[:, 0, 1], Q[[0, 1, 2, 2, 4], 1])
    assert len(files) == (kind == "mcap")
    with pytest.raises(viewer.ViewerError, match="no joint states on /arm, but on /joint_states"):
        read_trajectory(ARM, path, "/arm")


@pytest.mark.parametrize(
    ("name", "text", "error"),
    [
        ("a.csv", "time,wheel\n0,1\n", "it names no joint of double_pendulum: wheel; columns are"),
        ("a.csv", f"time,{FIRST}\n", "it has no rows"),
        ("a.csv", f"time,{FIRST}\n0,1\n1\n", "line 3 has 1 entries, the first names 2"),
        ("a.csv", f"time,{FIRST}\n\n0,1\n\n1\n", "line 5 has 1 entries, the first names 2"),
        ("a.csv", f"time,{FIRST}\n0,fast\n", f"line 2: {FIRST} is 'fast', not a number"),
        ("a.csv", f"time,{FIRST}\n0,1\n1,\n", f"line 3: {FIRST} is '', not a number"),
        ("a.npz", "no archive", "it is no .npz file, or a part of one; numpy.savez writes them"),
        ("a.mcap", "no bag", "it is not a bag, or a part of one: "),
        (
            "a.txt",
            "",
            "it is none of .parquet, .npz, .csv, .bag, .mcap, .db3, and no folder of a bag",
        ),
    ],
)
def test_a_file_without_a_motion_is_refused_with_its_name(
    tmp_path: Path, name: str, text: str, error: str
) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(viewer.ViewerError, match=re.escape(error)) as caught:
        read_trajectory(ARM, tmp_path / name)
    assert str(tmp_path / name) in str(caught.value) and "\n" not in str(caught.value)


def test_a_parquet_file_without_pyarrow_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.parquet"
    path.write_bytes(b"PAR1")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.delitem(sys.modules, "warpdyn.logs.parquet_log", raising=False)
    message = r"need pyarrow, which is not installed: pip install '.\[labels\]'"
    with pytest.raises(viewer.ViewerError, match=message) as caught:
        read_trajectory(ARM, path)
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_refused() -> None:
    with pytest.raises(viewer.ViewerError, match=r"nowhere\.csv: there is no such file"):
        read_trajectory(ARM, Path("nowhere.csv"))


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_a_broken_archive_is_refused_with_its_name(tmp_path: Path, save: Any) -> None:
    """Its directory is complete and its arrays are not. It may be compressed."""
    path = tmp_path / "a.npz"
    save(path, q=np.tile(Q, (40, 1)), times=np.arange(200.0))
    data = bytearray(path.read_bytes())
    data[200:260] = bytes(60)
    path.write_bytes(data)
    with pytest.raises(viewer.ViewerError, match="NumPy cannot read it") as caught:
        read_trajectory(ARM, path)
    assert str(path) in str(caught.value)


def test_a_broken_byte_gives_a_clear_error_from_any_library(tmp_path: Path) -> None:
    """The byte may be in compressed data, where zlib raises its own error."""
    path, said = tmp_path / "a.npz", set()
    np.savez_compressed(path, q=np.tile(Q, (40, 1)), times=np.arange(200.0))
    whole = path.read_bytes()
    for place in range(30, 100):
        data = bytearray(whole)
        data[place] ^= 0xFF
        path.write_bytes(data)
        try:
            read_trajectory(ARM, path)
        except viewer.ViewerError as error:
            said.add(str(error).partition("read it: ")[2].partition(" ")[0])
    assert {"Bad", "Error"} <= said, said


def test_a_file_that_is_too_large_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The limit of two GiB is checked before reading."""
    path = tmp_path / "a.csv"
    path.write_text(f"time,{FIRST}\n0,1\n1,1\n")
    assert trajectory_files.LARGEST == 2 * 2**30
    with path.open("r+b") as file:
        file.truncate(2 * 2**30 + 1)
    said = f"{path} has more than 2 GiB; read a part of it"
    with pytest.raises(viewer.ViewerError, match=f"^{re.escape(said)}$"):
        read_trajectory(ARM, path)
    path.write_text(f"time,{FIRST}\n0,1\n1,1\n")
    monkeypatch.setattr(trajectory_files, "LARGEST", path.stat().st_size)
    assert len(read_trajectory(ARM, path).times) == 2


@pytest.mark.parametrize("name", trajectory_files.TIMES)
def test_column_names_of_times_are_recognised(tmp_path: Path, name: str) -> None:
    """Blanks, a byte order mark and empty lines do not matter."""
    path = tmp_path / "a.csv"
    path.write_text(f"{FIRST} , {name},{SECOND}\n0,1,5\n\n1,3,6\n", encoding="utf-8-sig")
    motion = read_trajectory(ARM, path)
    assert motion.times.tolist() == [1.0, 3.0]
    assert motion.q[:, 0].tolist() == [[0.0, 5.0], [1.0, 6.0]]


def test_refusals_of_files_have_the_documented_text(tmp_path: Path) -> None:
    """The file has no joint of the robot, no column, or another format."""
    path = tmp_path / "a.csv"
    for text, said in (
        ("a,b,c,d,e,f\n" + "1,2,3,4,5,6\n", "a, b, c, d, e ..."),
        ("time\n0\n1\n", "nothing"),
    ):
        path.write_text(text)
        wanted = (
            f"{path}: it names no joint of double_pendulum: {said}; columns are {FIRST}, {SECOND}, "
            "or q0 to q1"
        )
        with pytest.raises(viewer.ViewerError, match=f"^{re.escape(wanted)}$"):
            read_trajectory(ARM, path)
    (tmp_path / "folder").mkdir()
    with pytest.raises(viewer.ViewerError, match=r"/folder: it is none of .*, and no folder of a"):
        read_trajectory(ARM, tmp_path / "folder")


def test_a_bag_without_messages_and_one_without_its_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each refusal is one line. Joints that a message does not name keep their position, also at
    the beginning."""
    pytest.importorskip("rosbags")
    bag = write_messages(tmp_path / "empty", [])
    with pytest.raises(viewer.ViewerError, match=r"its topic /joint_states has no messages$"):
        read_trajectory(ARM, bag)
    rows: list[JointRow] = [
        (10**9, [FIRST], [1.0], [], []),
        (2 * 10**9, [SECOND], [2.0], [], []),
        (3 * 10**9, [FIRST], [3.0], [], []),
    ]
    motion = read_trajectory(ARM, write_messages(tmp_path / "split", rows))
    assert motion.q[:, 0].tolist() == [[1.0, 2.0], [1.0, 2.0], [3.0, 2.0]]
    assert motion.times == pytest.approx([0.0, 1.0, 2.0], abs=1e-5)
    monkeypatch.setitem(sys.modules, "rosbags.highlevel", None)
    monkeypatch.delitem(sys.modules, "warpdyn.logs.bag_messages")
    with pytest.raises(
        viewer.ViewerError, match="reading it needs the package rosbags, which is not inst"
    ):
        read_trajectory(ARM, bag)


def test_text_is_ignored_in_a_table_and_refused_where_numbers_belong(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f"note,{FIRST},time\nbegin,0.5,0\nend,1.5,2\n")
    motion = read_trajectory(ARM, path)
    assert motion.q[:, 0, 0].tolist() == [0.5, 1.5] and motion.times.tolist() == [0.0, 2.0]
    np.savez(tmp_path / "b.npz", **{FIRST: Q[:, 0], "time": np.array(list("abcde"))})
    with pytest.raises(viewer.ViewerError, match=r"array time is <U1, not numbers$"):
        read_trajectory(ARM, tmp_path / "b.npz")


def test_arrays_of_an_archive_have_equal_lengths(tmp_path: Path) -> None:
    """Several robots are one array; others are not looked at."""
    path = tmp_path / "a.npz"
    np.savez(path, q=np.stack([Q, 2 * Q], axis=1), time=TIMES, rate=np.array(4.0))
    assert np.allclose(read_trajectory(ARM, path).q, np.stack([Q, 2 * Q], axis=1))
    np.savez(path, q0=Q[:, 0], q1=Q[:4, 1])
    message = "its arrays have different numbers of rows: q0 5, q1 4$"
    with pytest.raises(viewer.ViewerError, match=message):
        read_trajectory(ARM, path)


def test_a_message_with_another_number_of_positions_than_names_is_refused(tmp_path: Path) -> None:
    """A message without positions, of a publisher of velocities, moves nothing."""
    pytest.importorskip("rosbags")
    rows: list[JointRow] = [
        (10**9, [FIRST, SECOND], [1.0, 2.0], [], []),
        (2 * 10**9, [FIRST, SECOND], [], [1.0, 1.0], []),
    ]
    motion = read_trajectory(ARM, write_messages(tmp_path / "a", rows))
    assert motion.q[:, 0].tolist() == [[1.0, 2.0], [1.0, 2.0]]
    rows.append((3 * 10**9, [FIRST, SECOND], [1.0], [], []))
    message = "message 2 on /joint_states names 2 joints and has 1 positions$"
    with pytest.raises(viewer.ViewerError, match=message):
        read_trajectory(ARM, write_messages(tmp_path / "b", rows))
