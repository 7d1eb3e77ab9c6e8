"""Times of steps of learning environments: the command on the CPU, and its stored results."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("torch")

from benchmarks.rl import gpu_steps


def test_a_task_is_timed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu_steps, "WARM", 1)
    monkeypatch.setattr(gpu_steps, "STEPS", 2)
    path = tmp_path / "steps.json"
    options = ("--batches", "16", "--device", "cpu", "--output", str(path))
    assert gpu_steps.main(["cartpole_swing_up", *options]) == 0
    (line,) = json.loads(path.read_text())["records"]
    assert (line["task"], line["envs"], line["finite"]) == ("cartpole_swing_up", 16, True)
    assert 0 < line["host_us"] <= line["us"]


def test_all_tasks_have_stored_times() -> None:
    stored = json.loads(gpu_steps.RESULT.read_text())
    assert "H100" in stored["about"]["hardware"]
    cases = [(x["task"], x["envs"]) for x in stored["records"]]
    assert cases == [(task, envs) for task in gpu_steps.TASKS for envs in gpu_steps.BATCHES]
    assert all(x["finite"] for x in stored["records"])
