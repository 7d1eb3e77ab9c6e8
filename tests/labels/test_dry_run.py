"""The forecast of a run, without running it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from log_files import ARM, lerobot

from warpdyn.labels import dry_run
from warpdyn.labels.dry_run import forecast, forecast_lines
from warpdyn.labels.labelled_file import Labelling, label_file
from warpdyn.labels.own_outputs import LogFile
from warpdyn.labels.row_quantities import read_quantities
from warpdyn.logs.parquet_log import ParquetLog

LABELLING = Labelling(ARM, read_quantities(ARM, ["rnea", "crba"]), {})


def test_a_forecast_equals_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows, columns, labels and sizes are equal. Finished files do not count. If there are more
    files than are opened, the rest is estimated from their bytes."""
    for k in range(4):
        lerobot(tmp_path / f"{k}.parquet", (3000,))
    files = [LogFile(tmp_path / f"{k}.parquet", tmp_path / f"o{k}.parquet") for k in range(4)]
    label_file(LABELLING, files[0])
    found = forecast(LABELLING, files)
    assert (found.files, found.finished, found.rows) == (3, 1, 9000)
    assert found.inputs == {
        "q": "observation.state",
        "v": "savgol:15:3 of q by timestamp",
        "a": "savgol:15:3 of q by timestamp",
    }
    assert found.labels["tau"].startswith("2; N·m, N; joint axes")
    assert found.labels["crba"].startswith("2 x 2; kg·m²")
    assert found.size == sum(f.source.stat().st_size for f in files[1:]) + 9000 * 24
    lines = list(forecast_lines(found))
    assert lines[0].startswith("3 files to label, 1 finished before; 9,000 rows, outputs of about ")
    monkeypatch.setattr(dry_run, "MOST_OPENED", 1)
    assert forecast(LABELLING, files).rows == 9000
    assert not any(f.target.exists() for f in files[1:])


def test_a_forecast_lists_failures_and_unknown_sizes(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("t,q0,q1\n0,1,2\n")
    np.savez(tmp_path / "b.npz", x=np.zeros(3))
    files = [LogFile(tmp_path / n, tmp_path / f"o{n}") for n in ("a.csv", "b.npz", "c.csv")]
    found = forecast(LABELLING, files)
    assert found.rows is None and found.size is None
    assert set(found.wrong) == {str(tmp_path / "b.npz"), str(tmp_path / "c.csv")}
    lines = list(forecast_lines(found))
    assert "rows are known when they are read" in lines[0]
    assert sum("will fail: " in line for line in lines) == 2


def test_a_forecast_prints_its_lines(tmp_path: Path) -> None:
    """They are about a readable log, a foreign file in place of an output, and a missing log."""
    lerobot(tmp_path / "0.parquet", (3000,))
    lerobot(tmp_path / "1.parquet", (500,))
    (tmp_path / "o1.parquet").write_text("theirs")
    files = [LogFile(tmp_path / f"{k}.parquet", tmp_path / f"o{k}.parquet") for k in range(3)]
    found = forecast(LABELLING, files)
    size = (tmp_path / "0.parquet").stat().st_size + (tmp_path / "1.parquet").stat().st_size
    assert found.size == size + 3500 * 24
    assert list(forecast_lines(found)) == [
        "3 files to label, 0 finished before; 3,500 rows, outputs of about "
        f"{found.size / 1e6:.1f} MB",
        "  q: observation.state",
        "  v: savgol:15:3 of q by timestamp",
        "  a: savgol:15:3 of q by timestamp",
        "  tau = 2; N·m, N; joint axes; a free base's columns in its own frame",
        "  crba = 2 x 2; kg·m², kg·m, kg; joint axes; a free base's columns in its own frame",
        f"  will fail: {tmp_path}/1.parquet: {tmp_path}/o1.parquet is not an output of warpdyn, and is "
        "replaced with --force alone",
        f"  will fail: {tmp_path}/2.parquet: there is no such file",
    ]


def test_rows_of_files_that_are_not_opened_are_estimated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The estimate uses their bytes, and so does that of the size of the outputs."""
    lerobot(tmp_path / "0.parquet", (3000,))
    lerobot(tmp_path / "1.parquet", (9000,))
    files = [LogFile(tmp_path / f"{k}.parquet", tmp_path / f"o{k}.parquet") for k in range(2)]
    sizes = [each.source.stat().st_size for each in files]
    monkeypatch.setattr(dry_run, "MOST_OPENED", 1)
    found = forecast(LABELLING, files)
    assert found.rows == round(3000 * sum(sizes) / sizes[0]) != 3000
    assert found.size == sum(sizes) + 24 * found.rows
    monkeypatch.setattr(dry_run, "MOST_OPENED", 2)
    assert forecast(LABELLING, files).rows == 12_000


def test_a_forecast_closes_its_logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lerobot(tmp_path / "0.parquet", (300,))
    closed: list[object] = []
    monkeypatch.setattr(ParquetLog, "close", lambda log: closed.append(log))
    forecast(LABELLING, [LogFile(tmp_path / "0.parquet", tmp_path / "o.parquet")])
    assert len(closed) == 1
