"""Many files on threads: each file once, whatever happens to the others."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from log_files import ARM, lerobot

import warpdyn as wd
from warpdyn.labels.labelled_file import Labelling, label_file
from warpdyn.labels.on_threads import on_threads
from warpdyn.labels.own_outputs import LogFile, Outcome
from warpdyn.labels.row_quantities import read_quantities

LABEL = partial(label_file, Labelling(ARM, read_quantities(ARM, ["rnea"]), {}))


def files(folder: Path, count: int) -> list[LogFile]:
    for k in range(count):
        lerobot(folder / f"{k}.parquet")
        os.utime(folder / f"{k}.parquet", ns=(1, 1))  # outputs say of which time their log is
    return [LogFile(folder / f"{k}.parquet", folder / f"out{k}.parquet") for k in range(count)]


@pytest.mark.parametrize("workers", [1, 3])
def test_every_file_is_labelled_once(tmp_path: Path, workers: int) -> None:
    """A broken file is reported, the others are done. The caller's number of threads does not
    change."""
    todo = files(tmp_path, 9)
    todo[4].source.write_bytes(b"broken")
    before, told = wd.runtime.get_num_threads(), list[int]()
    outcomes = list(on_threads(LABEL, todo, told.append, workers))
    assert sorted(each.file for each in outcomes) == sorted(todo)
    assert [each.file for each in outcomes if each.error] == [todo[4]]
    assert sum(told) == sum(each.rows for each in outcomes) == 800
    assert wd.runtime.get_num_threads() == before
    one = todo[0].target.read_bytes()
    assert all(f.target.read_bytes() == one for f in todo if f is not todo[4])


def test_closing_the_iterator_stops_the_run(tmp_path: Path) -> None:
    """It is closed after the first outcome. All present outputs are complete."""
    todo = files(tmp_path, 20)
    results = on_threads(LABEL, todo, lambda rows: None, 2)
    next(results)
    results.close()  # type: ignore[attr-defined]
    done = list(tmp_path.glob("out*"))
    assert 1 <= len(done) <= 6 and not list(tmp_path.glob(".*"))
    assert {path.read_bytes() for path in done} == {done[0].read_bytes()}


def test_each_file_is_labelled_on_one_thread(tmp_path: Path) -> None:
    """Each worker has its own file, so kernels do not share cores."""
    threads: list[int] = []

    def count_threads(*arguments: Any) -> Outcome:
        threads.append(wd.runtime.get_num_threads())
        return LABEL(*arguments)

    wd.runtime.set_num_threads(2)
    list(on_threads(count_threads, files(tmp_path, 3), lambda rows: None, 2))
    assert threads == [1, 1, 1] and wd.runtime.get_num_threads() == 2
