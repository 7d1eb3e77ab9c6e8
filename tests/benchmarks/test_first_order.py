"""The benchmark of first-order learning: its curves, and its table."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from rl_cases import Hold

from benchmarks.rl import first_order
from warpdyn import rl


def test_a_level_is_reached_where_the_return_stays_above_it() -> None:
    """A single point above the level does not count."""
    points = [(3.0, 0.5), (6.0, 1.1), (9.0, 0.9), (12.0, 1.2), (15.0, 1.3)]
    assert first_order.first_above(points, 1.0) == 12.0
    assert first_order.first_above(points, 0.4) == 3.0
    assert first_order.first_above(points, 1.25) == 15.0
    assert first_order.first_above(points, 2.0) is None


def test_both_learners_are_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """They learn a task for a moment, with one thread and compiled kernels, which this test
    interprets. The table has a row for each learner, and a second run replaces the first."""
    threads = list[int]()
    runtime = SimpleNamespace(set_num_threads=threads.append)
    settings = SimpleNamespace(runtime=runtime, config=SimpleNamespace())
    monkeypatch.setattr(first_order, "wd", settings)
    monkeypatch.setattr(first_order, "EVERY", 0.01)
    monkeypatch.setattr(rl, "make", lambda name: Hold())
    for numbers in first_order.NUMBERS.values():
        monkeypatch.setitem(numbers, "envs", 16)
        monkeypatch.setitem(numbers, "steps", 4)
    path = tmp_path / "r.json"
    words = ("hold", "--seconds", "0.02", "--seeds", "3", "--json", str(path))
    assert [first_order.main(words) for _ in range(2)] == [0, 0]
    torch.set_num_threads(1)
    assert threads == [1, 1] and settings.config.compile == "wait"
    curves = json.loads(path.read_text())["curves"]
    assert [(x["task"], x["learner"], x["seed"]) for x in curves] == [
        ("hold", "shac", 3),
        ("hold", "ppo", 3),
    ]
    assert all(x["curve"] for x in curves)
    assert "| hold | shac |" in capsys.readouterr().out
