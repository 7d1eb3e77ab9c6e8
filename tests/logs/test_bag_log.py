"""Joint states in bags, by joint name: ROS 1, ROS 2 and MCAP."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from log_files import ARM, JointRow, cubic, numbers_of, write_bag, write_messages

from warpdyn.logs import bag_log
from warpdyn.logs.bag_log import LOOKED_AT, BagLog
from warpdyn.logs.parquet_log import read_metadata
from warpdyn.logs.records import Label, Labels, LogError

T = np.arange(20) * 0.01
Q = cubic(T)[0]


@pytest.mark.parametrize("kind", ["sqlite3", "mcap", "ros1"])
def test_joint_states_are_read_by_name(tmp_path: Path, kind: str) -> None:
    """The order is that of the names in the messages. Stamps are those of the messages, not of the
    recorder."""
    path = write_bag(tmp_path / ("a.bag" if kind == "ros1" else "a"), T, Q, kind)
    log = BagLog(path, "/joint_states")
    assert log.names == ["timestamp", "stamp", "position"]
    assert log.entries("position") == tuple(reversed(ARM.joint_names))
    parts = list(log.parts(["position", "timestamp"], 7, True))
    assert [p.rows for p in parts] == [7, 7, 6]
    assert np.array_equal(np.concatenate([p.numbers["position"] for p in parts]), Q[:, ::-1])
    assert np.allclose(np.concatenate([p.numbers["timestamp"] for p in parts]), T, atol=1e-9)


def test_labels_of_bags_are_written_as_parquet(tmp_path: Path) -> None:
    log = BagLog(write_bag(tmp_path / "a", T, Q), "/joint_states")
    writer = log.writer(tmp_path / "b.parquet", Labels([Label("E", (), np.dtype("f8"), {})]))
    for part in log.parts(["position"], 8, True):
        writer.write(part, {"E": part.numbers["position"][:, 0]})
    writer.close()
    assert pq.read_table(tmp_path / "b.parquet").column_names == [*log.names, "E"]
    assert np.array_equal(numbers_of(tmp_path / "b.parquet", "E"), Q[:, 1])
    assert numbers_of(tmp_path / "b.parquet", "stamp")[0] == 5 * 10**9


def test_messages_are_decoded_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next pass reuses what a pass over the stamps has decoded, in parts of any size, but not
    what an abandoned pass has decoded."""
    path = write_bag(tmp_path / "a", T, Q)
    expected = next(BagLog(path, "/joint_states").parts(["position"], 20, True))
    log = BagLog(path, "/joint_states")
    next(stopped := log.parts(["timestamp"], 7, False))
    stopped.close()
    stamps = [p.numbers["timestamp"] for p in log.parts(["timestamp"], 7, False)]
    monkeypatch.delattr(BagLog, "_messages")
    for rows in (6, 20):
        parts = list(log.parts(["position"], rows, True))
        assert np.array_equal(
            np.concatenate([p.numbers["position"] for p in parts]), expected.numbers["position"]
        )
    assert parts[0].carried.equals(expected.carried)
    assert np.array_equal(np.concatenate(stamps), parts[0].carried["timestamp"].to_numpy())
    log.close()


def test_wrong_topics_and_files_are_refused(tmp_path: Path) -> None:
    """They are a topic without joint states, a file that is not a bag, and a truncated one."""
    path = write_bag(tmp_path / "a", T, Q, "mcap")
    with pytest.raises(LogError, match="no joint states on /arm, but on /joint_states"):
        BagLog(path, "/arm")
    (tmp_path / "foreign.mcap").write_bytes(b"no bag")
    with pytest.raises(LogError, match=r"not a bag, or a part of one|cannot read it"):
        BagLog(tmp_path / "foreign.mcap", "/joint_states")
    (whole,) = path.glob("*.mcap")
    (tmp_path / "cut.mcap").write_bytes(whole.read_bytes()[:900])
    with pytest.raises(LogError, match=r"not a bag, or a part of one|cannot read it"):
        BagLog(tmp_path / "cut.mcap", "/joint_states")


