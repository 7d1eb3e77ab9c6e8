"""A small run of the example that estimates a payload from joint torques."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def test_the_payload_is_estimated(tmp_path: Path) -> None:
    """A quarter of the samples gives mass and centre to 1 % and inertia to 2 %. The example also
    draws the convergence."""
    pytest.importorskip("matplotlib")
    picture = tmp_path / "convergence.png"
    command = [
        sys.executable,
        ROOT / "examples/identify_payload.py",
        "--samples",
        "500",
        "--picture",
        picture,
    ]
    run = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    rows = re.findall(r"^ +(\d) +([\d.]+) +([\d.]+) +([\d.]+)$", run.stdout, re.MULTILINE)
    assert [int(row[0]) for row in rows] == list(range(7))
    mass, com, inertia = map(float, rows[-1][1:])
    assert mass < 1 and com < 1 and inertia < 2 < float(rows[0][3])
    assert picture.stat().st_size > 10_000
