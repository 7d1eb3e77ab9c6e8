"""One environment for `gymnasium.make`: its checker, seeds, ends, pictures."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

rl = pytest.importorskip("warpdyn.rl")
import gymnasium
import torch
from gymnasium.utils.env_checker import check_env
from rl_cases import Hold


@pytest.mark.parametrize("task", [rl.CartpoleSwingUp(), Hold()])
def test_gymnasiums_environment_checker_passes(task: Any) -> None:
    """The task has one group of observations or two. The checker only warns of infinite bounds."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        check_env(rl.SingleEnv(task, render_mode="rgb_array"))
    said = [str(each.message) for each in told]
    assert all("infinity" in text or "spec" in text or "normalized" in text for text in said), said


def test_gymnasium_makes_the_environment_by_its_id() -> None:
    env = gymnasium.make("warpdyn/CartpoleSwingUp-v0", dtype="float64")
    seen, _ = env.reset(seed=3)
    assert seen.shape == (5,) and seen.dtype == np.float64
    assert isinstance(env.unwrapped, rl.SingleEnv)


def test_an_episode_equals_that_of_vec_env_with_the_same_seed() -> None:
    """Start, rewards and last observation are the same."""
    env = rl.SingleEnv(Hold())
    seen, _ = env.reset(seed=5)
    again = rl.VecEnv(Hold(), 1)
    first, _ = again.reset(
        seed=int(np.random.default_rng(np.random.SeedSequence(5)).integers(2**24))
    )
    np.testing.assert_array_equal(seen["policy"], first["policy"][0])
    over, steps = False, 0
    while not over:
        action = np.array([0.1, -0.1], np.float32)
        seen, reward, fell, late, info = env.step(action)
        _, wanted, *_, more = again.step(torch.tensor(action)[None])
        over, steps = fell or late, steps + 1
        assert reward == float(wanted[0])
    np.testing.assert_array_equal(seen["policy"], more["final_obs"]["policy"][0])
    assert info["rewards"]["length"] == steps and not info["failed"]


def test_a_reset_without_a_seed_begins_another_episode() -> None:
    env = rl.SingleEnv(Hold())
    starts = [env.reset(seed=0)[0], env.reset()[0], env.reset()[0], env.reset(seed=0)[0]]
    first = [x["policy"].tolist() for x in starts]
    assert first[0] == first[3] and first[0] != first[1] != first[2]


def test_a_failed_state_gives_a_finite_observation() -> None:
    env = rl.SingleEnv(rl.CartpoleSwingUp())
    env.reset(seed=0)
    seen, reward, fell, _, info = env.step(np.array([np.nan]))
    assert fell and info["failed"] and reward == 0.0 and (seen == 0.0).all()


def test_unknown_render_modes_and_wrong_action_sizes_are_refused() -> None:
    with pytest.raises(ValueError, match="render_mode must be None or \"rgb_array\", got 'human'"):
        rl.SingleEnv(rl.CartpoleSwingUp(), render_mode="human")
    env = rl.SingleEnv(rl.CartpoleSwingUp())
    env.reset(seed=0)
    with pytest.raises(rl.TaskError, match=r"action must be \(1,\), got \(2,\)"):
        env.step(np.zeros(2))
    assert env.render() is None
