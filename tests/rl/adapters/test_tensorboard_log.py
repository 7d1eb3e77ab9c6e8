"""Curves for TensorBoard, read with its own reader."""

from __future__ import annotations

from pathlib import Path

import pytest

rl = pytest.importorskip("warpdyn.rl")
pytest.importorskip("tensorboard")
from rl_cases import Hold
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from warpdyn.rl.adapters.tensorboard_log import TensorboardLog


def read(folder: Path) -> EventAccumulator:
    found = EventAccumulator(str(folder))
    found.Reload()
    return found


def test_each_iteration_adds_a_point_to_each_curve(tmp_path: Path) -> None:
    """The return of an episode is the sum of its rewards. The axis counts environment steps."""
    trainer = rl.Trainer(Hold(), seed=0)
    log = TensorboardLog(tmp_path)
    trainer.loggers.append(log)
    curve = list(trainer.run(iterations=4))
    log.close()
    found = read(tmp_path)
    ended = [x for x in curve if x.rewards]
    for name, wanted in {
        "reward of a second/all environments": [(x.steps, x.reward) for x in curve],
        "reward of a second/near": [(x.steps, x.rewards["near"]) for x in ended],
        "episodes/length [s]": [(x.steps, x.length) for x in ended],
        "episodes/ended before their time": [(x.steps, x.falls) for x in ended],
        "episodes/return": [(x.steps, sum(x.rewards.values()) * x.length) for x in ended],
        "training/environment steps a second": [(x.steps, x.steps_per_second) for x in curve],
    }.items():
        points = [(x.step, x.value) for x in found.Scalars(name)]
        assert points == [(s, pytest.approx(y, rel=1e-6)) for s, y in wanted], name
    assert {f"reward of a second/{n}" for n in ("still", "near")} <= set(found.Tags()["scalars"])
    assert ended


def test_a_resumed_training_hides_later_points_of_the_killed_one(tmp_path: Path) -> None:
    """Each number of steps has one point."""
    (one,) = rl.Trainer(Hold()).run(iterations=1)
    killed = TensorboardLog(tmp_path)
    for k in (1, 2, 3):
        killed(one._replace(steps=96 * k, reward=float(k)))
    killed.close()
    resumed = TensorboardLog(tmp_path, steps=96)
    resumed(one._replace(steps=192, reward=5.0))
    resumed.close()
    points = read(tmp_path).Scalars("reward of a second/all environments")
    assert [(x.step, x.value) for x in points] == [(96, 1.0), (192, 5.0)]
