"""The same tests on Ray itself, on this machine: bytes of outputs, a worker that is killed, a
cluster that does not exist."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from log_files import ARM, lerobot

import warpdyn as wd
from warpdyn.labels.labelled_file import Labelling, label_file
from warpdyn.labels.on_ray import on_ray
from warpdyn.labels.on_threads import on_threads
from warpdyn.labels.own_outputs import LogFile
from warpdyn.labels.row_quantities import read_quantities

DEADLY = """
import os, signal, threading, time
from pathlib import Path

import warpdyn as wd

HERE, DRIVER = Path({folder!r}), {driver}


def wait_for_half_a_file():
    while not list((HERE / "ray").glob(".*.part")):
        time.sleep(0.0005)
    try:
        with (HERE / "killed").open("x") as file:  # of two workers, only the first one
            file.write(str(os.getpid()))
    except FileExistsError:
        return
    os.kill(os.getpid(), signal.SIGKILL)


if os.getpid() != DRIVER and not (HERE / "killed").exists():
    threading.Thread(target=wait_for_half_a_file, daemon=True).start()


@wd.kernel
def doubled(robot, q):
    return 2.0 * q
"""
"""A user's file that kills the first worker that reads it, as soon as there is a partial output."""


@pytest.fixture(scope="module", autouse=True)
def ray_here() -> Iterator[None]:
    """Ray on two processors of this machine, started once for all tests of this file."""
    import ray

    from warpdyn.labels.on_ray import _start

    _start(ray, None, 2)
    yield
    ray.shutdown()


def files(folder: Path, on: str, count: int, rows: int) -> list[LogFile]:
    (folder / on).mkdir()
    for k in range(count):
        lerobot(folder / f"{k}.parquet", (rows,))
    return [LogFile(folder / f"{k}.parquet", folder / on / f"{k}.parquet") for k in range(count)]


def test_a_worker_killed_in_the_middle_of_a_file_loses_no_row(tmp_path: Path) -> None:
    """No row occurs twice either: the bytes are those of threads, and no partial file is left."""
    text = DEADLY.format(folder=str(tmp_path), driver=os.getpid())
    (tmp_path / "my.py").write_text(text)
    quantities = read_quantities(ARM, ["rnea", f"{tmp_path / 'my.py'}:doubled"])
    labelling, told = Labelling(ARM, quantities, {}), list[int]()
    on_workers = files(tmp_path, "ray", 4, 20_000)
    outcomes = list(on_ray(partial(label_file, labelling), on_workers, told.append))
    assert [each.error for each in outcomes] == [""] * 4 and sum(told) == 80_000
    assert int((tmp_path / "killed").read_text()) != os.getpid()
    times = [file.source.stat().st_mtime_ns for file in on_workers]
    undisturbed = files(tmp_path, "threads", 4, 20_000)
    for file, time in zip(undisturbed, times, strict=True):  # outputs contain the time of their log
        os.utime(file.source, ns=(time, time))
    list(on_threads(partial(label_file, labelling), undisturbed, told.append, 2))
    for one, other in zip(on_workers, undisturbed, strict=True):
        assert one.target.read_bytes() == other.target.read_bytes()
    whole = {file.target.name for file in on_workers}
    left = {path.name for path in (tmp_path / "ray").iterdir()} - whole
    assert len(left) <= 1 and all(name.endswith(".part") for name in left)


def test_the_command_runs_on_ray(tmp_path: Path) -> None:
    """`--on ray` in a process of its own, which starts a Ray of its own and ends it."""
    (tmp_path / "logs").mkdir()
    lerobot(tmp_path / "logs/a.parquet")
    (tmp_path / "logs/b.parquet").write_bytes(b"no Parquet")
    command = [
        *(sys.executable, "-m", "warpdyn", "label", "double_pendulum", str(tmp_path / "logs")),
        *("--quantity", "rnea", "--out", str(tmp_path / "out"), "--on", "ray", "--workers", "1"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 1, done.stderr
    assert "b.parquet" in done.stdout + done.stderr
    wd.labels.label(ARM, tmp_path / "logs/a.parquet", "rnea", tmp_path / "threads", progress=False)
    made = (tmp_path / "out/a.parquet").read_bytes()
    assert made == (tmp_path / "threads/a.parquet").read_bytes()


def test_a_missing_cluster_is_reported_in_one_line(tmp_path: Path) -> None:
    """There is no traceback."""
    lerobot(tmp_path / "a.parquet")
    command = [
        *(sys.executable, "-m", "warpdyn", "label", "double_pendulum", str(tmp_path / "a.parquet")),
        *("--quantity", "rnea", "--out", str(tmp_path / "out"), "--on", "ray:127.0.0.1:1"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 2, done.stderr
    assert "no Ray cluster answers at 127.0.0.1:1: Connection refused" in done.stderr, done.stderr
    assert "Traceback" not in done.stderr
