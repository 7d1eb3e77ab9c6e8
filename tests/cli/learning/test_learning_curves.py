"""Pictures of the learning curves of several trainings."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from module_numbers import module_numbers

from warpdyn.cli.learning.learning_curves import AXES, draw_curves, read_curve

pytest.importorskip("matplotlib")
from matplotlib.colors import to_rgb


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


def test_curves_are_read_and_drawn(tmp_path: Path) -> None:
    """Iterations in which no episode ended have no rewards. The picture has both seeds."""
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


def test_each_training_and_each_reward_has_its_curve(monkeypatch: pytest.MonkeyPatch) -> None:
    """Curves are drawn over steps and over time. Line styles distinguish trainings where colours
    distinguish rewards. Means are over three iterations."""
    figures: list[Any] = []
    monkeypatch.setattr(
        "matplotlib.figure.Figure.savefig",
        lambda self, path, dpi: figures.append((self, path, dpi)),
    )
    curves = {f"seed {k}": [line(i, 1.0 + k) for i in range(5)] for k in range(2)}
    draw_curves("a task", curves, Path("a.png"))
    ((figure, path, dpi),) = figures
    assert (path, dpi) == (Path("a.png"), 80) and figure.get_suptitle() == "a task"
    assert figure.get_size_inches().tolist() == [9.0, 8.5]
    panels = np.array(figure.axes).reshape(3, 2)
    for column, (number, (label, factor)) in enumerate(AXES.items()):
        above, middle, below = panels[:, column]
        x = [factor * each[number] for each in curves["seed 0"]]  # type: ignore[operator]
        assert [panel.get_xlabel() for panel in panels[:, column]] == ["", "", label]
        for panel in (above, middle, below):
            assert all(np.allclose(curve.get_xdata(), x) for curve in panel.get_lines())
        returns = [[0.0, 1.0, 2.0, 3.0, 4.0], [0.0, 2.0, 4.0, 6.0, 8.0]]
        assert [list(curve.get_ydata()) for curve in above.get_lines()] == returns
        assert [curve.get_label() for curve in above.get_lines()] == list(curves)
        falls = 100 * np.array([1, 3 / 4, 11 / 18, 13 / 36, 47 / 180])
        for curve, colour in zip(middle.get_lines(), ("C0", "C1"), strict=True):
            np.testing.assert_allclose(curve.get_ydata(), falls)
            assert curve.get_color() == colour
        drawn = [(c.get_label(), c.get_linestyle(), c.get_color()) for c in below.get_lines()]
        assert drawn[:2] == [("up", "-", "C0"), ("effort", "-", "C1")]
        assert [each[1:] for each in drawn[2:]] == [("--", "C0"), ("--", "C1")]
        assert all(each[0].startswith("_") for each in drawn[2:])
        up = below.get_lines()[0].get_ydata()
        np.testing.assert_allclose(up, [np.nan, np.nan, 2.0, 2.5, 3.0])
    legends = [[panel.get_legend() is not None for panel in row] for row in panels]
    assert legends == [[True, False], [False, False], [False, True]]
    assert panels[1, 0].get_ylim()[0] == 0.0 and panels[1, 0].get_ylim()[1] > 100.0
    assert [panel.get_ylabel() for panel in panels[:, 0]] == [
        "reward per second,\nexploring",
        "episodes that ended\nbefore their time [%]",
        "each reward, per second",
    ]


def test_a_task_without_rewards_or_falls_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """The axis of percentages reaches at least one, and there is no legend of rewards."""
    figures: list[Any] = []
    monkeypatch.setattr(
        "matplotlib.figure.Figure.savefig", lambda self, path, dpi: figures.append(self)
    )
    draw_curves(
        "a task",
        {"one": [{**line(k, 0.5), "rewards": {}, "falls": 0.0} for k in range(3)]},
        Path("a"),
    )
    panels = np.array(figures[0].axes).reshape(3, 2)
    assert panels[1, 0].get_ylim() == (0.0, 1.0) and panels[2, 1].get_legend() is None


def test_twenty_rewards_have_different_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    figures: list[Any] = []
    monkeypatch.setattr(
        "matplotlib.figure.Figure.savefig", lambda self, path, dpi: figures.append(self)
    )
    rewards = {f"reward {k}": float(k) for k in range(20)}
    draw_curves("a task", {"one": [{**line(2, 0.5), "rewards": rewards}]}, Path("a"))
    below = np.array(figures[0].axes).reshape(3, 2)[2, 0]
    assert len({to_rgb(curve.get_color()) for curve in below.get_lines()}) == 20
