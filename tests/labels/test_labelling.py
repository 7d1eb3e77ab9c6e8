"""`wd.labels.label`: a folder of logs, run repeatedly until all of them are labelled."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from log_files import ARM, lerobot, numbers_of

import warpdyn as wd
from warpdyn.labels import LabelError, labelling
from warpdyn.labels.dry_run import forecast
from warpdyn.labels.labelling import log_files, prepare_labelling
from warpdyn.labels.own_outputs import LogFile, Outcome
from warpdyn.logs.parquet_log import ParquetLog

quiet = partial(wd.labels.label, progress=False)


def logs(folder: Path, count: int, lengths: tuple[int, ...] = (60, 40)) -> Path:
    folder.mkdir()
    for k in range(count):
        lerobot(folder / f"{k}.parquet", lengths)
    return folder


def test_a_changed_log_is_labelled_again(tmp_path: Path) -> None:
    """Its output is older than the log. The other outputs are kept. The dry run reports the
    same."""
    here, out = logs(tmp_path / "logs", 3), tmp_path / "out"
    quiet(ARM, here, "rnea", out)
    lerobot(here / "1.parquet", (70, 40))
    later = (out / "1.parquet").stat().st_mtime_ns + 10**9
    os.utime(here / "1.parquet", ns=(later, later))
    found = forecast(*prepare_labelling(ARM, here, "rnea", out, None, "savgol:15", "")[:2])
    assert (found.files, found.finished, found.rows) == (1, 2, 110)
    report = quiet(ARM, here, "rnea", out)
    assert (report.done, report.skipped, report.rows) == (1, 2, 110)
    assert len(numbers_of(out / "1.parquet", "tau")) == 110


def test_a_folder_is_labelled_and_a_second_run_has_nothing_to_do(tmp_path: Path) -> None:
    """Quantities are texts and functions. The manifest lists failures with their reasons, and they
    are tried again."""
    here, out = logs(tmp_path / "logs", 3), tmp_path / "out"
    (here / "bad.parquet").write_bytes(b"bad")
    asked = ["rnea", "hand=fk:lower_rod", "kinetic_energy"]
    report = quiet(ARM, here, asked, out)
    assert (report.done, report.skipped, report.rows, report.out) == (3, 0, 300, out)
    assert list(report.failed) == [str(here / "bad.parquet")]
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["failed"] == dict(report.failed)
    assert (manifest["files"], manifest["done"], manifest["rows_of_this_run"]) == (4, 3, 300)
    assert manifest["columns"]["tau"]["unit"] == "N·m, N"
    stamps = {path: path.stat().st_mtime_ns for path in out.glob("*.parquet")}
    (here / "bad.parquet").unlink()
    lerobot(here / "bad.parquet")
    report = quiet(ARM, here, asked, out)
    assert (report.done, report.skipped, report.failed) == (1, 3, {})
    assert all(path.stat().st_mtime_ns == before for path, before in stamps.items())
    q = numbers_of(out / "0.parquet", "observation.state").astype(np.float32)
    assert np.allclose(
        numbers_of(out / "0.parquet", "hand").reshape(-1, 4, 4), wd.fk(ARM, q, frame="lower_rod")
    )
    manifest = json.loads((out / "manifest.json").read_text())
    assert (manifest["done"], manifest["failed"]) == (4, {})


def test_a_run_with_other_settings_is_refused(tmp_path: Path) -> None:
    here, out = logs(tmp_path / "logs", 1), tmp_path / "out"
    quiet(ARM, here, "rnea", out)
    with pytest.raises(
        ValueError, match=r"quantities was .*rnea.*, is .*crba.*choose another --out"
    ):
        quiet(ARM, here, [wd.crba], out)


def test_a_killed_run_can_be_resumed_with_the_same_bytes(tmp_path: Path) -> None:
    """SIGKILL ends a run while files are written, and the next run finishes.

    No byte differs, and no partial file is left.
    """
    here = logs(tmp_path / "logs", 12, (4000, 4000))
    quiet(ARM, here, "rnea", tmp_path / "undisturbed")
    out = tmp_path / "out"
    code = (
        "import sys, warpdyn as wd; wd.labels.label(wd.load_robot('double_pendulum'), sys.argv[1], 'rnea', "
        "sys.argv[2], workers=1, progress=False)"
    )
    running = subprocess.Popen([sys.executable, "-c", code, str(here), str(out)])
    begin = time.monotonic()
    while not list(out.glob("*.parquet")) and time.monotonic() - begin < 120:
        time.sleep(0.001)
    os.kill(running.pid, signal.SIGKILL)
    running.wait()
    finished = len(list(out.glob("*.parquet")))
    assert finished
    report = quiet(ARM, here, "rnea", out)
    assert report.skipped == finished and report.done == 12 - finished
    for path in sorted((tmp_path / "undisturbed").glob("*.parquet")):
        assert (out / path.name).read_bytes() == path.read_bytes()
    assert len(list(out.iterdir())) == 13


def test_a_full_disk_ends_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The report has the message and the finished files, and no further file is tried."""
    here = logs(tmp_path / "logs", 3)

    def full(_: object, files: list[LogFile], told: object, **__: object) -> object:
        yield Outcome(files[0], 100)
        yield Outcome(files[1], error="b.parquet: No space left on device", full=True)
        raise AssertionError("nothing is asked for after a full disk")

    monkeypatch.setattr(labelling, "on_threads", full)
    with pytest.raises(
        LabelError, match="No space left on device; 1 files were finished, and no partial file"
    ):
        quiet(ARM, here, "rnea", tmp_path / "out")
    manifest = json.loads((tmp_path / "out/manifest.json").read_text())
    assert manifest["done"] == 1 and len(manifest["failed"]) == 1


