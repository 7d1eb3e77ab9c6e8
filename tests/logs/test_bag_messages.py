"""Messages of bags: the order of recording, topics without joint states, and broken bags."""

from __future__ import annotations

from pathlib import Path

import pytest
from log_files import JointRow, write_messages

from warpdyn.logs import bag_messages
from warpdyn.logs.bag_messages import joint_state_messages
from warpdyn.logs.records import LogError

ROWS: list[JointRow] = [(k * 10**9, ["a"], [float(k)], [], []) for k in (1, 3, 2)]


@pytest.mark.parametrize("kind", ["sqlite3", "mcap", "ros1"])
def test_messages_come_with_the_time_of_their_recording(tmp_path: Path, kind: str) -> None:
    path = write_messages(tmp_path / ("a.bag" if kind == "ros1" else "a"), ROWS, kind)
    found = [(received, *m.position) for received, m in joint_state_messages(path, "/joint_states")]
    times = [ns + 10**6 + ns % 977 for ns, *_ in ROWS]
    assert found == sorted(zip(times, (1.0, 3.0, 2.0), strict=True))


def test_a_topic_without_joint_states_is_refused(tmp_path: Path) -> None:
    path = write_messages(tmp_path / "a", ROWS, topic="/arm")
    message = "^it has no joint states on /leg, but on /arm; --topic chooses another$"
    with pytest.raises(LogError, match=message):
        next(joint_state_messages(path, "/leg"))


def test_errors_of_rosbags_are_reported_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is the first line, or the type of an error without words. An error of the disk is raised
    unchanged."""
    path = write_messages(tmp_path / "a", ROWS)
    for error, said in (
        (ValueError("odd\nlines"), "^rosbags cannot read it: odd$"),
        (RuntimeError(), "^rosbags cannot read it: RuntimeError$"),
        (bag_messages.AnyReaderError("cut"), "^it is not a bag, or a part of one: cut$"),
    ):
        monkeypatch.setattr(bag_messages.AnyReader, "deserialize", _raising(error))
        with pytest.raises(LogError, match=said):
            next(joint_state_messages(path, "/joint_states"))
    monkeypatch.setattr(
        bag_messages.AnyReader, "deserialize", _raising(PermissionError("not yours"))
    )
    with pytest.raises(PermissionError, match="not yours"):
        next(joint_state_messages(path, "/joint_states"))


def _raising(error: Exception) -> object:
    def deserialize(*_: object) -> None:
        raise error

    return deserialize
