"""What a run would do, without doing it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from log_files import ARM, lerobot

from warpdyn.labels import dry_run
from warpdyn.labels.dry_run import forecast, forecast_lines
from warpdyn.labels.labelled_file import Labelling, LogFile, label_file
from warpdyn.labels.row_quantities import read_quantities

LABELLING = Labelling(ARM, read_quantities(ARM, ["rnea", "crba"]), {})


def test_rows_columns_labels_and_sizes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As they turn out; finished files are not counted; more files than are opened, by their bytes."""
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
    monkeypatch.setattr(dry_run, "LOOKED_AT", 1)
    assert forecast(LABELLING, files).rows == 9000
    assert not any(f.target.exists() for f in files[1:])


def test_what_will_fail_and_what_is_not_known(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("t,q0,q1\n0,1,2\n")
    np.savez(tmp_path / "b.npz", x=np.zeros(3))
    files = [LogFile(tmp_path / n, tmp_path / f"o{n}") for n in ("a.csv", "b.npz", "c.csv")]
    found = forecast(LABELLING, files)
    assert found.rows is None and found.size is None
    assert set(found.wrong) == {str(tmp_path / "b.npz"), str(tmp_path / "c.csv")}
    lines = list(forecast_lines(found))
    assert "rows are known when they are read" in lines[0]
    assert sum("will fail: " in line for line in lines) == 2
