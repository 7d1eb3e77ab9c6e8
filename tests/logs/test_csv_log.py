"""Tables as text, read, labelled and refused."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from warpdyn.logs.csv_log import CsvLog
from warpdyn.logs.records import Label, Labels, LogError


def test_a_table_comes_back_with_labels(tmp_path: Path) -> None:
    """Texts untouched, numbers with all their digits."""
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
        ("t,q\n0,\n", "line 2: q is '', not a number"),
    ],
)
def test_what_is_refused(tmp_path: Path, text: str, error: str) -> None:
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(LogError, match=re.escape(error)):
        list(CsvLog(tmp_path / "a.csv").parts(["q"], 100, True))


def test_bytes_that_are_no_text_and_labels_that_are_there(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"\xff\xfe\x00\x80")
    with pytest.raises(LogError, match="no table under a line of names"):
        CsvLog(tmp_path / "a.csv")
    (tmp_path / "b.csv").write_text("t,q\n0,1\n")
    with pytest.raises(LogError, match="a column q already"):
        CsvLog(tmp_path / "b.csv").writer(
            tmp_path / "c.csv", Labels([Label("q", (), np.dtype("f8"), {})])
        )
