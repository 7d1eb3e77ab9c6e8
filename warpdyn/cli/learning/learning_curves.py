"""Pictures of training curves: rewards against environment steps and CPU seconds."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

Curve = Sequence[Mapping[str, Any]]
"""Iterations of a training, as lines of its curve.jsonl."""

AXES = {"steps": ("environment steps [million]", 1e-6), "cpu_seconds": ("CPU time [s]", 1.0)}
"""Horizontal axes: the number in a curve's line, its label, and a factor."""

WINDOW = 3
"""Number of iterations in a running mean."""

COLOURS = 10
"""Number of colours in the cycle tab10. Rewards after the tenth have their lighter forms, of tab20."""


def read_curve(path: Path) -> list[dict[str, Any]]:
    """The lines of a curve.jsonl."""
    return [json.loads(line) for line in path.read_text().splitlines() if line.strip()]


def draw_curves(title: str, curves: Mapping[str, Curve], path: Path) -> None:
    """Draw the return, the falls, and each reward of several trainings of one task, by their
    names."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 8.5), layout="constrained")
    figure.suptitle(title, fontsize="medium")
    panels = figure.subplots(3, 2, sharex="col", sharey="row", height_ratios=[1.2, 0.8, 1.4])
    names = list(dict.fromkeys(n for each in curves.values() for x in each for n in x["rewards"]))
    for column, (number, (label, factor)) in enumerate(AXES.items()):
        above, middle, below = panels[:, column]
        for k, (name, curve) in enumerate(curves.items()):
            at = factor * np.array([x[number] for x in curve])
            colour = f"C{k % COLOURS}"
            above.plot(at, [x["reward"] for x in curve], color=colour, lw=1.2, label=name)
            falls = _running_means([x["falls"] for x in curve])
            middle.plot(at, 100 * falls, color=colour, lw=1.0)
            # In the lowest panel colours distinguish rewards, so line styles distinguish trainings.
            style = ("-", "--", ":", "-.")[k % 4]
            for j, reward in enumerate(names):
                earned = _running_means([x["rewards"].get(reward, np.nan) for x in curve])
                shown = reward if k == 0 else None
                below.plot(at, earned, style, color=_colour(j), lw=0.9, label=shown)
        below.set_xlabel(label)
        for panel in (above, middle, below):
            panel.grid(alpha=0.3)
            panel.margins(x=0.01)
    panels[1, 0].set_ylim(0.0, max(1.0, panels[1, 0].get_ylim()[1]))
    panels[0, 0].set_ylabel("reward per second,\nexploring")
    panels[1, 0].set_ylabel("episodes that ended\nbefore their time [%]")
    panels[2, 0].set_ylabel("each reward, per second")
    panels[0, 0].legend(fontsize="small")
    if names:
        panels[2, 1].legend(fontsize="x-small", ncols=2)
    figure.savefig(path, dpi=80)


def _colour(number: int) -> Any:
    """The colour of a reward: the first twenty differ."""
    from matplotlib import colormaps

    lighter = number // COLOURS % 2
    return colormaps["tab20"](2 * (number % COLOURS) + 1) if lighter else f"C{number % COLOURS}"


def _running_means(values: Sequence[float]) -> np.ndarray:
    """Means of each value and the earlier values in its window."""
    found = np.array(values, float)
    rows = (found[max(0, k - WINDOW + 1) : k + 1] for k in range(len(found)))
    return np.array([_mean(row) for row in rows])


def _mean(row: np.ndarray) -> float:
    there = row[np.isfinite(row)]
    return float(there.mean()) if len(there) else float("nan")
