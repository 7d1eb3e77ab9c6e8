"""Recipes of trainings."""

from __future__ import annotations

import pytest

rl = pytest.importorskip("warpdyn.rl")


def test_a_recipe_is_converted_to_rsl_rls_configuration() -> None:
    recipe = rl.Recipe(epochs=3, discount=0.98, layers=(32, 16), deviation=0.5)
    made = recipe.rsl_rl_config({"actor": ["policy"], "critic": ["policy", "hidden"]})
    assert made["algorithm"]["num_learning_epochs"] == 3 and made["algorithm"]["gamma"] == 0.98
    assert made["actor"]["hidden_dims"] == made["critic"]["hidden_dims"] == [32, 16]
    assert made["actor"]["distribution_cfg"]["init_std"] == 0.5
    assert "distribution_cfg" not in made["critic"]
    assert made["obs_groups"]["critic"] == ["policy", "hidden"]
    assert recipe.as_dict()["layers"] == (32, 16)


def test_the_old_name_of_rsl_rls_configuration_still_works() -> None:
    groups = {"actor": ["policy"], "critic": ["policy"]}
    with pytest.warns(DeprecationWarning, match=r"Recipe.of_rsl_rl has moved; use .*rsl_rl_config"):
        assert rl.Recipe().of_rsl_rl(groups) == rl.Recipe().rsl_rl_config(groups)
    assert "of_rsl_rl" not in rl.Recipe().as_dict()
