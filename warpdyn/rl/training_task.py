"""The task and the recipe of a training run: with domain randomisation and practice, and checked."""

from __future__ import annotations

import math
from copy import copy
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ..functions.whole_numbers import whole_number
from .domain_randomization import randomized_attributes
from .environment_step import EnvironmentStep
from .learners.networks import computes_in_bfloat16
from .recipe import Recipe
from .task import Task, TaskError

if TYPE_CHECKING:
    import torch

DISTILLATION: Final = "distillation"
"""Name of the learner that a teacher needs."""

COMPARED_ATTRIBUTES = (
    "scales",
    "numbers",
    "vary",
    "push",
    "noise",
    "history",
    "groups",
    "keep",
    "drives",
    "ground",
    "points",
    "pairs",
    "pair_contact",
    "dt",
    "substeps",
    "integrator",
    "sweeps",
    "stops",
    "gravity",
    "seconds",
    "largest_action",
    "stance",
    "stride",
    "rise",
)
"""Attributes of a task that must be equal for a training to resume."""


def checked_recipe(recipe: Recipe) -> Recipe:
    """The recipe with its counts as Python's integers; raises if a number makes no sense."""
    count = partial(whole_number, error=TaskError)
    names = ("envs", "steps", "epochs", "batches")
    counts: dict[str, Any] = {n: count(f"recipe.{n}", getattr(recipe, n)) for n in names}
    layers = tuple(count(f"recipe.layers[{k}]", x) for k, x in enumerate(recipe.layers))
    recipe = replace(recipe, **counts, layers=layers)
    if recipe.batches > recipe.envs * recipe.steps:
        raise TaskError(
            f"recipe.batches must be at most envs x steps = {recipe.envs * recipe.steps}, got "
            f"{recipe.batches}"
        )
    for name in ("learning_rate", "kl", "clip", "deviation"):
        if not 0 < getattr(recipe, name) < math.inf:
            raise TaskError(f"recipe.{name} must be positive, got {getattr(recipe, name)}")
    for name, most in (("discount", 1), ("trace", 1), ("entropy", math.inf), ("minutes", math.inf)):
        if not 0 <= getattr(recipe, name) <= most:
            bound = "be within 0 and 1" if most == 1 else "not be negative"
            raise TaskError(f"recipe.{name} must {bound}, got {getattr(recipe, name)}")
    return recipe


def with_known_precision(recipe: Recipe, device: torch.device) -> Recipe:
    """The recipe with the precision of this device in place of "auto"."""
    if recipe.learner != "rsl_rl":
        bfloat16 = computes_in_bfloat16(recipe.precision, device)
        return replace(recipe, precision="bfloat16" if bfloat16 else "float32")
    if recipe.precision == "bfloat16":
        raise TaskError('learner="rsl_rl" computes in float32, not in bfloat16')
    return replace(recipe, precision="float32")


def recipe_for_teacher(recipe: Recipe, teacher: Path | None) -> Recipe:
    """The recipe with distillation as its learner, if there is a teacher."""
    if teacher is None:
        return recipe
    if recipe.learner == "rsl_rl":
        raise TaskError('a teacher is not for learner="rsl_rl"; leave out one of them')
    return replace(recipe, learner=DISTILLATION)


def training_task(task: Task, recipe: Recipe) -> Task:
    """The task for training: with the recipe's domain randomisation and its `practice`."""
    learned = copy(task)
    if recipe.vary is not None:
        observation = EnvironmentStep(task, 0).observation
        terms = observation.entries[observation.policy]
        for name, x in randomized_attributes(recipe.vary, task, terms).items():
            setattr(learned, name, x)
    for name, x in recipe.practice.items():
        if not hasattr(task, name):
            raise TaskError(f"{task.name} has no {name!r}, which the recipe's practice changes")
        is_number = isinstance(getattr(task, name), int | float)
        if is_number and not isinstance(x, int | float):
            raise TaskError(f"recipe.practice.{name} must be a number, got {x!r}")
        setattr(learned, name, x)
    return learned


def as_teacher_sees(task: Task) -> Task:
    """The task with the last group of its observations as the only one, without noise."""
    view = copy(task)
    if task.groups:
        group = list(task.groups)[-1]
        view.groups = {group: task.groups[group]}
        view.history = {g: n for g, n in task.history.items() if g == group}
    view.noise = {}
    return view
