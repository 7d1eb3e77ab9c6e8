"""Reward objects: in addition to those of `reward`, replaced and removed by name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

rl = pytest.importorskip("warpdyn.rl")
import torch
from rl_cases import Hold

from warpdyn.rl.settings.task_settings import make_with_settings, settings_of


def calm(robot: Any, s: rl.Episode, size: float = 1.0) -> Any:
    return np.sum((s.v * size) ** 2)


def gentle(robot: Any, s: rl.Episode) -> Any:
    return np.sum(s.action**2)


class Calm(Hold):
    rewards = {"calm": rl.Reward(-0.5, calm, size=2.0), "gentle": rl.Reward(-0.1, gentle)}  # noqa: RUF012


class Calmer(Calm):
    """A task without its own method, which removes one reward and replaces the other."""

    rewards = {"calm": Calm.rewards["calm"].with_weight(-2.0)}  # noqa: RUF012


def test_reward_objects_are_added_to_the_rewards_of_the_method() -> None:
    """Each step uses their weights and arguments."""
    env = rl.VecEnv(Calm(), 4, seed=0)
    env.reset()
    _, reward, *_ = env.step(0.3 * torch.ones(4, 2))
    assert env.kernels.rewards == ("still", "near", "calm", "gentle")
    q, v, place = (env.carried[n].double() for n in ("q", "v", "place"))
    squares = (v**2).sum(1)
    wanted = -squares + 2.0 * (1.0 - ((q - place) ** 2).sum(1)) - 0.5 * 4.0 * squares - 0.1 * 0.18
    assert torch.allclose(reward.double(), 0.02 * wanted, rtol=1e-4, atol=1e-6)


def test_reward_objects_of_classes_are_merged_by_name() -> None:
    env = rl.VecEnv(Calmer(), 2)
    assert env.kernels.rewards == ("still", "near", "calm")
    assert env.scales.tolist() == [1.0, 2.0, -2.0]


def test_a_task_can_have_reward_objects_only() -> None:
    class Only(Hold):
        scales = {}  # noqa: RUF012
        rewards = {"calm": rl.Reward(-1.0, calm)}  # noqa: RUF012

        def reward(self, robot: Any, s: rl.Episode) -> dict[str, Any]:
            return rl.Task.reward(self, robot, s)

    assert rl.VecEnv(Only(), 2).kernels.rewards == ("calm",)

    class Nothing(Only):
        rewards = {}  # noqa: RUF012

    with pytest.raises(rl.TaskError, match="Nothing has no rewards: name them in scales or in"):
        rl.VecEnv(Nothing(), 2)


def test_a_name_in_both_scales_and_rewards_is_refused() -> None:
    class Twice(Hold):
        rewards = {"near": rl.Reward(1.0, calm)}  # noqa: RUF012

    with pytest.raises(rl.TaskError, match="scales and rewards both name near"):
        rl.VecEnv(Twice(), 2)


def test_the_weight_of_a_reward_is_a_setting_and_part_of_a_checkpoint(tmp_path: Any) -> None:
    name = f"{__name__}:Calm"
    assert settings_of(make_with_settings(name))["rewards.calm"] == -0.5
    task = make_with_settings(name, ["rewards.calm=-3"])
    assert task.rewards["calm"].weight == -3.0 and Calm.rewards["calm"].weight == -0.5
    assert task.rewards["calm"].arguments == {"size": 2.0}
    list(rl.Trainer(Calm(), folder=tmp_path).run(iterations=1))
    with pytest.raises(rl.TaskError, match=r"with scales calm -0.5 instead of -3.0"):
        rl.Trainer(task, folder=tmp_path)