def test_the_next_run_removes_leftovers_of_a_killed_run(tmp_path: Path) -> None:
    """The folder then contains only outputs and the manifest."""
    here, out = logs(tmp_path / "logs", 2), tmp_path / "out"
    out.mkdir()
    for name in ("0", "1"):  # as other processes, on other machines, leave them
        (out / f".{name}.parquet.elsewhere-12.part").write_bytes(b"half")
    (out / ".other.parquet.elsewhere-12.part").write_bytes(b"of another run")
    quiet(ARM, here, "rnea", out)
    assert sorted(path.name for path in out.iterdir()) == [
        *(".other.parquet.elsewhere-12.part", "0.parquet", "1.parquet", "manifest.json")
    ]


def test_outputs_over_the_logs_are_refused(tmp_path: Path) -> None:
    """The output folder may be a link to that of the logs. The message then says so."""
    here, link = logs(tmp_path / "logs", 1), tmp_path / "link"
    link.symlink_to(here)
    before = (here / "0.parquet").read_bytes()
    for out, said in ((here, "itself; choose"), (link, f"itself: {link} leads to {here}; choose")):
        with pytest.raises(ValueError, match=f"would be written over {said} another --out"):
            quiet(ARM, here / "0.parquet", "rnea", out)
    assert (here / "0.parquet").read_bytes() == before and len(list(here.iterdir())) == 1


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"on": "spark"}, 'on must be "threads", "ray" or "ray:ADDRESS"'),
        ({"on": "threads:4"}, 'on must be "threads"'),
        ({"columns": {"x": "y"}}, "columns are by input, .*there is no 'x'"),
        ({"filter": "mean:3"}, "filter must be savgol"),
        ({"logs": "nothing/*.csv"}, "there are no logs"),
    ],
)
def test_invalid_options_are_refused(tmp_path: Path, options: dict[str, str], error: str) -> None:
    """Nothing is written before."""
    here = options.pop("logs", None) or str(logs(tmp_path / "logs", 1))
    with pytest.raises(ValueError, match=error):
        quiet(ARM, here, "rnea", tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()


def test_the_progress_bar_counts_rows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wd.labels.label(ARM, logs(tmp_path / "logs", 2), "rnea", tmp_path / "out")
    said = capsys.readouterr().err
    assert "200/200" in said and "rows" in said and "2 of 2 files" in said


def names(folder: Path, *asked: str) -> dict[str, str]:
    files, _ = log_files([str(folder / x) for x in asked], folder / "out")
    return {
        f.source.relative_to(folder).as_posix(): f.target.relative_to(folder).as_posix()
        for f in files
    }


def test_logs_are_found_by_names_patterns_folders_and_lists(tmp_path: Path) -> None:
    """Outputs have the same folder structure. A bag's folder is one log. Hidden files and outputs
    are not logs."""
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


def test_missing_logs_and_colliding_outputs_are_refused(tmp_path: Path) -> None:
    """Two logs may not have the same output, and an output may not overwrite its log."""
    with pytest.raises(ValueError, match=r"there are no logs: .*/\*\.csv names none"):
        names(tmp_path, "*.csv")
    (tmp_path / "a.bag").write_text("")
    (tmp_path / "a.parquet").write_text("")
    with pytest.raises(ValueError, match=r"would both be written as .*/out/a\.parquet"):
        names(tmp_path, "a.bag", "a.parquet")
    with pytest.raises(ValueError, match="would be written over itself"):
        log_files(tmp_path / "a.parquet", tmp_path)


def test_on_ray_needs_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error says what to install. With the package, Ray gets the address and the number of
    workers."""
    monkeypatch.setattr(labelling, "find_spec", lambda _: None)
    with pytest.raises(ValueError, match=r"^on=ray needs ray, which is not installed: pip install"):
        quiet(ARM, logs(tmp_path / "logs", 1), "rnea", tmp_path / "out", on="ray")
    assert not (tmp_path / "out").exists()
    monkeypatch.setattr(labelling, "find_spec", lambda name: {"ray": object()}[name])
    given: list[dict[str, object]] = []

    def on_ray(_: object, files: list[LogFile], told: object, **options: object) -> object:
        given.append(options)
        yield from (Outcome(each, 7) for each in files)

    monkeypatch.setattr(labelling, "on_ray", on_ray)
    for on in ("ray", "ray:auto", "ray:ray://head:10001"):
        report = quiet(ARM, tmp_path / "logs", "rnea", tmp_path / "out", on=on, workers=3)
        assert (report.done, report.rows) == (1, 7)
    addresses = [None, "auto", "ray://head:10001"]
    assert given == [{"address": address, "workers": 3} for address in addresses]


def test_a_manifest_that_cannot_be_written_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unless the disk is full, which is already reported. Leftovers are removed in both cases."""
    here, out = logs(tmp_path / "logs", 1), tmp_path / "out"
    write, calls = labelling.write_manifest, list[object]()

    def second_fails(*arguments: object) -> None:
        calls.append(arguments)
        if len(calls) % 2 == 0:
            raise PermissionError("not here")
        write(*arguments)  # type: ignore[arg-type]

    def full(_: object, files: list[LogFile], *__: object, **___: object) -> object:
        yield Outcome(files[0], error="no room", full=True)

    monkeypatch.setattr(labelling, "write_manifest", second_fails)
    with pytest.raises(PermissionError, match="not here"):
        quiet(ARM, here, "rnea", out)
    monkeypatch.setattr(labelling, "on_threads", full)
    lerobot(here / "1.parquet")
    with pytest.raises(
        LabelError, match=r"^no room; 0 files were finished, and no partial file is left; "
    ):
        quiet(ARM, here, "rnea", out)


def test_rows_for_the_progress_bar_are_those_of_parquet_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The number is unknown with a file of another format, or for many files."""
    here = logs(tmp_path / "logs", 3)
    (here / "1.parquet").write_bytes(b"broken")
    files = [LogFile(here / f"{k}.parquet", here / f"o{k}") for k in range(3)]
    closed: list[object] = []
    monkeypatch.setattr(ParquetLog, "close", lambda log: closed.append(log))
    count = labelling._rows
    assert count(files) == 200 and len(closed) == 2
    assert count([*files, LogFile(here / "a.csv", here / "b")]) is None
    monkeypatch.setattr(labelling, "MOST_COUNTED", 3)
    assert count(files) == 200
    monkeypatch.setattr(labelling, "MOST_COUNTED", 2)
    assert count(files) is None


def test_the_progress_bar_ends_with_a_summary(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """There is none without a bar. A failed file counts as a file."""
    here = logs(tmp_path / "logs", 1)
    (here / "bad.parquet").write_bytes(b"bad")
    report = quiet(ARM, here, "rnea", tmp_path / "quiet")
    assert capsys.readouterr().err == "" and (report.done, report.rows) == (1, 100)
    assert dict(report.failed).keys() == {str(here / "bad.parquet")}
    wd.labels.label(ARM, here, "rnea", tmp_path / "out")
    assert "2 of 2 files" in capsys.readouterr().err


def test_logs_that_do_not_exist_are_named(tmp_path: Path) -> None:
    """The message names at most three of them."""
    for asked, said in (
        (
            [f"{tmp_path}/{n}*.csv" for n in "abcd"],
            ", ".join(f"{tmp_path}/{n}*.csv" for n in "abc"),
        ),
        ([], "nothing"),
    ):
        with pytest.raises(
            ValueError, match=f"^{re.escape(f'there are no logs: {said} names none')}$"
        ):
            log_files(asked, tmp_path / "out")
    with pytest.raises(
        ValueError, match=r"^columns are by input, a, episode, q, tau, time, v; there"
    ):
        prepare_labelling(ARM, [], "rnea", tmp_path, {"p": "x"}, "savgol:15", "")


def test_a_named_bag_is_one_log_and_a_named_file_is_tried(tmp_path: Path) -> None:
    """Files in the bag are not logs of their own. A file of an unknown kind is refused later."""
    bag, other = tmp_path / "run", tmp_path / "a.txt"
    bag.mkdir()
    (bag / "metadata.yaml").write_text("")
    (bag / "run.mcap").write_text("")
    other.write_text("")
    for path in (bag, other, tmp_path / "none.csv"):
        files, _ = log_files(str(path), tmp_path / "out")
        assert [each.source for each in files] == [path]
