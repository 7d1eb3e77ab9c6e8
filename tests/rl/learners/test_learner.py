"""Both learners have the methods of the interface, and a recipe chooses between them."""

from __future__ import annotations

import inspect
from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest

rl = pytest.importorskip("warpdyn.rl")
import torch
from rl_cases import Hold

from warpdyn.rl.learners.learner import Learner
from warpdyn.rl.learners.ppo import PPO


def learner_kind(name: str) -> Any:
    """The class of a learner, imported here because the import of rsl_rl takes three seconds."""
    if name == "rsl_rl":
        from warpdyn.rl.learners.rsl_rl import RslRlLearner

        return RslRlLearner
    return PPO


@pytest.mark.parametrize("learner", ["warpdyn", "rsl_rl"])
def test_methods_of_learners_have_the_arguments_of_the_interface(learner: str) -> None:
    kind = learner_kind(learner)
    for name, method in vars(Learner).items():
        if not name.startswith("_") and inspect.isfunction(method):
            wanted = list(inspect.signature(method).parameters)
            assert list(inspect.signature(getattr(kind, name)).parameters) == wanted, name


@pytest.mark.parametrize("learner", ["warpdyn", "rsl_rl"])
def test_a_recipe_chooses_the_learner(learner: str) -> None:
    """A training runs with it, and its policy has the task's sizes."""
    trainer = rl.Trainer(Hold(), recipe=replace(Hold.recipe, learner=learner), seed=0)
    assert isinstance(trainer.learner, learner_kind(learner))
    (progress,) = trainer.run(iterations=1)
    layers = trainer.policy().linear_layers
    assert (layers[0].in_features, layers[-1].out_features) == (6, 2)
    assert progress.deviation > 0.0


def test_an_unknown_learner_is_refused() -> None:
    with pytest.raises(
        rl.TaskError, match='must be "warpdyn", "shac", "rsl_rl" or "distillation", got "sac"'
    ):
        rl.Trainer(Hold(), recipe=replace(Hold.recipe, learner="sac"))


def test_rsl_rl_has_no_bfloat16() -> None:
    recipe = replace(Hold.recipe, learner="rsl_rl", precision="bfloat16")
    with pytest.raises(rl.TaskError, match="computes in float32"):
        rl.Trainer(Hold(), recipe=recipe)


@pytest.mark.parametrize("learner", ["warpdyn", "shac", "rsl_rl"])
def test_a_learner_takes_over_a_policy_or_a_checkpoint(learner: str) -> None:
    """The policy with its normalisation of observations; of a checkpoint also the learning rate."""
    recipe = replace(Hold.recipe, learner=learner, vary=None)
    first, second, third = (rl.Trainer(Hold(), recipe=recipe, seed=k) for k in range(3))
    list(first.run(iterations=1))
    seen = torch.linspace(-2.0, 2.0, 30).reshape(5, 6)
    wanted = first.policy()(seen)
    assert not torch.allclose(second.policy()(seen), wanted, atol=1e-2)
    second.learner.use_policy(first.policy())
    assert torch.allclose(second.policy()(seen), wanted, atol=1e-5)
    state = {**deepcopy(first.learner.state()), "learning_rate": 7e-5}
    third.learner.restore(state)
    assert torch.allclose(third.policy()(seen), wanted, atol=1e-5)
    if learner == "rsl_rl":
        assert third.learner.learning_rate == 7e-5
