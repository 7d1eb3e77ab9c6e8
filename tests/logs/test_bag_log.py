"""Joint states of bags by name, of ROS 1 and 2 and of MCAP."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from log_files import ARM, cubic, numbers_of, write_bag

from warpdyn.logs.bag_log import BagLog
from warpdyn.logs.records import Label, Labels, LogError

T = np.arange(20) * 0.01
Q = cubic(T)[0]


@pytest.mark.parametrize("kind", ["sqlite3", "mcap", "ros1"])
def test_joint_states_by_name(tmp_path: Path, kind: str) -> None:
    """In the order of the messages' names; stamps are the messages' own, not those of the recorder."""
    path = write_bag(tmp_path / ("a.bag" if kind == "ros1" else "a"), T, Q, kind)
    log = BagLog(path, "/joint_states")
    assert log.names == ["timestamp", "stamp", "position"]
    assert log.entries("position") == tuple(reversed(ARM.joint_names))
    parts = list(log.parts(["position", "timestamp"], 7, True))
    assert [p.rows for p in parts] == [7, 7, 6]
    assert np.array_equal(np.concatenate([p.numbers["position"] for p in parts]), Q[:, ::-1])
    assert np.allclose(np.concatenate([p.numbers["timestamp"] for p in parts]), T, atol=1e-9)


def test_they_are_written_as_parquet(tmp_path: Path) -> None:
    log = BagLog(write_bag(tmp_path / "a", T, Q), "/joint_states")
    writer = log.writer(tmp_path / "b.parquet", Labels([Label("E", (), np.dtype("f8"), {})]))
    for part in log.parts(["position"], 8, True):
        writer.write(part, {"E": part.numbers["position"][:, 0]})
    writer.close()
    assert pq.read_table(tmp_path / "b.parquet").column_names == [*log.names, "E"]
    assert np.array_equal(numbers_of(tmp_path / "b.parquet", "E"), Q[:, 1])
    assert numbers_of(tmp_path / "b.parquet", "stamp")[0] == 5 * 10**9


def test_messages_are_decoded_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a pass over the stamps has met is there for the next one, in parts of any size; not what a
    pass that was given up has."""
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


def test_what_is_refused(tmp_path: Path) -> None:
    """Another topic; a file that is no bag, or half of one."""
    path = write_bag(tmp_path / "a", T, Q, "mcap")
    with pytest.raises(LogError, match="no joint states on /arm, but on /joint_states"):
        BagLog(path, "/arm")
    (tmp_path / "foreign.mcap").write_bytes(b"no bag")
    with pytest.raises(LogError, match=r"no bag, or a part of one|cannot read it"):
        BagLog(tmp_path / "foreign.mcap", "/joint_states")
    (whole,) = path.glob("*.mcap")
    (tmp_path / "cut.mcap").write_bytes(whole.read_bytes()[:900])
    with pytest.raises(LogError, match=r"no bag, or a part of one|cannot read it"):
        BagLog(tmp_path / "cut.mcap", "/joint_states")
