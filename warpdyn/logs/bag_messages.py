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
    Raises LogError if the bag cannot be read or has none, or if a message names a joint twice."""
    store = get_typestore(Stores.LATEST)
    try:
        with AnyReader([path], default_typestore=store) as reader:
            connections = _connections(reader, topic)
            for connection, received, data in reader.messages(connections=connections):
                message = reader.deserialize(data, connection.msgtype)
                _refuse_repeated_joints(received, message)
                yield received, message
    except (LogError, GeneratorExit, FileNotFoundError, PermissionError):
        raise
    except Exception as error:  # rosbags and its packers have a class for each cause
        if isinstance(error, AnyReaderError):
            raise LogError(f"it is not a bag, or a part of one: {reason_of(error)}") from None
        raise LogError(f"rosbags cannot read it: {reason_of(error)}") from None


def ticks_of(received: int, message: Any) -> int:
    """The stamp of a message [ns]; the time of its recording if it has none of its own."""
    stamp = message.header.stamp
    return int(stamp.sec * 10**9 + stamp.nanosec or received)


def _refuse_repeated_joints(received: int, message: Any) -> None:
    """Raise for a message with two numbers of one joint, of which only the last would count."""
    if len(set(message.name)) < len(message.name):
        again = next(n for n in message.name if message.name.count(n) > 1)
        seconds = ticks_of(received, message) * 1e-9
        raise LogError(f"a message at {seconds:.3f} s names joint {again} twice")


def _connections(reader: AnyReader, topic: str) -> list[Connection]:
    chosen = [c for c in reader.connections if c.topic == topic]
    if not chosen or "JointState" not in chosen[0].msgtype:
        others = [c.topic for c in reader.connections if "JointState" in c.msgtype]
        raise LogError(
            f"it has no joint states on {topic}, but on {join_names(others)}; "
            "--topic chooses another"
        )
    return chosen
