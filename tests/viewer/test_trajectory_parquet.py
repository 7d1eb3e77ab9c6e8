"""Trajectories from Parquet files, by pyarrow: accepted tables and refusals."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import warpdyn as wd

viewer = pytest.importorskip("warpdyn.viewer")
pyarrow = pytest.importorskip("pyarrow")
import pyarrow.parquet as parquet

from warpdyn.cli.main import main
from warpdyn.viewer.trajectory_files import read_trajectory

ARM = wd.load_robot("double_pendulum")
FIRST, SECOND = ARM.joint_names
TIMES = np.linspace(0.0, 1.0, 5)
Q = np.stack([np.sin(TIMES), np.cos(TIMES)], axis=1)
MOMENTS = np.datetime64("2026-01-02T03:04:05", "ns") + (TIMES * 1e9).astype("m8[ns]")


def file_of(folder: Path, columns: dict[str, Any]) -> Path:
    path = folder / "log.parquet"
    parquet.write_table(pyarrow.table(columns), path)
    return path


@pytest.mark.parametrize(
    "columns",
    [
        {SECOND: Q[:, 1], "time": TIMES, FIRST: Q[:, 0]},
        {"q1": Q[:, 1], "q0": Q[:, 0], "stamp": MOMENTS},
        {"q": list(Q), "t": TIMES},
        {FIRST: Q[:, 0], SECOND: Q[:, 1], "seconds": MOMENTS - MOMENTS[0], "note": list("abcde")},
    ],
    ids=("by joint", "by number, at moments", "rows", "beside words"),
)
def test_columns_become_a_motion(tmp_path: Path, columns: dict[str, Any]) -> None:
    """They may have any order. Timestamps and durations become seconds since the first. Text
    columns are ignored."""
    motion = read_trajectory(ARM, file_of(tmp_path, columns))
    assert np.allclose(motion.q[:, 0], Q) and np.allclose(motion.times, TIMES)
    assert motion.still == ()


def test_joints_without_a_column_do_not_move(tmp_path: Path) -> None:
    whole = pyarrow.array([1, 0, -1], pyarrow.int8())
    motion = read_trajectory(ARM, file_of(tmp_path, {SECOND: whole}))
    assert motion.q[:, 0, 1].tolist() == [1.0, 0.0, -1.0] and motion.still == (FIRST,)
    assert np.allclose(motion.q[:, 0, 0], motion.q[0, 0, 0])


@pytest.mark.parametrize(
    ("columns", "error"),
    [
        ({FIRST: [0.0, None], "time": [0.0, 1.0]}, f"column {FIRST} has an empty entry in row 1"),
        ({FIRST: [0.0, np.nan, np.inf]}, "not finite in 2 of 3 rows, first in row 1"),
        (
            {"panda_joint1": [0.0]},
            "it names no joint of double_pendulum: panda_joint1; columns are",
        ),
        ({"q": [[0.0, 0.0, 0.0]]}, "is (T, 2) or (T, B, 2), got (1, 3)"),
        ({FIRST: [0.0, 1.0], "time": [1.0, 0.0]}, "times must increase; row 1 has 0 s after 1 s"),
    ],
    ids=(
        "missing values",
        "NaN",
        "another robot's joints",
        "another robot's rows",
        "times that fall",
    ),
)
def test_a_table_without_a_motion_is_refused_in_one_line(
    tmp_path: Path, columns: dict[str, Any], error: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The reader and the command both name the file."""
    path = file_of(tmp_path, columns)
    with pytest.raises(viewer.ViewerError, match=re.escape(error)):
        read_trajectory(ARM, path)
    assert main(["view", "double_pendulum", "--trajectory", str(path), "--port", "0"]) == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert line.startswith(f"warpdyn: error: {path}: ") and error in line


def test_an_unreadable_file_is_refused_with_its_name(tmp_path: Path) -> None:
    path = tmp_path / "log.parquet"
    for content in (b"", b"PAR1 and then nothing of it"):
        path.write_bytes(content)
        with pytest.raises(viewer.ViewerError, match=r"it is (not a Parquet file|empty)") as caught:
            read_trajectory(ARM, path)
        assert str(caught.value).startswith(f"{path}: ") and "\n" not in str(caught.value)


def test_a_page_is_made_from_a_parquet_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = file_of(tmp_path, {FIRST: Q[:, 0], SECOND: Q[:, 1], "time": TIMES})
    page = tmp_path / "arm.html"
    assert main(["view", "double_pendulum", "--trajectory", str(path), "--record", str(page)]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "5 rows, 1 s" in said and page.stat().st_size > 1e5
