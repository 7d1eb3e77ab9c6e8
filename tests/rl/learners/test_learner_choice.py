"""The learner that a recipe names; `test_learner.py` has those that need no teacher."""

from __future__ import annotations

from dataclasses import replace

import pytest

rl = pytest.importorskip("warpdyn.rl")
from rl_cases import Hold

from warpdyn.rl.learners.distillation import Distillation
from warpdyn.rl.learners.learner_choice import make_learner
from warpdyn.rl.learners.networks import Network, Normalizer


def test_a_distillation_needs_a_teacher() -> None:
    env = rl.VecEnv(Hold(), 4)
    env.reset()
    recipe = replace(Hold.recipe, learner="distillation", envs=4, precision="float32")
    teacher = Network(Normalizer(7), 2, (8,), "relu")
    assert isinstance(make_learner(env, recipe, rl.Processes(), teacher), Distillation)
    with pytest.raises(rl.TaskError, match=r"needs a teacher: .*--teacher FILE"):
        make_learner(env, recipe, rl.Processes())
