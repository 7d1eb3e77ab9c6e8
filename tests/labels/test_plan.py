"""Which files, and what their outputs are called."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpdyn.labels.plan import log_files


def names(folder: Path, *asked: str) -> dict[str, str]:
    files, _ = log_files([str(folder / x) for x in asked], folder / "out")
    return {
        f.source.relative_to(folder).as_posix(): f.target.relative_to(folder).as_posix()
        for f in files
    }


def test_names_patterns_folders_and_lists(tmp_path: Path) -> None:
    """Outputs lie as the logs do; a bag's folder is one log; hidden files and outputs are none."""
    for name in (
        "a/x.parquet",
        "a/b/x.parquet",
        "a/y.txt",
        "a/.z.csv",
        "a/bag/metadata.yaml",
        "a/bag/0.db3",
        "out/o.csv",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    all_of_a = {
        "a/x.parquet": "out/x.parquet",
        "a/b/x.parquet": "out/b/x.parquet",
        "a/bag": "out/bag.parquet",
    }
    assert names(tmp_path, "a") == all_of_a
    assert names(tmp_path, "a/*.parquet", "a/x.parquet") == {"a/x.parquet": "out/x.parquet"}
    assert len(names(tmp_path, "**/x.parquet")) == 2
    (tmp_path / "list.txt").write_text(f"{tmp_path}/a/x.parquet\n\n{tmp_path}/a/b/x.parquet\n")
    files, root = log_files(f"@{tmp_path}/list.txt", tmp_path / "out")
    assert root == tmp_path / "a"
    assert {f.source for f in files} == {tmp_path / "a/x.parquet", tmp_path / "a/b/x.parquet"}
    assert "out/o.csv" not in names(tmp_path, "**/*.csv", "a/x.parquet")
    assert names(tmp_path, "a/missing.csv") == {"a/missing.csv": "out/missing.csv"}


def test_what_is_refused(tmp_path: Path) -> None:
    """No log; two of one output; an output over its log."""
    with pytest.raises(ValueError, match=r"there are no logs: .*/\*\.csv names none"):
        names(tmp_path, "*.csv")
    (tmp_path / "a.bag").write_text("")
    (tmp_path / "a.parquet").write_text("")
    with pytest.raises(ValueError, match=r"would both be written as .*/out/a\.parquet"):
        names(tmp_path, "a.bag", "a.parquet")
    with pytest.raises(ValueError, match="would be written over itself"):
        log_files(tmp_path / "a.parquet", tmp_path)
