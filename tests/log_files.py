"""Logs of a double pendulum with a known motion, in every file format."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import warpdyn as wd

ARM = wd.load_robot("double_pendulum")
DT = 0.01


def cubic(t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """q, v and a of a motion along polynomials of degree 3: (T, 2) each."""
    c = np.array([[0.3, -0.2], [0.5, 0.4], [-0.7, 0.3], [0.2, -0.1]])
    t = t[:, None]
    q = c[0] + c[1] * t + c[2] * t**2 + c[3] * t**3
    return q, c[1] + 2 * c[2] * t + 3 * c[3] * t**2, 2 * c[2] + 6 * c[3] * t


def lists(values: np.ndarray, fixed: bool = False) -> Any:
    """(T, n) as an Arrow array of lists."""
    kind = pa.list_(pa.from_numpy_dtype(values.dtype), values.shape[1] if fixed else -1)
    return pa.array(values.tolist(), kind)


def lerobot(path: Path, lengths: tuple[int, ...] = (60, 40), dtype: Any = np.float32) -> np.ndarray:
    """Write a file as LeRobot's datasets have it, and return its q. Episodes follow each other, and
    the time starts at 0 in each."""
    t = np.concatenate([np.arange(n) * DT for n in lengths])
    q = cubic(t)[0].astype(dtype)
    table = {
        "observation.state": lists(q),
        "timestamp": t.astype(np.float32),
        "episode_index": np.repeat(np.arange(len(lengths)), lengths),
        "task": ["lift"] * len(t),
    }
    pq.write_table(pa.table(table), path)
    return q


def numbers_of(path: Path, name: str) -> np.ndarray:
    """A column of a Parquet file, (T,) or (T, n)."""
    return np.array(pq.read_table(path)[name].to_pylist())


def write_bag(path: Path, t: np.ndarray, q: np.ndarray, kind: str = "sqlite3") -> Path:
    """Write joint states by name, the joints in reverse order, as a bag of ROS 1 or ROS 2."""
    names, stamps = list(reversed(ARM.joint_names)), [round(s * 1e9) + 5 * 10**9 for s in t]
    rows = [(ns, names, x[::-1].copy(), (), ()) for ns, x in zip(stamps, q, strict=True)]
    return write_messages(path, rows, kind)


JointRow = tuple[int, list[str], Any, Any, Any]
"""The stamp of a message [ns], joint names, positions, velocities and efforts."""


def write_messages(
    path: Path, rows: Sequence[JointRow], kind: str = "sqlite3", topic: str = "/joint_states"
) -> Path:
    """Write a bag of joint states that were recorded later than stamped, by an uneven delay."""
    from rosbags import rosbag1, rosbag2
    from rosbags.typesys import Stores, get_typestore

    ros1 = kind == "ros1"
    store = get_typestore(Stores.ROS1_NOETIC if ros1 else Stores.LATEST)
    state, header, time = (
        store.types[n]
        for n in (
            "sensor_msgs/msg/JointState",
            "std_msgs/msg/Header",
            "builtin_interfaces/msg/Time",
        )
    )
    plugin = {"mcap": rosbag2.StoragePlugin.MCAP}.get(kind, rosbag2.StoragePlugin.SQLITE3)
    writer: Any = (
        rosbag1.Writer(path) if ros1 else rosbag2.Writer(path, version=9, storage_plugin=plugin)
    )
    with writer as opened:
        connection = opened.add_connection(topic, state.__msgtype__, typestore=store)
        for ns, names, *numbers in rows:
            stamp = time(ns // 10**9, ns % 10**9)
            first = (0, stamp) if ros1 else (stamp,)
            arrays = [np.array(x, float) for x in numbers]
            message = state(header(*first, ""), names, *arrays)
            serialize = store.serialize_ros1 if ros1 else store.serialize_cdr
            opened.write(connection, ns + 10**6 + ns % 977, serialize(message, state.__msgtype__))
    return path
