"""One labelled file: right numbers, complete or not present."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from log_files import ARM, cubic, lerobot, numbers_of, write_bag

import warpdyn as wd
from warpdyn.labels import labelled_file
from warpdyn.labels.labelled_file import Labelling, label_file, partial_name, remove_leftovers
from warpdyn.labels.own_outputs import LogFile
from warpdyn.labels.row_quantities import read_quantities
from warpdyn.logs.parquet_log import ParquetLog, ParquetWriter

LABELLING = Labelling(ARM, read_quantities(ARM, ["rnea", "kinetic_energy"]), {})
T = np.arange(100) * 0.01


def test_labels_equal_the_functions_results(tmp_path: Path) -> None:
    """The v and a of the motion are known. The file contains their description."""
    q = lerobot(tmp_path / "a.parquet", (60, 40), np.float64)
    file = LogFile(tmp_path / "a.parquet", tmp_path / "b.parquet")
    told: list[int] = []
    outcome = label_file(LABELLING, file, told.append)
    assert (outcome.rows, outcome.error, sum(told)) == (100, "", 100)
    _, v, a = cubic(np.concatenate([T[:60], T[:40]]))
    tau = wd.rnea(ARM, q, v, a)
    assert np.allclose(numbers_of(file.target, "tau"), tau, atol=1e-2)
    assert np.allclose(
        numbers_of(file.target, "kinetic_energy"), wd.kinetic_energy(ARM, q, v), atol=1e-3
    )
    said = json.loads(pq.read_schema(file.target).metadata[b"warpdyn"])
    assert said["model"] == "double_pendulum" and said["inputs"]["a"].startswith("savgol:15:3 of q")
    assert said["columns"]["tau"]["entries"] == list(ARM.v_names)


@pytest.mark.parametrize("rows", [10, 64])
def test_labels_do_not_depend_on_the_size_of_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: int
) -> None:
    lerobot(tmp_path / "a.parquet")
    whole, cut = (LogFile(tmp_path / "a.parquet", tmp_path / f"{n}.parquet") for n in "bc")
    label_file(LABELLING, whole)
    monkeypatch.setattr(labelled_file, "ROWS", rows)
    in_small_parts = replace(LABELLING)  # the number of rows of a part is computed once
    label_file(in_small_parts, cut)
    assert in_small_parts.rows_of_part == rows
    assert pq.read_table(whole.target).equals(pq.read_table(cut.target))


def test_every_file_format_gives_the_same_labels(tmp_path: Path) -> None:
    """The formats are Parquet, NPZ, CSV and bags."""
    q = cubic(T)[0]
    np.savez(tmp_path / "a.npz", q=q, time=T)
    rows = "\n".join(",".join(map(repr, map(float, (s, *x)))) for s, x in zip(T, q, strict=True))
    (tmp_path / "b.csv").write_text(f"t,q0,q1\n{rows}\n")
    write_bag(tmp_path / "c", T, q)
    results = []
    for source, target in (("a.npz", "a_.npz"), ("b.csv", "b_.csv"), ("c", "c_.parquet")):
        outcome = label_file(LABELLING, LogFile(tmp_path / source, tmp_path / target))
        assert outcome.error == ""
    with np.load(tmp_path / "a_.npz") as file:
        results.append(file["tau"])
    named = np.genfromtxt(tmp_path / "b_.csv", delimiter=",", names=True)
    results.append(np.stack([named[f"tau_{n}"] for n in ARM.v_names], axis=1))
    results.append(numbers_of(tmp_path / "c_.parquet", "tau"))
    expected = wd.rnea(ARM, *cubic(T))
    assert all(np.allclose(x, expected, atol=1e-5) for x in results)


def test_errors_are_reported_and_leave_no_output(tmp_path: Path) -> None:
    """One file cannot be read, another has an error in the middle."""
    (tmp_path / "a.parquet").write_bytes(b"PAR1")
    q = cubic(T)[0]
    q[90] = np.nan
    np.savez(tmp_path / "b.npz", q=q, time=T)
    np.savez(tmp_path / "c.npz", q=np.zeros((0, 2)), v=np.zeros((0, 2)), a=np.zeros((0, 2)))
    for name, error in (
        ("a.parquet", "not a Parquet file"),
        ("b.npz", "not finite"),
        ("c.npz", "it has no rows"),
    ):
        outcome = label_file(LABELLING, LogFile(tmp_path / name, tmp_path / f"out.{name}"))
        assert error in outcome.error and "\n" not in outcome.error and not outcome.full
    assert len(list(tmp_path.iterdir())) == 3


def test_an_error_in_a_kernel_is_reported(tmp_path: Path) -> None:
    (tmp_path / "my.py").write_text(
        "import warpdyn as wd\n\n\n@wd.kernel\ndef wrong(robot, q):\n    return q[5]\n"
    )
    np.savez(tmp_path / "a.npz", q=cubic(T)[0], time=T)
    labelling = Labelling(ARM, read_quantities(ARM, [f"{tmp_path}/my.py:wrong"]), {})
    outcome = label_file(labelling, LogFile(tmp_path / "a.npz", tmp_path / "b.npz"))
    assert "Index" in outcome.error or "index" in outcome.error
    assert not (tmp_path / "b.npz").exists()


def test_a_stopped_run_leaves_no_output(tmp_path: Path) -> None:
    lerobot(tmp_path / "a.parquet")
    outcome = label_file(
        LABELLING, LogFile(tmp_path / "a.parquet", tmp_path / "b.parquet"), stop=lambda: True
    )
    assert outcome.error == "the run was stopped" and len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_a_write_error_is_reported_and_leaves_no_output(tmp_path: Path, kind: str) -> None:
    """A limit of the process makes the system refuse to write."""
    t = np.arange(20_000) * 0.01
    if kind == "parquet":
        lerobot(tmp_path / "a.parquet", (20_000,))
    else:
        text = "\n".join(f"{x},{x},{x}" for x in t)
        (tmp_path / "a.csv").write_text(f"t,q0,q1\n{text}\n")
    code = f"""
