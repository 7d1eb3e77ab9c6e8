"""Environments for Stable-Baselines3, and its PPO on them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

rl = pytest.importorskip("warpdyn.rl")
stable_baselines3 = pytest.importorskip("stable_baselines3")
import torch
from rl_cases import Hold

from benchmarks.rl.learners import SB3, lengths
from benchmarks.rl.pendulum import Pendulum
from warpdyn.rl.sb3 import SB3Env


@pytest.fixture(scope="module")
def both() -> tuple[Any, Any]:
    """Our environments, and the same ones wrapped for Stable-Baselines3."""
    ours, theirs = (rl.VecEnv(Hold(), 6, seed=1) for _ in range(2))
    return ours, SB3Env(theirs)


def test_sb3_env_returns_the_results_of_vec_env_as_numpy_arrays(both: Any) -> None:
    """The policy's observations, rewards and ends, and how finished episodes ended and what they
    earned.
    """
    ours, theirs = both
    seen, first = ours.reset()[0]["policy"], theirs.reset()
    assert first.dtype == np.float32 and np.array_equal(first, seen.numpy())
    assert theirs.observation_space.shape == (6,) and theirs.action_space.shape == (2,)
    draw, ends, late = np.random.default_rng(0), 0, 0
    for _ in range(14):  # an episode lasts ten steps
        action = draw.uniform(-1.0, 1.0, (6, 2)).astype(np.float32)
        seen, reward, terminated, truncated, info = ours.step(torch.as_tensor(action))
        found, earned, done, infos = theirs.step(action)
        assert np.array_equal(found, seen["policy"].numpy())
        assert np.array_equal(earned, reward.numpy())
        assert np.array_equal(done, (terminated | truncated).numpy()) and len(infos) == 6
        for k, told in enumerate(infos):
            assert bool(told) == bool(done[k])
            if told:
                last = info["final_obs"]["policy"][k].numpy()
                assert np.array_equal(told["terminal_observation"], last)
                assert told["TimeLimit.truncated"] == bool(truncated[k])
                assert told["episode"]["l"] == int(info["episode"]["length"][k])
                sums = info["episode"]["still"][k] + info["episode"]["near"][k]
                assert told["episode"]["r"] == pytest.approx(float(sums))
        ends, late = ends + int(done.sum()), late + int(truncated.sum())
    assert ends >= 6 and late > 0


def test_results_of_a_step_are_copies(both: Any) -> None:
    """Later steps do not overwrite them."""
    _, theirs = both
    theirs.reset()
    results = theirs.step(np.ones((6, 2), np.float32))[:3]
    kept = [x.copy() for x in results]
    for _ in range(3):
        theirs.step(-np.ones((6, 2), np.float32))
    assert all(np.array_equal(x, y) for x, y in zip(results, kept, strict=True))


def test_a_seed_takes_effect_at_the_next_reset(both: Any) -> None:
    _, theirs = both
    theirs.seed(1)
    first = theirs.reset()
    theirs.seed(2)
    assert not np.array_equal(first, theirs.reset())
    theirs.seed(1)
    assert np.array_equal(first, theirs.reset())
    assert not np.array_equal(first, theirs.reset())  # other episodes; the seed stays
    assert theirs.env.numbers["seed"][0] == 1


def test_random_seeds_are_within_the_range_of_environments(
    both: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stable-Baselines3's own random seeds may be larger."""
    _, theirs = both
    monkeypatch.setattr(np.random, "randint", lambda low, *_, **__: low - 1)
    theirs.seed()
    theirs.reset()
    assert theirs.env.numbers["seed"][0] == 2**24 - 1


def test_access_to_single_environments_is_refused(both: Any) -> None:
    _, theirs = both
    assert theirs.get_attr("num_envs", [0, 3]) == [6, 6]
    assert theirs.env_is_wrapped(object) == [False] * 6
    with pytest.raises(rl.TaskError, match=r"reach cannot be set per environment; write into"):
        theirs.set_attr("reach", 1.0)
    with pytest.raises(rl.TaskError, match="render cannot be called per environment"):
        theirs.env_method("render")
    with pytest.raises(rl.TaskError, match='make them with autoreset="same_step"'):
        SB3Env(rl.VecEnv(Hold(), 2, autoreset="next_step"))


def test_sb3_ppo_learns_to_hold_a_pendulum() -> None:
    """The test takes some seconds. `benchmarks/rl` has the result of a minute."""
    learner = SB3(Pendulum(), seed=0)
    before = lengths(learner)
    learner.train(steps=40_000)
    assert lengths(learner) > 2 * before
