"""Which file has which format."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from log_files import lerobot
from time_limit import time_limit

from warpdyn.logs.open_log import kind_of_log, open_log, output_name
from warpdyn.logs.records import LogError


def test_formats_and_output_names_follow_from_file_names(tmp_path: Path) -> None:
    """Suffixes may be upper case. A folder with metadata is a bag, whose output is Parquet."""
    bag = tmp_path / "run.1"
    bag.mkdir()
    assert kind_of_log(bag) is None
    (bag / "metadata.yaml").write_text("")
    assert (
        kind_of_log(bag) == kind_of_log(Path("a.MCAP")) == "bag"
        and output_name(bag) == "run.1.parquet"
    )
    assert output_name(Path("x/a.db3")) == "a.parquet" and output_name(Path("a.csv")) == "a.csv"
    assert kind_of_log(Path("a.txt")) is None


def test_files_that_cannot_be_opened_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Missing, empty or foreign files, and formats whose package is missing."""
    for name, error in (
        ("no.csv", "no such file"),
        ("a.txt", "it is none of .parquet"),
        ("b.csv", "it has 0 bytes"),
    ):
        if name != "no.csv":
            (tmp_path / name).write_text("")
        with pytest.raises(LogError, match=error):
            open_log(tmp_path / name)
    lerobot(tmp_path / "a.parquet")
    assert open_log(tmp_path / "a.parquet").rows == 100
    monkeypatch.delitem(sys.modules, "warpdyn.logs.parquet_log")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(LogError, match=r"need pyarrow, .* pip install '.\[labels\]' in"):
        open_log(tmp_path / "a.parquet")


def test_a_pipe_is_refused(tmp_path: Path) -> None:
    """The reader does not wait for its other end."""
    for ending in ("csv", "npz", "parquet", "mcap"):
        os.mkfifo(tmp_path / f"pipe.{ending}")
        with (
            time_limit(),
            pytest.raises(LogError, match="it is a pipe, a socket or a device; name"),
        ):
            open_log(tmp_path / f"pipe.{ending}")
