"""NumPy archives: read, labelled and refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from warpdyn.logs.npz_log import NpzLog, read_metadata
from warpdyn.logs.records import Label, Labels, LogError

Q = np.arange(10.0).reshape(5, 2)


def test_a_labelled_archive_contains_the_original(tmp_path: Path) -> None:
    """Arrays of another length are copied. Labels have their shapes."""
    np.savez(tmp_path / "a.npz", q=Q, t=Q[:, 0].astype(np.float32), names=np.array(["a", "b"]))
    log = NpzLog(tmp_path / "a.npz")
    assert (log.rows, log.width("q"), log.width("t")) == (5, 2, None)
    label = Label("M", (2, 2), np.dtype("f8"), {"unit": "kg"})
    writer = log.writer(tmp_path / "b.npz", Labels([label], {"model": "arm"}))
    for part in log.parts(["q", "t"], 2, True):
        assert part.numbers["t"].dtype == np.float32
        writer.write(part, {"M": np.einsum("bi,bj->bij", part.numbers["q"], part.numbers["q"])})
    assert not (tmp_path / "b.npz").exists()
    writer.close()
    with np.load(tmp_path / "b.npz") as file:
        assert np.array_equal(file["q"], Q) and list(file["names"]) == ["a", "b"]
        assert np.array_equal(file["M"], Q[:, :, None] * Q[:, None])
        assert json.loads(str(file["warpdyn"]))["columns"]["M"] == {"shape": [2, 2], "unit": "kg"}


def test_invalid_archives_and_arrays_are_refused(tmp_path: Path) -> None:
    """They are files that are not archives, truncated archives, arrays that are not columns, and
    existing label names."""
    np.savez(tmp_path / "a.npz", q=Q, text=np.array(["x"] * 5), short=np.zeros(3), t=Q[:, 0])
    log = NpzLog(tmp_path / "a.npz")
    with pytest.raises(LogError, match="array text is <U1"):
        log.width("text")
    with pytest.raises(LogError, match="array short has 3 rows, others have 5"):
        log.width("short")
    with pytest.raises(LogError, match="an array q already"):
        log.writer(tmp_path / "b.npz", Labels([Label("q", (), np.dtype("f8"), {})]))
    data = (tmp_path / "a.npz").read_bytes()
    for name, some in (("cut.npz", data[:200]), ("foreign.npz", b"PK is not enough")):
        (tmp_path / name).write_bytes(some)
        with pytest.raises(LogError, match=r"no \.npz file, or a part of one"):
            NpzLog(tmp_path / name)
    np.savez(tmp_path / "objects.npz", q=np.array([{}, {}]))
    with pytest.raises(LogError, match="NumPy cannot read it"):
        NpzLog(tmp_path / "objects.npz")


def test_arrays_are_read_in_parts(tmp_path: Path) -> None:
    """The length of most arrays is the number of rows. The last part may be shorter. Integers
    become float64."""
    np.savez(tmp_path / "a.npz", one=np.zeros(3), n=np.arange(5), q=Q, wide=np.zeros((5, 1, 2)))
    log = NpzLog(tmp_path / "a.npz")
    assert (log.rows, log.fixed, log.notes, log.entries("q")) == (5, True, [], ())
    assert log.names == ["one", "n", "q", "wide"]
    parts = list(log.parts(["n", "q"], 2, True))
    assert [part.rows for part in parts] == [2, 2, 1]
    assert all(part.numbers["n"].dtype == np.float64 for part in parts)
    assert np.array_equal(np.concatenate([part.numbers["n"] for part in parts]), np.arange(5.0))
    assert np.array_equal(np.concatenate([part.numbers["q"] for part in parts]), Q)
    said = r"^array wide is float64 \(5, 1, 2\), not numbers \(T,\) or \(T, n\)$"
    with pytest.raises(LogError, match=said):
        log.width("wide")
    np.savez(tmp_path / "scalars.npz", rate=np.array(2.0))
    assert NpzLog(tmp_path / "scalars.npz").rows == 0
    assert list(NpzLog(tmp_path / "scalars.npz").parts([], 2, True)) == []


def test_labels_of_a_labelled_archive_are_replaced(tmp_path: Path) -> None:
    """The arrays are kept, and the metadata are those of the last labels."""
    path = tmp_path / "a.npz"
    np.savez(path, q=Q)
    for name in ("first", "second"):
        log = NpzLog(path)
        writer = log.writer(path, Labels([Label(name, (2,), np.dtype("f8"), {})], {"n": name}))
        for part in log.parts(["q"], 3, True):
            writer.write(part, {name: part.numbers["q"]})
        writer.close()
    assert read_metadata(path) == {"n": "second", "columns": {"second": {"shape": [2]}}}
    assert NpzLog(path).names == ["q", "first", "second", "warpdyn"]
