"""Differences between simulation and robot that a recipe draws in training."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

rl = pytest.importorskip("warpdyn.rl")
from rl_cases import Hold

from warpdyn.rl.training_task import training_task


def test_a_training_draws_what_its_task_can_have() -> None:
    """The pendulum has drives and no ground, base or such terms; the task itself is unchanged."""
    task = Hold()
    recipe = replace(task.recipe, vary=rl.SIM_TO_REAL)
    learned = training_task(task, recipe)
    assert {"kp", "latency", "encoder_bias", *task.vary} <= set(learned.vary)
    assert "friction" not in learned.vary and learned.push is task.push
    assert set(learned.noise) == set(task.noise)
    assert task.vary == Hold.vary and training_task(task, task.recipe).vary == Hold.vary
    (progress,) = rl.Trainer(task, recipe=recipe).run(iterations=1)
    assert progress.steps == recipe.envs * recipe.steps


def test_a_training_with_it_goes_on_from_its_checkpoint(tmp_path: Path) -> None:
    """A checkpoint holds plain values only; another range is another training."""
    recipe = replace(Hold.recipe, vary=rl.SIM_TO_REAL)
    list(rl.Trainer(Hold(), recipe=recipe, folder=tmp_path).run(iterations=2))
    assert rl.Trainer(Hold(), recipe=recipe, folder=tmp_path).iteration == 2
    wider = rl.SIM_TO_REAL.with_changes(latency=rl.Vary(0.0, 0.05))
    with pytest.raises(rl.TaskError, match=r"recipe vary vary latency high 0.03 instead of 0.05"):
        rl.Trainer(Hold(), recipe=replace(recipe, vary=wider), folder=tmp_path)


def test_a_quadruped_has_all_of_it() -> None:
    task = rl.make("quadruped_velocity")
    learned = training_task(task, replace(task.recipe, vary=rl.SIM_TO_REAL))
    assert set(rl.SIM_TO_REAL.vary) <= set(learned.vary)
    assert set(rl.SIM_TO_REAL.noise) == set(learned.noise)
    assert learned.push == rl.SIM_TO_REAL.push


def test_entries_are_replaced_and_removed() -> None:
    heavy = rl.Vary(0.5, 2.0, how="scale", of="base")
    noise = {"joints": rl.Noise(0.1)}
    changed = rl.SIM_TO_REAL.with_changes(mass=heavy, latency=None, noise=noise)
    assert changed.vary["mass"] == heavy and "latency" not in changed.vary
    assert changed.noise["joints"] == rl.Noise(0.1) and "latency" in rl.SIM_TO_REAL.vary
