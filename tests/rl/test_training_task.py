"""The task and the recipe of a training: how they are changed, and what each learner needs."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

rl = pytest.importorskip("warpdyn.rl")
import torch
from rl_cases import Hold

from warpdyn.rl.training_task import (
    checked_recipe,
    recipe_for_teacher,
    training_task,
    with_known_precision,
)


def test_a_teacher_selects_the_distillation_learner() -> None:
    recipe = Hold.recipe
    assert recipe_for_teacher(recipe, None) is recipe
    assert recipe_for_teacher(recipe, Path("a.onnx")).learner == "distillation"
    with pytest.raises(rl.TaskError, match='a teacher is not for learner="rsl_rl"'):
        recipe_for_teacher(replace(recipe, learner="rsl_rl"), Path("a.onnx"))


def test_a_distillation_needs_a_teacher() -> None:
    recipe = replace(Hold.recipe, learner="distillation")
    with pytest.raises(rl.TaskError, match=r"needs a teacher: .*--teacher FILE"):
        rl.Trainer(Hold(), recipe=recipe)


def test_an_unknown_learner_is_refused() -> None:
    recipe = replace(Hold.recipe, learner="sac")
    with pytest.raises(rl.TaskError, match=r'learner must be "warpdyn", .* got "sac"'):
        rl.Trainer(Hold(), recipe=recipe)


@pytest.mark.parametrize(
    ("numbers", "error"),
    [
        ({"envs": 0}, "recipe.envs must be a whole number of at least 1, got 0"),
        ({"steps": 2.5}, r"recipe.steps must be a whole number of at least 1, got 2\.5"),
        ({"layers": (8, 0)}, r"recipe.layers\[1\] must be a whole number of at least 1, got 0"),
        ({"batches": 97}, "recipe.batches must be at most envs x steps = 96, got 97"),
        ({"learning_rate": -1.0}, r"recipe.learning_rate must be positive, got -1\.0"),
        ({"deviation": 0.0}, "recipe.deviation must be positive"),
        ({"discount": 1.5}, "recipe.discount must be within 0 and 1, got 1.5"),
        ({"entropy": -0.1}, "recipe.entropy must not be negative, got -0.1"),
        ({"kl": float("nan")}, "recipe.kl must be positive, got nan"),
    ],
)
def test_invalid_numbers_of_a_recipe_are_refused(numbers: dict[str, Any], error: str) -> None:
    with pytest.raises(rl.TaskError, match=error):
        rl.Trainer(Hold(), recipe=replace(Hold.recipe, **numbers))


@pytest.mark.parametrize(
    "numbers",
    [
        {"batches": 96},
        *({name: x} for name in ("discount", "trace") for x in (0.0, 1.0)),
        *({name: x} for name in ("entropy", "minutes") for x in (0.0, float("inf"))),
    ],
)
def test_numbers_of_a_recipe_may_equal_their_bounds(numbers: dict[str, Any]) -> None:
    recipe = replace(Hold.recipe, **numbers)
    assert checked_recipe(recipe) == recipe


@pytest.mark.parametrize("name", ["learning_rate", "kl", "clip", "deviation"])
def test_positive_numbers_of_a_recipe_are_finite(name: str) -> None:
    for wrong in (0.0, float("inf")):
        with pytest.raises(rl.TaskError, match=f"recipe.{name} must be positive, got {wrong}"):
            checked_recipe(replace(Hold.recipe, **{name: wrong}))


def test_numpy_integers_are_accepted_as_counts_of_a_recipe() -> None:
    """Other arguments accept them, too.

    A training stores them as Python's int, which JSON can write.
    """
    recipe = replace(Hold.recipe, envs=np.int64(16), layers=(np.uint8(8), 4))
    taken = rl.Trainer(Hold(), recipe=recipe).recipe
    assert json.dumps([taken.envs, *taken.layers]) == "[16, 8, 4]"


def test_automatic_precision_is_resolved_for_each_learner() -> None:
    """Distillation included."""
    for learner in ("warpdyn", "distillation", "rsl_rl"):
        recipe = replace(Hold.recipe, learner=learner, precision="auto")
        known = with_known_precision(recipe, torch.device("cpu")).precision
        assert known in ("float32", "bfloat16") and (learner != "rsl_rl" or known == "float32")


def test_practice_changes_a_copy_of_the_task() -> None:
    task = Hold()
    learned = training_task(task, replace(task.recipe, practice={"seconds": 0.1}))
    assert (learned.seconds, task.seconds) == (0.1, 0.2)
    with pytest.raises(rl.TaskError, match="Hold has no 'minutes', which the recipe's practice"):
        training_task(task, replace(task.recipe, practice={"minutes": 0.1}))
    with pytest.raises(rl.TaskError, match=r"recipe.practice.seconds must be a number, got 'long'"):
        training_task(task, replace(task.recipe, practice={"seconds": "long"}))
