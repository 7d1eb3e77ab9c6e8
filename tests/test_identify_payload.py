"""A small run of the example that estimates a payload from joint torques."""

from __future__ import annotations

import re
import runpy
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def test_the_payload_is_estimated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A quarter of the samples gives mass and centre to 1 % and inertia to 2 %. The example also
    draws the convergence."""
    pytest.importorskip("matplotlib")
    picture = tmp_path / "convergence.png"
    example = str(ROOT / "examples/identify_payload.py")
    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.setattr(sys, "argv", [example, "--samples", "500", "--picture", str(picture)])
    runpy.run_path(example, run_name="__main__")
    printed = capsys.readouterr().out
    rows = re.findall(r"^ +(\d) +([\d.]+) +([\d.]+) +([\d.]+)$", printed, re.MULTILINE)
    assert [int(row[0]) for row in rows] == list(range(7))
    mass, com, inertia = map(float, rows[-1][1:])
    assert mass < 1 and com < 1 and inertia < 2 < float(rows[0][3])
    assert picture.stat().st_size > 10_000
