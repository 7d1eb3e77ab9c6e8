"""Tables as text: read, labelled and refused."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from warpdyn.logs.csv_log import CsvLog
from warpdyn.logs.records import Label, Labels, LogError


def test_a_labelled_table_contains_the_original(tmp_path: Path) -> None:
    """Texts do not change, and numbers have all their digits."""
    path = tmp_path / "a.csv"
    path.write_text('t,note,q0\n0,"a, b",0.1\n\n1,c,1e-7\n2,d,3\n')
    log = CsvLog(path)
    assert log.names == ["t", "note", "q0"] and log.width("q0") is None
    label = Label("tau", (2,), np.dtype("f8"), {}, ("tau_a", "tau_b"))
    writer = log.writer(tmp_path / "b.csv", Labels([label]))
    for part in log.parts(["q0"], 2, True):
        q = part.numbers["q0"]
        writer.write(part, {"tau": np.stack([q / 3, q], axis=1)})
    writer.close()
    lines = (tmp_path / "b.csv").read_text().splitlines()
    assert lines[0] == "t,note,q0,tau_a,tau_b" and len(lines) == 4
    assert lines[1] == f'0,"a, b",0.1,{0.1 / 3!r},0.1'


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", "it is empty"),
        ("t,q\n0,1\n1\n", "line 3 has 1 entries, the first names 2"),
        ("t,q\n0,1\n1,fast\n", "line 3: q is 'fast', not a number"),
        ("q,t,q\n0,1,2\n", "several columns have the name q"),
        ("t,q\n0,\n", "line 2: q is '', not a number"),
    ],
)
def test_malformed_tables_are_refused(tmp_path: Path, text: str, error: str) -> None:
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(LogError, match=re.escape(error)):
        list(CsvLog(tmp_path / "a.csv").parts(["q"], 100, True))


def test_binary_files_and_existing_label_names_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"\xff\xfe\x00\x80")
    with pytest.raises(LogError, match="not a table with a header line"):
        CsvLog(tmp_path / "a.csv")
    (tmp_path / "b.csv").write_text("t,q\n0,1\n")
    with pytest.raises(LogError, match="a column q already"):
        CsvLog(tmp_path / "b.csv").writer(
            tmp_path / "c.csv", Labels([Label("q", (), np.dtype("f8"), {})])
        )


def test_blanks_in_names_and_empty_lines_are_removed(tmp_path: Path) -> None:
    """A byte order mark is not part of a name. Empty lines are left out, in parts of any size."""
    path = tmp_path / "a.csv"
    path.write_text("t , q\n0,1\n\n\n\n1,2\n2,3\n", encoding="utf-8-sig")
    log = CsvLog(path)
    assert (log.names, log.rows, log.fixed, log.notes) == (["t", "q"], None, False, [])
    assert log.entries("q") == ()
    for rows in (1, 2, 100):
        parts = list(log.parts(["q", "t"], rows, False))
        assert all(part.carried is None and 0 < part.rows <= rows for part in parts)
        for name, wanted in (("q", [1.0, 2.0, 3.0]), ("t", [0.0, 1.0, 2.0])):
            assert np.concatenate([part.numbers[name] for part in parts]).tolist() == wanted
    (whole,) = log.parts(["q"], 100, True)
    assert whole.carried == [["0", "1"], ["1", "2"], ["2", "3"]] and set(whole.numbers) == {"q"}


@pytest.mark.parametrize("odd", [b"\xff", b"x" * 200_000])
def test_an_unreadable_line_is_reported_by_its_number(tmp_path: Path, odd: bytes) -> None:
    """The number is that of the last line before it. An entry that is too long is reported, too."""
    (tmp_path / "a.csv").write_bytes(b"t,q\n0,1\n" + b"1,2\n" * 20_000 + b"2," + odd + b"\n")
    log = CsvLog(tmp_path / "a.csv")
    with pytest.raises(LogError, match=r"^line \d+ cannot be read: "):
        list(log.parts(["q"], 100_000, True))


def test_labels_may_have_several_columns(tmp_path: Path) -> None:
    """Each column has its own name, or that of the label. Existing names are refused."""
    (tmp_path / "a.csv").write_text("t,b,c\n0,1,2\n")
    log = CsvLog(tmp_path / "a.csv")
    f8 = np.dtype("f8")
    labels = Labels([Label("E", (), f8, {}), Label("two", (2,), f8, {}, ("b", "c"))])
    said = "it has a column b, c already: give the label another name, my_b=..."
    with pytest.raises(LogError, match=f"^{re.escape(said)}$"):
        log.writer(tmp_path / "b.csv", labels)
    labels = Labels([Label("E", (), f8, {}), Label("two", (2,), f8, {}, ("x", "y"))])
    writer = log.writer(tmp_path / "b.csv", labels)
    (part,) = log.parts(["t"], 9, True)
    writer.write(part, {"E": np.array([0.5]), "two": np.array([[1.5, 2.5]])})
    writer.abandon()  # closes the file, too
    assert (tmp_path / "b.csv").read_text() == "t,b,c,E,x,y\n0,1,2,0.5,1.5,2.5\n"
