"""Recipes of trainings."""

from __future__ import annotations

import pytest

rl = pytest.importorskip("warpdyn.rl")


def test_a_recipe_is_converted_to_rsl_rls_configuration() -> None:
    """Only the actor has a distribution."""
    recipe = rl.Recipe(
        steps=12,
        epochs=3,
        batches=2,
        learning_rate=2e-3,
        kl=0.02,
        discount=0.98,
        trace=0.9,
        clip=0.3,
        entropy=0.04,
        deviation=0.5,
        layers=(32, 16),
        activation="elu",
    )
    groups = {"actor": ["policy"], "critic": ["policy", "hidden"]}
    network = {
        "class_name": "rsl_rl.models.MLPModel",
        "hidden_dims": [32, 16],
        "activation": "elu",
        "obs_normalization": True,
    }
    law = {
        "class_name": "rsl_rl.modules.distribution.GaussianDistribution",
        "init_std": 0.5,
    }
    assert recipe.rsl_rl_config(groups) == {
        "num_steps_per_env": 12,
        "obs_groups": groups,
        "multi_gpu": None,
        "algorithm": {
            "class_name": "rsl_rl.algorithms.PPO",
            "num_learning_epochs": 3,
            "num_mini_batches": 2,
            "learning_rate": 2e-3,
            "gamma": 0.98,
            "lam": 0.9,
            "entropy_coef": 0.04,
            "desired_kl": 0.02,
            "schedule": "adaptive",
            "clip_param": 0.3,
            "value_loss_coef": 1.0,
            "max_grad_norm": 1.0,
            "rnd_cfg": None,
            "symmetry_cfg": None,
        },
        "actor": {**network, "distribution_cfg": law},
        "critic": network,
    }
    assert recipe.as_dict()["layers"] == (32, 16)


def test_the_old_name_of_rsl_rls_configuration_still_works() -> None:
    groups = {"actor": ["policy"], "critic": ["policy"]}
    with pytest.warns(DeprecationWarning, match=r"Recipe.of_rsl_rl has moved; use .*rsl_rl_config"):
        assert rl.Recipe().of_rsl_rl(groups) == rl.Recipe().rsl_rl_config(groups)
    assert "of_rsl_rl" not in rl.Recipe().as_dict()
