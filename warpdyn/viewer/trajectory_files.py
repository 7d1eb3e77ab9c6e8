"""Trajectories from files: .npz, .csv, .parquet, and the joint states of a bag or an MCAP file."""

from __future__ import annotations

import csv
import zipfile
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..model import Model
from ..model.optional_packages import install_extra
from .stage import ViewerError
from .trajectory import Trajectory

TIMES = ("time", "times", "t", "stamp", "seconds")
"""Possible names of a column of times."""

LARGEST = 2 * 2**30
"""Largest size of a trajectory file in bytes."""

Columns = Mapping[str, np.ndarray]


def read_trajectory(model: Model, path: Path, topic: str = "/joint_states") -> Trajectory:
    """The trajectory of a model in a file.

    The columns, or arrays by name, are positions with the joints' names, or `q` (T, nq), or q0, q1,
    ..., and times with one of the names in `TIMES`. topic: of a bag's sensor_msgs/JointState
    messages.
    """
    read = READERS.get(path.suffix.lower(), _bag if path.is_dir() else None)
    if read is None:
        raise ViewerError(
            f"{path}: a trajectory must be {', '.join(READERS)}, or the folder of a bag"
        )
    if not path.exists():
        raise ViewerError(f"there is no file {path}")
    if path.is_file() and path.stat().st_size > LARGEST:
        raise ViewerError(f"{path} has more than {LARGEST // 2**30} GiB; take a part of it")
    try:
        columns = read(path, topic)
        times = next((columns[n] for n in TIMES if n in columns), None)
        rest = {n: x for n, x in columns.items() if n not in TIMES}
        return Trajectory.of(model, _positions(model, rest), times)
    except ViewerError as error:
        raise ViewerError(f"{path}: {error}") from None


def _positions(model: Model, columns: Columns) -> Any:
    """Configurations (T, nq), or positions by joint."""
    if "q" in columns:
        return columns["q"]
    numbered = [f"q{k}" for k in range(model.nq)]
    if all(n in columns for n in numbered):
        return np.stack([columns[n] for n in numbered], axis=-1)
    known = {n: x for n, x in columns.items() if n in model.coordinates}
    if not known:
        raise ViewerError(
            f"it names no joint of {model.name}: {', '.join(list(columns)[:5]) or 'nothing'}; columns are "
            f"{', '.join(list(model.coordinates)[:4])} ..., or q0 to q{model.nq - 1}"
        )
    return known


def _npz(path: Path, _: str) -> Columns:
    if not zipfile.is_zipfile(path):
        raise ViewerError("it is no .npz file; numpy.savez writes one")
    try:
        with np.load(path) as file:
            return {n: np.asarray(file[n], dtype=float) for n in file.files}
    except (ValueError, zipfile.BadZipFile, zlib.error, OSError, EOFError, KeyError) as error:
        raise ViewerError(f"numpy cannot read it: {error}") from None


def _csv(path: Path, _: str) -> Columns:
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            rows = csv.reader(file)
            names = [n.strip() for n in next(rows, [])]
            lines = [(rows.line_num, row) for row in rows if row]
            numbers = [[float(x) if x.strip() else np.nan for x in row] for _, row in lines]
    except (ValueError, UnicodeDecodeError, csv.Error) as error:
        raise ViewerError(f"it is not a table of numbers with a header line: {error}") from None
    for line, row in lines:
        if len(row) != len(names):
            raise ViewerError(f"line {line} has {len(row)} numbers, the first names {len(names)}")
    table = np.array(numbers, dtype=float).reshape(len(numbers), len(names))
    return dict(zip(names, table.T, strict=True))


def _parquet(path: Path, _: str) -> Columns:
    try:
        import pyarrow.parquet as parquet
    except ImportError:
        raise ViewerError(
            "the package pyarrow reads it, which is not installed: pip install pyarrow"
        ) from None
    try:
        table = parquet.read_table(path)
        columns = {n: _numbers(np.asarray(table[n].to_numpy())) for n in table.column_names}
        return {n: x for n, x in columns.items() if x is not None}
    except Exception as error:  # pyarrow has a class for each cause
        raise ViewerError(f"pyarrow cannot read it: {str(error).splitlines()[0]}") from None


def _numbers(column: np.ndarray) -> np.ndarray | None:
    """A column as floats: lists as rows, timestamps as seconds after the first one; None for
    text."""
    if column.dtype.kind in "mM":
        return np.asarray((column - column[:1]) / np.timedelta64(1, "s"))
    try:
        return np.array(column.tolist(), dtype=float)
    except (ValueError, TypeError):
        return None


def _bag(path: Path, topic: str) -> Columns:
    """Joint states of a ROS 1 or ROS 2 bag; a joint that a message leaves out keeps its
    position."""
    try:
        from rosbags.highlevel import AnyReader
        from rosbags.typesys import Stores, get_typestore
    except ImportError:
        raise ViewerError(
            f"the package rosbags reads it, which is not installed: {install_extra('viewer')}"
        ) from None
    stamps: list[float] = []
    rows: list[dict[str, float]] = []
    latest: dict[str, float] = {}
    try:
        with AnyReader([path], default_typestore=get_typestore(Stores.LATEST)) as reader:
            found = [c for c in reader.connections if c.topic == topic]
            if not found:
                others = [c.topic for c in reader.connections if "JointState" in c.msgtype]
                raise ViewerError(
                    f"it has no topic {topic}; joint states are on {', '.join(others) or 'none'}"
                )
            for connection, stamp, data in reader.messages(connections=found):
                message: Any = reader.deserialize(data, connection.msgtype)
                latest = latest | dict(
                    zip(message.name, map(float, message.position), strict=False)
                )
                stamps.append(stamp * 1e-9)
                rows.append(latest)
    except ViewerError:
        raise
    except Exception as error:  # rosbags has a class for each cause
        raise ViewerError(f"rosbags cannot read it: {str(error).splitlines()[0]}") from None
    if not rows:
        raise ViewerError(f"its topic {topic} has no messages")
    first = {n: next(row[n] for row in rows if n in row) for n in latest}
    columns = {n: np.array([row.get(n, first[n]) for row in rows]) for n in latest}
    return {**columns, "time": np.array(stamps) - stamps[0]}


READERS: Mapping[str, Callable[[Path, str], Columns]] = {
    ".npz": _npz,
    ".csv": _csv,
    ".parquet": _parquet,
    ".bag": _bag,
    ".mcap": _bag,
    ".db3": _bag,
}
"""Readers of files, by suffix."""
