"""Which files are our outputs, and for which state of their log."""

from __future__ import annotations

import json
import os
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from log_files import ARM, cubic, lerobot, write_bag

import warpdyn as wd
from warpdyn.labels.own_outputs import OutputState, output_state, refuse_foreign, stamp_of

quiet = partial(wd.labels.label, progress=False)


def log(folder: Path, kind: str, rows: int = 60) -> Path:
    """A log of this format."""
    folder.mkdir(exist_ok=True)
    q, path = cubic(np.arange(rows) * 0.01)[0], folder / f"a.{kind}"
    if kind == "parquet":
        lerobot(path, (rows,))
    elif kind == "npz":
        np.savez(path, q=q, time=np.arange(rows) * 0.01)
    elif kind == "csv":
        lines = (",".join(map(repr, map(float, (0.01 * k, *x)))) for k, x in enumerate(q))
        path.write_text("t,q0,q1\n" + "\n".join(lines) + "\n")
    else:
        path = folder / "a"
        write_bag(path, np.arange(rows) * 0.01, q)
    return path


def output(out: Path, kind: str) -> Path:
    return out / ("a.parquet" if kind == "bag" else f"a.{kind}")


KINDS = ["parquet", "npz", "csv", "bag"]


@pytest.mark.parametrize("kind", KINDS)
def test_an_output_is_done_until_its_log_changes_in_size_or_time(tmp_path: Path, kind: str) -> None:
    """An older time counts, too: a log from a backup replaces the labelled one."""
    source, out = log(tmp_path / "logs", kind), tmp_path / "out"
    target = output(out, kind)
    assert output_state(source, target) is OutputState.MISSING
    quiet(ARM, source, "rnea", out)
    assert output_state(source, target) is OutputState.DONE
    report = quiet(ARM, source, "rnea", out)
    assert (report.done, report.skipped) == (0, 1)
    inside = next(source.glob("*.db3")) if source.is_dir() else source
    for when in (1, 2**60):
        os.utime(inside, ns=(when, when))
        assert output_state(source, target) is OutputState.STALE
        report = quiet(ARM, source, "rnea", out)
        assert (report.done, report.failed) == (1, {})
        assert output_state(source, target) is OutputState.DONE


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("newer", [False, True])
def test_a_foreign_file_is_refused(tmp_path: Path, kind: str, newer: bool) -> None:
    """Older or newer than the log, it is neither replaced nor counted as an output. force=True
    replaces it."""
    source, out = log(tmp_path / "logs", kind), tmp_path / "out"
    target = output(out, kind)
    out.mkdir()
    target.write_text("PRECIOUS")
    when = 2**60 if newer else 1
    os.utime(target, ns=(when, when))
    with pytest.raises(
        ValueError, match=f"{target} is not an output of warpdyn and would be replaced"
    ):
        quiet(ARM, source, "rnea", out)
    assert target.read_text() == "PRECIOUS" and [x.name for x in out.iterdir()] == [target.name]
    report = quiet(ARM, source, "rnea", out, force=True)
    assert report.done == 1 and output_state(source, target) is OutputState.DONE


def test_files_of_the_right_format_may_be_foreign(tmp_path: Path) -> None:
    """They are a table, an archive and a text written by others, a broken link, a folder, and a
    pipe."""
    source = log(tmp_path / "logs", "parquet")
    for kind in ("parquet", "npz", "csv"):
        assert output_state(source, log(tmp_path / "theirs", kind)) is OutputState.FOREIGN
    odd = tmp_path / "odd.npz"
    np.savez(odd, warpdyn=np.array(json.dumps([1, 2])))
    assert output_state(source, odd) is OutputState.FOREIGN
    (tmp_path / "link.csv").symlink_to(tmp_path / "nowhere")
    (tmp_path / "folder.parquet").mkdir()
    os.mkfifo(tmp_path / "pipe.csv")
    for name in ("link.csv", "folder.parquet", "pipe.csv"):
        assert output_state(source, tmp_path / name) is OutputState.FOREIGN


def test_an_edited_table_is_foreign(tmp_path: Path) -> None:
    """The file next to a CSV output contains its size and time."""
    source, out = log(tmp_path / "logs", "csv"), tmp_path / "out"
    quiet(ARM, source, "rnea", out)
    target = out / "a.csv"
    target.write_text(target.read_text() + "# mine\n")
    assert output_state(source, target) is OutputState.FOREIGN
    (out / ".a.csv.warpdyn").write_text('{"warpdyn": [5, {"size": []}]}')
    assert output_state(source, target) is OutputState.FOREIGN


def test_a_missing_log_has_no_stamp(tmp_path: Path) -> None:
    assert stamp_of(tmp_path / "nothing.csv") == {}


@pytest.mark.parametrize(("count", "more"), [(1, ""), (2, " and 1 more"), (3, " and 2 more")])
def test_a_refusal_counts_the_other_files(count: int, more: str) -> None:
    targets = [Path(f"{k}.npz") for k in range(count)]
    with pytest.raises(ValueError, match=rf"^0\.npz{more} is not an output of warpdyn and would"):
        refuse_foreign(targets, Path("out"))
    refuse_foreign([], Path("out"))
