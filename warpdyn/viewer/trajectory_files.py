"""Trajectories from files: .npz, .csv, .parquet, and the joint states of a bag or an MCAP file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from ..logs.npz_log import read_arrays
from ..logs.open_log import kind_of_log, open_log
from ..logs.records import LogError, join_names
from ..model import Model
from ..model.optional_packages import install_extra
from .stage import ViewerError
from .trajectory import Trajectory

TIMES = ("timestamp", "time", "times", "t", "stamp", "seconds")
"""Possible names of a column of times; the first of them that a file has is read."""

LARGEST = 2 * 2**30
"""Largest size of a trajectory file in bytes."""

ROWS = 1 << 16
"""Rows of a table that are read at a time."""

Columns = Mapping[str, np.ndarray]


def read_trajectory(model: Model, path: Path, topic: str = "/joint_states") -> Trajectory:
    """The trajectory of a model in a file.

    The columns, or arrays by name, are positions with the joints' names, or `q` (T, nq), or q0, q1,
    ..., and times with one of the names in `TIMES`; other columns are not read. topic: of a bag's
    sensor_msgs/JointState messages. Raises ViewerError if the file cannot be read.
    """
    if path.is_file() and path.stat().st_size > LARGEST:
        raise ViewerError(f"{path} has more than {LARGEST // 2**30} GiB; read a part of it")
    kind = kind_of_log(path) if path.exists() else None
    try:
        if kind == "bag":
            columns = _joint_states(model, path, topic)
        else:
            columns = _arrays(model, path) if kind == "npz" else _table(model, path)
        times = next((columns[n] for n in TIMES if n in columns), None)
        positions = {n: x for n, x in columns.items() if n not in TIMES}
        if all(n in model.coordinates for n in positions):
            return Trajectory.of(model, positions, times)
        q = positions["q"] if "q" in positions else np.stack(list(positions.values()), axis=-1)
        return Trajectory.of(model, q, times)
    except (LogError, ViewerError) as error:
        raise ViewerError(f"{path}: {error}") from None


def _column_names(model: Model, names: Sequence[str]) -> list[str]:
    """The columns to read: those of the configuration, and one of times if there is any."""
    if not model.nq:
        raise ViewerError(f"{model.name} has no joint that moves")
    times = [n for n in TIMES if n in names][:1]
    numbered = [f"q{k}" for k in range(model.nq)]
    if "q" in names and "q" not in model.coordinates:
        return ["q", *times]
    if all(n in names for n in numbered):
        if f"q{model.nq}" in names:
            raise ViewerError(f"{model.name} has q0 to q{model.nq - 1}, and there is a q{model.nq}")
        return [*numbered, *times]
    joints = [n for n in names if n in model.coordinates and n not in times]
    if not joints:
        others = [n for n in names if n not in times]
        raise ViewerError(
            f"it names no joint of {model.name}: {join_names(others, 5)}; columns are "
            f"{join_names(list(model.coordinates), 4)}, or q0 to q{model.nq - 1}"
        )
    return [*joints, *times]


def _arrays(model: Model, path: Path) -> Columns:
    arrays = read_arrays(path)
    columns = {n: arrays[n] for n in _column_names(model, list(arrays))}
    for name, x in columns.items():
        if x.dtype.kind not in "fiu":
            raise ViewerError(f"array {name} is {x.dtype}, not numbers")
    lengths = {n: len(x) if x.ndim else 1 for n, x in columns.items()}
    if len(set(lengths.values())) > 1:
        rows = join_names([f"{n} {count}" for n, count in lengths.items()])
        raise ViewerError(f"its arrays have different numbers of rows: {rows}")
    return columns


def _table(model: Model, path: Path) -> Columns:
    log = open_log(path)
    try:
        names = _column_names(model, log.names)
        for name in names:
            log.width(name)  # raises LogError for a column of text
        parts = list(log.parts(names, ROWS, whole=False))
    finally:
        log.close()
    if not parts:
        raise ViewerError("it has no rows")
    return {n: np.concatenate([part.numbers[n] for part in parts]) for n in names}


def _joint_states(model: Model, path: Path, topic: str) -> Columns:
    """Positions by joint, and times of recording since the first message. A joint that a message
    leaves out keeps its position; before it is first named, it has its first position."""
    try:
        from ..logs.bag_messages import joint_state_messages
    except ImportError:
        raise ViewerError(
            f"reading it needs the package rosbags, which is not installed: {install_extra('viewer')}"
        ) from None
    stamps: list[int] = []
    rows: list[dict[str, float]] = []
    latest: dict[str, float] = {}
    for received, message in joint_state_messages(path, topic):
        if len(message.position) not in (0, len(message.name)):
            raise ViewerError(
                f"message {len(rows)} on {topic} names {len(message.name)} joints and has "
                f"{len(message.position)} positions"
            )
        latest = latest | dict(zip(message.name, map(float, message.position), strict=False))
        stamps.append(received)
        rows.append(latest)
    if not rows:
        raise ViewerError(f"its topic {topic} has no messages")
    columns = {"time": (np.array(stamps) - stamps[0]) * 1e-9}
    for name in _column_names(model, ["time", *latest])[:-1]:
        first = next(row[name] for row in rows if name in row)
        columns[name] = np.array([row.get(name, first) for row in rows])
    return columns
