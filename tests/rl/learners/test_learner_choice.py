"""The learner that a recipe names."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

rl = pytest.importorskip("warpdyn.rl")
from rl_cases import Hold

from warpdyn.rl.learners.distillation import Distillation
from warpdyn.rl.learners.learner_choice import make_learner
from warpdyn.rl.learners.networks import Network, Normalizer
from warpdyn.rl.learners.ppo import PPO


@pytest.fixture(scope="module")
def env() -> Any:
    made = rl.VecEnv(Hold(), 4)
    made.reset()
    return made


def chosen(env: Any, name: str, teacher: Any = None) -> Any:
    recipe = replace(Hold.recipe, learner=name, envs=4, precision="float32")
    return make_learner(env, recipe, rl.Processes(), teacher)


def test_each_name_is_a_learner(env: Any) -> None:
    assert isinstance(chosen(env, "warpdyn"), PPO)
    assert type(chosen(env, "rsl_rl")).__name__ == "RslRlLearner"
    teacher = Network(Normalizer(7), 2, (8,), "relu")
    assert isinstance(chosen(env, "distillation", teacher), Distillation)


def test_other_names_and_a_missing_teacher_are_refused(env: Any) -> None:
    with pytest.raises(
        rl.TaskError, match='must be "warpdyn", "rsl_rl" or "distillation", got "x"'
    ):
        chosen(env, "x")
    with pytest.raises(rl.TaskError, match=r"needs a teacher: .*--teacher FILE"):
        chosen(env, "distillation")