def test_several_messages_may_describe_one_robot(tmp_path: Path) -> None:
    """Each names one joint. Rows begin when both are known, and the other joint keeps its value."""
    rows: list[JointRow] = [
        (10**9 * (k + 1), ["ab"[k % 2]], [float(k)], [-float(k)], []) for k in range(1, 6)
    ]
    log = BagLog(write_messages(tmp_path / "bag", rows), "/joint_states")
    assert log.names == ["timestamp", "stamp", "position", "velocity"] and log.notes == []
    assert log.entries("velocity") == ("b", "a") and log.entries("stamp") == ()
    assert (log.width("position"), log.width("timestamp"), log.fixed) == (2, None, False)
    wanted = [[1.0, 2.0], [3.0, 2.0], [3.0, 4.0], [5.0, 4.0]]
    for whole in (False, True, True):
        parts = list(log.parts(["position", "velocity", "stamp", "timestamp"], 3, whole))
        assert [p.rows for p in parts] == [3, 1]
        assert np.concatenate([p.numbers["position"] for p in parts]).tolist() == wanted
        assert (np.concatenate([p.numbers["velocity"] for p in parts]) == -np.array(wanted)).all()
        stamps = np.concatenate([p.numbers["stamp"] for p in parts])
        assert stamps.tolist() == [3e9, 4e9, 5e9, 6e9]
        times = np.concatenate([p.numbers["timestamp"] for p in parts])
        assert times == pytest.approx([0.0, 1.0, 2.0, 3.0])
        assert all((p.carried is not None) == whole for p in parts)
        assert log.notes == ["1 messages before every joint had a position are left out"]
    writer = log.writer(tmp_path / "out.parquet", Labels([], {"model": "arm"}))
    for part in parts:
        writer.write(part, {})
    writer.close()
    about = {"model": "arm", "joints": ["b", "a"], "columns": {}}
    assert read_metadata(tmp_path / "out.parquet") == about
    schema = pq.read_schema(tmp_path / "out.parquet")
    assert [str(field.type) for field in schema] == [
        *("double", "int64"),
        *["list<element: double not null>"] * 2,
    ]


def test_a_message_without_a_stamp_has_the_time_of_its_recording(tmp_path: Path) -> None:
    log = BagLog(write_messages(tmp_path / "bag", [(0, ["a"], [1.0], [], [])]), "/joint_states")
    (part,) = log.parts(["stamp"], 9, False)
    assert part.numbers["stamp"].tolist() == [1e6]


def test_a_message_that_names_a_joint_twice_is_refused(tmp_path: Path) -> None:
    """Among the first messages, which are read for the names, and later."""
    rows: list[JointRow] = [((k + 1) * 10**6, ["a", "b"], [1, 2], [], []) for k in range(LOOKED_AT)]
    twice: JointRow = (10**9, ["a", "b", "a"], [1.0, 2.0, 3.0], [], [])
    with pytest.raises(LogError, match=r"a message at 1\.000 s names joint a twice"):
        BagLog(write_messages(tmp_path / "first", [twice]), "/joint_states")
    log = BagLog(write_messages(tmp_path / "late", [*rows, rows[-1], twice]), "/joint_states")
    with pytest.raises(LogError, match=r"a message at 1\.000 s names joint a twice"):
        list(log.parts(["position"], 1000, True))


def test_new_joints_after_the_first_messages_are_refused(tmp_path: Path) -> None:
    """The last of these messages may name a new joint, the next one may not."""
    alone: list[JointRow] = [((k + 1) * 10**6, ["a"], [1.0], [], []) for k in range(LOOKED_AT)]
    late: JointRow = (LOOKED_AT * 10**6 - 1000, ["b"], [2.0], [], [])
    bag = write_messages(tmp_path / "in_time", [*alone[:-1], late, alone[-1]])
    log = BagLog(bag, "/joint_states")
    (part,) = log.parts(["position"], 1000, False)
    assert part.rows == 2 and log.entries("position") == ("a", "b")
    log.close()
    log.close()  # a second time is allowed
    log = BagLog(write_messages(tmp_path / "late", [*alone, (10**9, *late[1:])]), "/joint_states")
    said = (
        f"joint b is first named after {LOOKED_AT} messages; take a topic whose messages name the"
    )
    with pytest.raises(LogError, match=f"^{said} same joints$"):
        list(log.parts(["position"], 1000, True))


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([], "its topic /arm has no joint states"),
        ([(1, ["a"], [], [1.0], [])], "joint states on /arm have no positions"),
    ],
)
def test_a_topic_without_positions_is_refused(
    tmp_path: Path, rows: list[JointRow], said: str
) -> None:
    with pytest.raises(LogError, match=f"^{said}$"):
        BagLog(write_messages(tmp_path / "bag", rows, topic="/arm"), "/arm")


def test_a_message_with_fewer_numbers_than_names_is_refused(tmp_path: Path) -> None:
    """The message comes after those that determine the columns."""
    rows: list[JointRow] = [(10**9, ["a"], [1.0], [], [])] * LOOKED_AT
    rows.append((2 * 10**9, ["a", "b"], [1.0], [], []))
    log = BagLog(write_messages(tmp_path / "bag", rows), "/joint_states")
    said = r"^a message at 2\.000 s names 2 joints and has 1 position entries$"
    with pytest.raises(LogError, match=said):
        list(log.parts(["position"], 1000, True))


def test_an_abandoned_pass_closes_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files, made = [], bag_log.TemporaryFile

    def record_file() -> object:
        files.append(made())
        return files[-1]

    monkeypatch.setattr(bag_log, "TemporaryFile", record_file)
    log = BagLog(write_bag(tmp_path / "a", T, Q), "/joint_states")
    next(stopped := log.parts(["position"], 7, False))
    stopped.close()
    assert [file.closed for file in files] == [True]
    list(log.parts(["position"], 7, False))
    list(log.parts(["position"], 7, False))
    assert [file.closed for file in files] == [True, False]
    log.close()
    assert files[1].closed
