"""Curves as a picture: of several trainings, read from their lines."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from module_numbers import module_numbers

from warpdyn.cli.learning.learning_curves import draw_curves, read_curve

pytest.importorskip("matplotlib")


def line(k: int, level: float) -> dict[str, object]:
    rewards = {"up": level * k, "effort": -0.1} if k > 1 else {}
    return {
        "iteration": k,
        "steps": 1000 * k,
        "cpu_seconds": 2.0 * k,
        "reward": level * k,
        "rewards": rewards,
        "falls": 1.0 / (k + 1),
    }


def test_lines_are_read_and_drawn(tmp_path: Path) -> None:
    """Iterations in which no episode ended have no rewards; the picture is of both seeds."""
    curves = {}
    for seed in (0, 1):
        path = tmp_path / f"{seed}.jsonl"
        path.write_text("\n".join(json.dumps(line(k, 0.1 + seed)) for k in range(6)) + "\n")
        curves[f"seed {seed}"] = read_curve(path)
        assert [x["steps"] for x in curves[f"seed {seed}"]] == [0, 1000, 2000, 3000, 4000, 5000]
    draw_curves("a task", curves, tmp_path / "both.png")
    draw_curves("a task", {"seed 0": curves["seed 0"]}, tmp_path / "one.png")
    from matplotlib.image import imread

    both, one = (imread(tmp_path / f"{name}.png") for name in ("both", "one"))
    assert both.shape == one.shape and np.abs(both - one).max() > 0.5


def test_numbers_change_only_on_purpose() -> None:
    assert module_numbers("warpdyn/cli")["learning.learning_curves"] == {
        "WINDOW": 3,
        "COLOURS": 10,
    }