import resource, signal
from pathlib import Path
from warpdyn.labels.labelled_file import Labelling, label_file
from warpdyn.labels.own_outputs import LogFile
from warpdyn.labels.row_quantities import read_quantities
import numpy as np
import warpdyn as wd
arm = wd.load_robot("double_pendulum")
x = np.zeros((2, 2)); wd.rnea(arm, x, x, x); x = x.astype("f4"); wd.rnea(arm, x, x, x)
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
outcome = label_file(Labelling(arm, read_quantities(arm, ["rnea"]), {{}}), LogFile(Path("a.{kind}"), Path("b.{kind}")))
print(outcome.error)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert "too large" in done.stdout, done.stdout
    assert [path.name for path in tmp_path.iterdir()] == [f"a.{kind}"]
    assert "Traceback" not in done.stderr, done.stderr


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_is_reported_when_the_file_is_synchronised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """A network file system reports it only then. The file is not renamed."""

    def refuse_sync(_: int) -> None:
        raise OSError(number, os.strerror(number))

    lerobot(tmp_path / "a.parquet")
    monkeypatch.setattr(os, "fsync", refuse_sync)
    outcome = label_file(LABELLING, LogFile(tmp_path / "a.parquet", tmp_path / "b.parquet"))
    assert outcome.full and os.strerror(number) in outcome.error
    assert [path.name for path in tmp_path.iterdir()] == ["a.parquet"]


def test_leftovers_of_a_killed_process_are_removed(tmp_path: Path) -> None:
    """They are removed once the output exists. A process that still writes it can detect this."""
    files = [LogFile(tmp_path / f"{n}.csv", tmp_path / f"{n}.parquet") for n in "ab"]
    left = [partial_name(each.target) for each in files]
    for path in left:
        path.write_text("")
    assert remove_leftovers(files) == 0
    files[0].target.write_text("")
    assert remove_leftovers(files) == 1
    assert [path.exists() for path in left] == [False, True]


def test_a_log_that_changes_during_the_run_gives_no_output(tmp_path: Path) -> None:
    """No output says that it is done."""
    lerobot(tmp_path / "log.parquet")
    file = LogFile(tmp_path / "log.parquet", tmp_path / "out.parquet")
    labelling = Labelling(ARM, read_quantities(ARM, ["rnea"]), {})
    outcome = label_file(labelling, file, lambda rows: os.utime(file.source, ns=(1, 1)))
    assert "was written to while it was read" in outcome.error
    assert [path.name for path in tmp_path.iterdir()] == ["log.parquet"]


