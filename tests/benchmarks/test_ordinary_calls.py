"""What a user gets, in every form: measured in turns, kept as lines, shown first."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import fast_page, ordinary_calls, report

ABOUT = {"kind": "about", "date": "today", "hardware": "a box", "versions": {}, "commit": "c"}


def test_every_form_is_measured_and_shown(tmp_path: Path) -> None:
    """Of each library that is here; the table is the report's first and the page's."""
    pytest.importorskip("jax")
    lines = list(ordinary_calls.measure("panda", "rnea", 1024, rounds=1))
    forms = [x["form"] for x in lines]
    assert {*forms} == {*fast_page.FORMS, "copy"} and len(forms) == len(fast_page.FORMS) + 1
    assert all(x["kind"] == "call" and x["batch"] == 1024 and x["ns"] > 0 for x in lines)
    about = {**ABOUT, "load": 0, "limits": {}}
    text = "\n".join(json.dumps(x) for x in (about, *lines, {**lines[0], "ns": 5000.0}))
    (tmp_path / "results.jsonl").write_text(text)
    run = report.read(tmp_path)
    assert len(run.calls) == len(lines)
    shown = "\n".join(ordinary_calls.lines(run))
    assert shown.startswith("## What a user gets: panda rnea")
    assert all(f"| {form} | " in shown for form in forms) and "| NumPy, plain | 5,000 |" in shown
    assert "| NumPy, plain | 5,120 us |" in fast_page.forms(run)
    assert "none yet" in fast_page.forms(report.Run())


def test_robots_that_are_not_asked_for_are_left_out() -> None:
    assert not list(ordinary_calls.records(["ur5"], (1,), 1))
