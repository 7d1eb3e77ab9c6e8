"""`warpdyn label`: its messages, files and exit codes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from log_files import lerobot
from module_numbers import module_numbers

from warpdyn.cli.label import SHOWN
from warpdyn.cli.main import main


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    lerobot(tmp_path / "a.parquet")
    return tmp_path


def test_logs_are_labelled(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The test covers quantities with commas, a kernel, and columns by name. A file that fails
    gives exit code 1."""
    (here / "my.py").write_text(
        "import warpdyn as wd\n\n\n@wd.kernel\ndef power(robot, q, v, a):\n"
        '    """Of the motors [W]."""\n    return (robot.rnea(q, v, a) * v).sum()\n'
    )
    command = [
        "label",
        "double_pendulum",
        "a.parquet",
        "--quantity",
        "rnea,fk:lower_rod",
        "--out",
        "out",
    ]
    command += ["--kernel", "my.py:power", "--columns", "q=observation.state,time=timestamp"]
    assert main([*command, "--dry-run"]) == 0
    said = capsys.readouterr().out
    assert "1 file to label, 0 finished before; 100 rows" in said and not (here / "out").exists()
    assert "v: savgol:15:3 of q by timestamp" in said and "power = a number" in said
    assert main(command) == 0
    assert "out: 1 file with 100 rows labelled" in capsys.readouterr().out
    table = pq.read_table("out/a.parquet")
    assert table.column_names[-3:] == ["tau", "fk_lower_rod", "power"]
    assert np.isfinite(table["power"].to_numpy()).all()
    (here / "b.parquet").write_bytes(b"bad")
    assert main([*command[:3], "b.parquet", *command[3:]]) == 1
    told = capsys.readouterr()
    assert "0 files with 0 rows labelled, 1 finished before" in told.out
    assert "failed: b.parquet: it is not a Parquet file" in told.err


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (["--quantity", "rnee"], "did you mean 'rnea'?"),
        (["--quantity", "rnea", "--columns", "q"], "--columns are NAME=COLUMN"),
        (["--quantity", "rnea", "--on", "spark"], "on must be"),
        ([], "name at least one quantity"),
    ],
)
def test_mistakes_are_refused_in_one_line(
    options: list[str], error: str, capsys: pytest.CaptureFixture[str], here: Path
) -> None:
    """No file is written."""
    assert main(["label", "double_pendulum", "a.parquet", "--out", "out", *options]) == 2
    said = capsys.readouterr().err
    assert error in said and not (here / "out").exists()
    assert sum(line.startswith("warpdyn: error: ") for line in said.splitlines()) == 1


def test_only_the_first_of_many_failures_are_printed(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Their total number is printed, too."""
    names = [f"bad{k:02d}.parquet" for k in range(SHOWN + 1)]
    for name in names:
        (here / name).write_bytes(b"bad")
    command = ["label", "double_pendulum", *names, "--quantity", "rnea", "--out", "out"]
    for logs, count in ((names[:-1], SHOWN), (names, SHOWN + 1)):
        assert main([*command[:2], *logs, *command[2 + len(names) :]]) == 1
        lines = capsys.readouterr().err.splitlines()
        failed = [line for line in lines if line.startswith("failed: bad")]
        assert len(failed) == SHOWN
        assert (f"{count} failed; out/manifest.json has all" in lines) == (count > SHOWN)


def test_numbers_change_only_on_purpose() -> None:
    assert module_numbers("warpdyn/cli")["label"] == {
        "SHOWN": 10,
    }


def test_remarks_on_logs_are_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """If there are many, the first ones are printed. The command still succeeds."""
    monkeypatch.chdir(tmp_path)
    for k in range(SHOWN + 1):
        np.savez(tmp_path / f"degrees{k}.npz", q=np.full((4, 8), 60.0))
    logs = [f"degrees{k}.npz" for k in range(SHOWN + 1)]
    assert main(["label", "panda", *logs, "--quantity", "com", "-o", "out"]) == 0
    lines = capsys.readouterr().err.splitlines()
    remarks = [line for line in lines if line.startswith("remark: degrees")]
    assert len(remarks) == SHOWN and all("angles must be in radians" in line for line in remarks)
    assert f"{SHOWN + 1} remarks; out/manifest.json has all" in lines
