"""Counts of random cases: printed lines, stored cases, and the exit status."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.fuzzing.outcomes import Outcome, count_outcomes


def test_different_cases_are_stored_and_fail(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Refusals are counted by reason and do not fail."""
    cases = [
        Outcome("equal"),
        Outcome("refused", "an option"),
        Outcome("refused", "an option"),
        Outcome("different", "mass", "<mujoco/>"),
        Outcome("equal"),
    ]
    assert count_outcomes(iter(cases), 4, seed=7, keep=tmp_path, unit="case") == 1
    assert capsys.readouterr().out.splitlines() == [
        "4 cases, seed 7: 1 equal, 2 refused, 1 different",
        "- 2 refused: an option",
        "- 1 different: mass",
    ]
    assert (tmp_path / "7-3.txt").read_text() == "<mujoco/>"
    assert count_outcomes(iter(cases[:3]), 3, seed=7, keep=None, unit="case") == 0
