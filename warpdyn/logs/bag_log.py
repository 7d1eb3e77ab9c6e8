"""Joint states of bags, ROS 1 and 2, and of MCAP files, by joint name; ROS is not needed.

Labelled bags are written as Parquet: time stamps, and lists in the order of the joint names.
Messages are decoded once: the rows from a first pass over the time stamps are kept in an unnamed
temporary file, so that memory use is constant for a bag of any size.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

import numpy as np

from .bag_messages import joint_state_messages, ticks_of
from .parquet_log import ParquetWriter, record_batch
from .records import Labels, LogError, LogPart

LOOKED_AT = 200
"""Number of messages within which every joint must be named; publishers may split a robot into
several."""

TIME, STAMP = "timestamp", "stamp"
"""Columns: seconds since the first row, and the messages' nanoseconds."""

FIELDS = ("position", "velocity", "effort")
"""Columns with lists; columns that messages leave empty are omitted."""


class BagLog:
    """The joint states of one topic of a bag."""

    def __init__(self, path: Path, topic: str):
        self.path, self.topic, self.fixed = path, topic, False
        self.notes: list[str] = []
        self.rows: int | None = None
        self._decoded: IO[bytes] | None = None
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
        """Stamps [ns] and messages. A message without a stamp of its own has the time of its
        recording."""
        for received, message in joint_state_messages(self.path, self.topic):
            yield ticks_of(received, message), message

    def width(self, name: str) -> int | None:
        """The number of joints, for the columns of lists."""
        return len(self._joints) if name in FIELDS else None

    def entries(self, name: str) -> tuple[str, ...]:
        """The names of the joints."""
        return tuple(self._joints) if name in FIELDS else ()

    def parts(self, names: Sequence[str], rows: int, whole: bool) -> Iterator[LogPart]:
        """One row for each message, from the first at which every joint has been named.

        A joint that a message leaves out keeps its value. Without `whole` another pass is
        expected, and rows are kept for it.
        """
        if self._decoded is not None:
            rows_of_parts = self._rows_to_keep(self._decoded, rows)
        else:
            rows_of_parts = self._rows_of_messages(rows)
        file = TemporaryFile() if self._decoded is None and not whole else None  # noqa: SIM115
        first = None
        try:
            for table in rows_of_parts:
                first = int(table[STAMP][0]) if first is None else first
                if file is not None:
                    file.write(table.data)  # unlike tofile, says when the disk is full
                yield self._part(names, table, first, whole)
            self._decoded, file = file or self._decoded, None
        finally:
            if file is not None:  # not all of it was read
                file.close()

    def _row(self) -> np.dtype:
        n = len(self._joints)
        fields = [(f, np.float64, (n,)) for f in FIELDS if f in self._fields]
        return np.dtype([(STAMP, np.int64), *fields])

    def _rows_to_keep(self, file: IO[bytes], rows: int) -> Iterator[np.ndarray]:
        file.seek(0)
        while len(table := np.fromfile(file, self._row(), rows)):
            yield table

    def _rows_of_messages(self, rows: int) -> Iterator[np.ndarray]:
        fields, n = [f for f in FIELDS if f in self._fields], len(self._joints)
        latest = {f: np.full(n, np.nan) for f in fields}
        table, count, early = np.empty(rows, self._row()), 0, 0
        begun = False
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
            # A message may name some of the joints. Rows begin when each joint has a position.
            if not begun and np.isnan(latest["position"]).any():
                early += 1
                continue
            begun = True
            table[STAMP][count] = stamp
            for f in fields:
                table[f][count] = latest[f]
            count += 1
            if count == rows:
                yield table
                table, count = np.empty(rows, self._row()), 0
        if early and f"{early} messages" not in " ".join(self.notes):
            self.notes.append(f"{early} messages before every joint had a position are left out")
        if count:
            yield table[:count]

    def _part(self, names: Sequence[str], table: np.ndarray, first: int, whole: bool) -> LogPart:
        ticks = np.ascontiguousarray(table[STAMP])
        columns = {TIME: (ticks - first) * 1e-9, STAMP: ticks}
        columns |= {f: np.ascontiguousarray(table[f]) for f in FIELDS if f in self._fields}
        numbers = {n: columns[n].astype(np.float64, copy=False) for n in names}
        return LogPart(len(ticks), numbers, record_batch(columns) if whole else None)

    def writer(self, path: Path, labels: Labels) -> ParquetWriter:
        """A Parquet file of the joint states, and labels."""
        empty = {TIME: np.zeros(0), STAMP: np.zeros(0, np.int64)}
        empty |= {f: np.zeros((0, len(self._joints))) for f in FIELDS if f in self._fields}
        about = Labels(labels.columns, {**labels.metadata, "joints": list(self._joints)})
        return ParquetWriter(path, record_batch(empty).schema, about, False)

    def close(self) -> None:
        """Close the file of kept rows, which deletes it."""
        if self._decoded is not None:
            self._decoded.close()
            self._decoded = None
