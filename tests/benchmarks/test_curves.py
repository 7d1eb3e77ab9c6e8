"""Stored learning curves, found by task and seed, and drawn on request."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("warpdyn.rl")

from benchmarks.rl import curves


def test_curves_are_found_and_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [{"steps": k, "cpu_seconds": k, "reward": k, "rewards": {}, "falls": 0} for k in (1, 2)]
    for name in ("a_task-0", "a_task-10", "other-1", "other-blind"):
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, lines)))
    found = curves.stored(tmp_path)
    assert {task: list(seeds) for task, seeds in found.items()} == {"a_task": [0, 10], "other": [1]}
    monkeypatch.setattr(curves, "stored", lambda: found)
    curves.main(["a_task", "--into", str(tmp_path)])
    assert (tmp_path / "rl_a_task.png").stat().st_size > 1000
    assert not (tmp_path / "rl_other.png").exists()
    with pytest.raises(SystemExit):
        curves.main(["nothing"])
