"""The learner that a recipe names."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from ..recipe import Recipe
from ..several_processes import Processes
from ..task import TaskError
from .distillation import Distillation
from .learner import Learner
from .networks import Network
from .ppo import PPO

if TYPE_CHECKING:
    from ..vec_env import VecEnv

DISTILLATION = "distillation"
"""Name of the learner that a teacher needs."""


def make_learner(
    env: VecEnv, recipe: Recipe, processes: Processes, teacher: Network | None = None
) -> Learner:
    """The learner that the recipe names, for these environments.

    TaskError: there is no such learner, or a distillation has no teacher.
    """
    actions = env.task.actions
    if recipe.learner == DISTILLATION:
        if teacher is None:
            raise TaskError(
                f'learner="{DISTILLATION}" needs a teacher: Trainer(..., teacher=FILE), or '
                "warpdyn train TASK --teacher FILE"
            )
        return Distillation(env.observations, actions, recipe, processes, teacher)
    if recipe.learner == "warpdyn":
        return PPO(env.observations, actions, recipe, processes)
    if recipe.learner == "rsl_rl":
        # The package is imported only if it is used.
        module = import_module(".rsl_rl", __package__)
        learner: Learner = module.RslRlLearner(env, recipe, processes)
        return learner
    raise TaskError(
        f'learner must be "warpdyn", "rsl_rl" or "{DISTILLATION}", got "{recipe.learner}"'
    )
