"""Joint states of bags, ROS 1 and 2, and of MCAP files, by joint name; no ROS is needed.

What is labelled is written as Parquet: time stamps, and lists in the order of the joints' names.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rosbags.highlevel import AnyReader, AnyReaderError
from rosbags.interfaces import Connection
from rosbags.typesys import Stores, get_typestore

from .parquet_log import ParquetWriter, record_batch
from .records import Labels, LogError, LogPart, listed

LOOKED_AT = 200
"""Messages in which every joint must be named once; publishers may split a robot into several."""

TIME, STAMP = "timestamp", "stamp"
"""Columns: seconds since the first row, and nanoseconds as the messages have them."""

FIELDS = ("position", "velocity", "effort")
"""Columns of lists; those that messages leave empty are not there."""


class BagLog:
    """The joint states of one topic of a bag."""

    def __init__(self, path: Path, topic: str):
        self.path, self.topic, self.fixed = path, topic, False
        self.notes: list[str] = []
        self.rows: int | None = None
        self._joints: dict[str, int] = {}
        self._fields = set(FIELDS)
        for k, (_, message) in enumerate(self._messages()):
            if k == LOOKED_AT:
                break
            for name in message.name:
                self._joints.setdefault(name, len(self._joints))
            self._fields &= {f for f in FIELDS if len(getattr(message, f)) == len(message.name)}
        if not self._joints:
            raise LogError(f"its topic {topic} has no joint states")
        if "position" not in self._fields:
            raise LogError(f"joint states on {topic} have no positions")
        self.names = [TIME, STAMP, *(f for f in FIELDS if f in self._fields)]

    def _messages(self) -> Iterator[tuple[int, Any]]:
        """Stamps [ns] and messages. A message's own stamp, or if it has none when it was recorded."""
        store = get_typestore(Stores.LATEST)
        try:
            with AnyReader([self.path], default_typestore=store) as reader:
                connections = self._connections(reader)
                for connection, received, data in reader.messages(connections=connections):
                    message: Any = reader.deserialize(data, connection.msgtype)
                    stamp = message.header.stamp
                    yield stamp.sec * 10**9 + stamp.nanosec or received, message
        except (LogError, GeneratorExit, FileNotFoundError, PermissionError):
            raise
        except Exception as error:  # of rosbags and its packers, which have a class for each cause
            said = str(error).splitlines()[0] if str(error) else type(error).__name__
            if isinstance(error, AnyReaderError):
                raise LogError(f"it is no bag, or a part of one: {said}") from None
            raise LogError(f"rosbags cannot read it: {said}") from None

    def _connections(self, reader: AnyReader) -> list[Connection]:
        chosen = [c for c in reader.connections if c.topic == self.topic]
        if not chosen or "JointState" not in chosen[0].msgtype:
            others = [c.topic for c in reader.connections if "JointState" in c.msgtype]
            raise LogError(
                f"it has no joint states on {self.topic}, but on {listed(others)}; "
                "--topic chooses another"
            )
        return chosen

    def width(self, name: str) -> int | None:
        """As many as there are joints."""
        return len(self._joints) if name in FIELDS else None

    def entries(self, name: str) -> tuple[str, ...]:
        """The joints."""
        return tuple(self._joints) if name in FIELDS else ()

    def parts(self, names: Sequence[str], rows: int, whole: bool) -> Iterator[LogPart]:
        """A row for each message, from the one on by which every joint has been heard of.

        A joint that a message leaves out stays as it was.
        """
        fields, n = [f for f in FIELDS if f in self._fields], len(self._joints)
        latest = {f: np.full(n, np.nan) for f in fields}
        stamps: list[int] = []
        kept: dict[str, list[np.ndarray]] = {f: [] for f in fields}
        first, early = None, 0
        for stamp, message in self._messages():
            for f in fields:
                values = getattr(message, f)
                if len(values) != len(message.name):
                    raise LogError(
                        f"a message at {stamp * 1e-9:.3f} s names {len(message.name)} joints and "
                        f"has {len(values)} {f} entries"
                    )
                try:
                    latest[f][[self._joints[name] for name in message.name]] = values
                except KeyError as error:
                    raise LogError(
                        f"joint {error.args[0]} is first named after {LOOKED_AT} messages; "
                        "take a topic whose messages name the same joints"
                    ) from None
            if first is None and np.isnan(latest["position"]).any():
                early += 1
                continue
            first = stamp if first is None else first
            stamps.append(stamp)
            for f in fields:
                kept[f].append(latest[f].copy())
            if len(stamps) == rows:
                yield self._part(names, stamps, kept, first, whole)
                stamps, kept = [], {f: [] for f in fields}
        if early and f"{early} messages" not in " ".join(self.notes):
            self.notes.append(f"{early} messages before every joint was named are left out")
        if first is not None and stamps:
            yield self._part(names, stamps, kept, first, whole)

    def _part(
        self,
        names: Sequence[str],
        stamps: list[int],
        kept: dict[str, list[np.ndarray]],
        first: int,
        whole: bool,
    ) -> LogPart:
        ticks = np.array(stamps, dtype=np.int64)
        columns = {TIME: (ticks - first) * 1e-9, STAMP: ticks}
        columns |= {f: np.array(rows) for f, rows in kept.items()}
        numbers = {n: columns[n].astype(np.float64, copy=False) for n in names}
        return LogPart(len(ticks), numbers, record_batch(columns) if whole else None)

    def writer(self, path: Path, labels: Labels) -> ParquetWriter:
        """A Parquet file of the joint states, and labels."""
        empty = {TIME: np.zeros(0), STAMP: np.zeros(0, np.int64)}
        empty |= {f: np.zeros((0, len(self._joints))) for f in FIELDS if f in self._fields}
        about = Labels(labels.columns, {**labels.metadata, "joints": list(self._joints)})
        return ParquetWriter(path, record_batch(empty).schema, about, False)

    def close(self) -> None:
        """Nothing stays open."""
