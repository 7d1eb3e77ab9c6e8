"""Environments with NumPy arrays: Gymnasium's vector wrappers work on them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

rl = pytest.importorskip("warpdyn.rl")
import gymnasium
import torch
from gymnasium.wrappers.vector import (
    NormalizeObservation,
    NormalizeReward,
    RecordEpisodeStatistics,
)
from rl_cases import Hold


class Alone(Hold):
    """A task with one group of observations."""

    groups = {"policy": ("off", "speed", "last")}  # noqa: RUF012


def test_arrays_are_copies_of_the_tensors() -> None:
    env, other = rl.NumpyEnv(rl.VecEnv(Hold(), 3)), rl.VecEnv(Hold(), 3)
    seen, wanted = env.reset(seed=4)[0], other.reset(seed=4)[0]
    first = seen["policy"].copy()
    for _ in range(12):
        found = env.step(0.1 * np.ones((3, 2)))
        same = other.step(0.1 * torch.ones(3, 2))
        for x, y in zip(found[:4], same[:4], strict=True):
            if isinstance(x, dict):
                np.testing.assert_array_equal(x["policy"], y["policy"])
            else:
                np.testing.assert_array_equal(x, y)
    assert sorted(found[4]) == ["_final_obs", "failed", "final_obs", "nonfinite_action", "rewards"]
    np.testing.assert_array_equal(seen["policy"], first)
    assert wanted["policy"].shape == (3, 6)


def test_gymnasiums_episode_statistics_equal_the_tasks() -> None:
    env = RecordEpisodeStatistics(rl.NumpyEnv(rl.VecEnv(Alone(), 4)))
    env.reset(seed=0)
    returns, lengths = [], []
    for _ in range(25):
        *_, info = env.step(np.zeros((4, 2)))
        if "episode" in info:
            over = info["_episode"]
            rewards = info["rewards"]
            wanted = sum(rewards[n] for n in ("still", "near"))
            np.testing.assert_allclose(info["episode"]["r"][over], wanted[over], rtol=1e-5)
            returns += info["episode"]["r"][over].tolist()
            lengths += (info["episode"]["l"][over] == rewards["length"][over]).tolist()
    assert len(returns) >= 8 and all(lengths)


def test_gymnasiums_normalisation_wrappers_work() -> None:
    """They need resets in the next step."""
    env = rl.NumpyEnv(rl.VecEnv(Alone(), 8, autoreset="next_step"))
    env = NormalizeReward(NormalizeObservation(env))
    env.reset(seed=0)
    seen = [env.step(0.1 * np.ones((8, 2)))[0] for _ in range(40)]
    assert np.isfinite(seen).all() and np.abs(np.mean(seen[10:])) < 0.5


def test_make_vec_returns_numpy_arrays_or_tensors() -> None:
    name = "warpdyn/CartpoleSwingUp-v0"
    env: Any = gymnasium.make_vec(name, num_envs=2)
    assert isinstance(env.reset(seed=0)[0], np.ndarray)
    tensors: Any = gymnasium.make_vec(name, num_envs=2, tensors=True)
    assert isinstance(tensors.reset(seed=0)[0], torch.Tensor)


def test_render_draws_all_environments() -> None:
    """Images change when the robots move, and a video wrapper records them."""
    env = rl.NumpyEnv(rl.VecEnv(rl.CartpoleSwingUp(), 2), "rgb_array")
    env.reset(seed=0)
    first = env.render()
    assert first is not None and len(first) == 2
    assert first[0].shape == (320, 320, 3) and first[0].dtype == np.uint8
    for _ in range(20):
        env.step(np.array([[1.0], [-1.0]]))
    after = env.render()
    assert after is not None and (first[0] != after[0]).any() and (after[0] != after[1]).any()
    assert env.metadata["render_fps"] == 25
    with pytest.raises(ValueError, match="render_mode must be None"):
        rl.NumpyEnv(rl.VecEnv(rl.CartpoleSwingUp(), 2), "human")
    with pytest.raises(TypeError, match=r"env must be an rl.VecEnv\(task, envs\), got Cartpole"):
        rl.NumpyEnv(rl.CartpoleSwingUp())