def test_large_labels_are_computed_in_small_parts() -> None:
    """A regressor of panda has 8 by 130 numbers in a row. Torques are computed in the largest
    parts."""
    panda = wd.load_robot("panda")
    rows = [
        Labelling(panda, read_quantities(panda, [name]), {}).rows_of_part
        for name in ("rnea", "joint_torque_regressor")
    ]
    rest = np.zeros(panda.nv)
    size = 8 * wd.joint_torque_regressor(panda, panda.neutral, rest, rest).size
    assert rows == [labelled_file.ROWS, labelled_file.PART // size] and rows[1] < 40_000


def test_a_faster_second_run_is_not_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It wrote the output and removed the partial file of this run. Without an output it is an
    error."""
    lerobot(tmp_path / "a.parquet")
    file = LogFile(tmp_path / "a.parquet", tmp_path / "b.parquet")
    write_hidden_file = labelled_file.write_hidden_file

    def write_and_remove(partial: Path, target: Path, stamp: object) -> None:
        write_hidden_file(partial, target, stamp)
        partial.unlink()

    monkeypatch.setattr(labelled_file, "write_hidden_file", write_and_remove)
    outcome = label_file(LABELLING, file)
    assert outcome.error.endswith("No such file or directory") and not file.target.exists()
    file.target.write_text("whole")
    assert label_file(LABELLING, file).error == "" and file.target.read_text() == "whole"


def test_logs_and_partial_files_are_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are closed if labelling fails after the first part, too."""
    lerobot(tmp_path / "a.parquet", (60, 40))
    done: list[str] = []
    for kind, name in ((ParquetLog, "close"), (ParquetWriter, "close"), (ParquetWriter, "abandon")):
        monkeypatch.setattr(
            kind, name, _record_calls(done, f"{kind.__name__}.{name}", getattr(kind, name))
        )
    file = LogFile(tmp_path / "a.parquet", tmp_path / "b.parquet")
    assert label_file(LABELLING, file).error == ""
    assert done == ["ParquetWriter.close", "ParquetLog.close"]
    done.clear()
    monkeypatch.setattr(labelled_file, "ROWS", 50)
    in_small_parts = replace(LABELLING)  # the number of rows of a part is computed once
    stops = iter([False, True])
    outcome = label_file(in_small_parts, file, stop=lambda: next(stops))
    assert outcome.error == "the run was stopped"
    assert done == ["ParquetWriter.abandon", "ParquetLog.close"]


def _record_calls(done: list[str], name: str, call: Callable[..., object]) -> Callable[..., object]:
    def record_call(*arguments: object) -> object:
        done.append(name)
        return call(*arguments)

    return record_call


def test_an_error_of_the_system_names_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is the file of the error, otherwise the output. The message has its words, otherwise its
    type. Only some errors mean a full disk."""
    file = LogFile(tmp_path / "a.parquet", tmp_path / "b.parquet")
    for error, said, full in (
        (OSError(errno.ENOSPC, "No space", "x.csv"), "x.csv: No space", True),
        (OSError(errno.EDQUOT, "Quota"), f"{file.target}: Quota", True),
        (OSError(errno.EIO, "I/O"), f"{file.target}: I/O", False),
        (OSError("odd"), f"{file.target}: OSError: odd", False),
        (RuntimeError("a\nb"), "RuntimeError: a b", False),
    ):
        monkeypatch.setattr(labelled_file, "open_log", _failing(error))
        outcome = label_file(LABELLING, file)
        assert (outcome.error, outcome.full, outcome.rows) == (said, full, 0)


def _failing(error: Exception) -> Callable[..., object]:
    def failing(*_: object) -> object:
        raise error

    return failing


def test_a_file_system_without_fsync_is_not_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error of the device is one."""
    lerobot(tmp_path / "a.parquet")
    for number, is_done in ((errno.EINVAL, True), (errno.ENOTSUP, True), (errno.EIO, False)):
        monkeypatch.setattr(os, "fsync", _failing(OSError(number, "no")))
        outcome = label_file(
            LABELLING, LogFile(tmp_path / "a.parquet", tmp_path / f"{number}.parquet")
        )
        assert (outcome.error == "") == is_done == (tmp_path / f"{number}.parquet").exists()


def test_settings_contain_everything_that_determines_the_outputs() -> None:
    """Options are listed by quantity."""
    quantities = read_quantities(ARM, ["rnea", "fk:lower_rod:form=pose"])
    found = Labelling(ARM, quantities, {"q": "state"}, topic="/arm").settings()
    assert found == {
        "model": "double_pendulum",
        "model_key": ARM.key,
        "quantities": {"tau": "rnea", "fk_lower_rod_pose": "fk:lower_rod:form=pose"},
        "options": {"fk_lower_rod_pose": {"frame": "lower_rod", "form": "pose"}},
        "columns": {"q": "state"},
        "filter": "savgol:15:3",
        "topic": "/arm",
    }


def test_single_and_double_precision_are_not_mixed() -> None:
    """One input in float64 makes all labels float64."""
    labelling = Labelling(ARM, read_quantities(ARM, ["rnea"]), {})
    x, y = np.ones((3, 2), np.float32), np.ones((3, 2))
    for arrays, kind in (({"q": x, "v": x, "a": x}, "f4"), ({"q": x, "v": y, "a": x}, "f8")):
        (found,) = labelled_file.compute_labels(labelling, arrays)
        assert found["tau"].dtype == kind
        assert np.allclose(found["tau"], wd.rnea(ARM, y, y, y), rtol=1e-5)
