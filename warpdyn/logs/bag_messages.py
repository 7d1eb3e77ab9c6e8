"""Joint states of one topic of a bag, ROS 1 or 2, or of an MCAP file, in the order of recording."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rosbags.highlevel import AnyReader, AnyReaderError
from rosbags.interfaces import Connection
from rosbags.typesys import Stores, get_typestore

from .records import LogError, join_names, reason_of


def joint_state_messages(path: Path, topic: str) -> Iterator[tuple[int, Any]]:
    """The time of recording [ns] and the message, for each sensor_msgs/JointState of a topic.
    Raises LogError if the bag cannot be read or has none."""
    store = get_typestore(Stores.LATEST)
    try:
        with AnyReader([path], default_typestore=store) as reader:
            connections = _connections(reader, topic)
            for connection, received, data in reader.messages(connections=connections):
                yield received, reader.deserialize(data, connection.msgtype)
    except (LogError, GeneratorExit, FileNotFoundError, PermissionError):
        raise
    except Exception as error:  # rosbags and its packers have a class for each cause
        if isinstance(error, AnyReaderError):
            raise LogError(f"it is not a bag, or a part of one: {reason_of(error)}") from None
        raise LogError(f"rosbags cannot read it: {reason_of(error)}") from None


def _connections(reader: AnyReader, topic: str) -> list[Connection]:
    chosen = [c for c in reader.connections if c.topic == topic]
    if not chosen or "JointState" not in chosen[0].msgtype:
        others = [c.topic for c in reader.connections if "JointState" in c.msgtype]
        raise LogError(
            f"it has no joint states on {topic}, but on {join_names(others)}; "
            "--topic chooses another"
        )
    return chosen
