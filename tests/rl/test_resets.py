"""Resets of environments: which episodes they begin, and their first observations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

rl = pytest.importorskip("warpdyn.rl")
import torch
from rl_cases import Hold

from warpdyn.rl.evaluation import evaluate_in


class Noisy(Hold):
    """The policy observes noise alone."""

    groups = {"policy": ("off",)}  # noqa: RUF012
    noise = {"off": rl.Noise(0.1)}  # noqa: RUF012

    def observe(self, robot: Any, s: rl.Episode) -> dict[str, Any]:
        return {"off": 0.0 * s.q}


def starts(env: Any, *seeds: int | None) -> list[list[float]]:
    """Positions of all robots after a reset with each of the seeds."""
    found = []
    for seed in seeds:
        env.reset(seed=seed)
        found.append(env.carried["q"].flatten().tolist())
    return found


def test_a_reset_without_a_seed_begins_other_episodes() -> None:
    """As in Gymnasium's own environments. With the seed the first ones begin again."""
    for env in (rl.VecEnv(Hold(), 3, seed=4), rl.NumpyEnv(rl.VecEnv(Hold(), 3, seed=4)).env):
        first, second, third, again = starts(env, None, None, None, 4)
        assert first == again and len({*map(tuple, (first, second, third))}) == 3
        env.step(torch.zeros(3, 2))
        assert starts(env, None, 4)[1] == first


def test_a_reset_with_a_seed_follows_a_restored_state_of_another_seed() -> None:
    """The seed of the environment's own beginning was not written again."""
    env, other = rl.VecEnv(Hold(), 2, seed=0), rl.VecEnv(Hold(), 2, seed=5)
    (wanted,) = starts(env, 0)
    other.reset()
    env.restore(other.state())
    assert starts(env, 0) == [wanted]
    env.numbers["seed"][0] = 7
    assert starts(env, 0) == [wanted]


def test_the_seed_of_a_single_environment_is_that_of_its_first_reset() -> None:
    first, same, other = (rl.SingleEnv(Hold(), seed=k).reset()[0]["policy"] for k in (5, 5, 6))
    assert np.array_equal(first, same) and not np.array_equal(first, other)
    assert np.array_equal(first, rl.SingleEnv(Hold()).reset(seed=5)[0]["policy"])


def test_a_mask_of_environments_to_reset_is_refused() -> None:
    """All environments would be reset."""
    env = rl.VecEnv(Hold(), 2)
    with pytest.raises(ValueError, match="reset_mask has no effect here"):
        env.reset(options={"reset_mask": np.array([True, False])})


def test_an_evaluation_of_used_environments_begins_at_their_start() -> None:
    env = rl.VecEnv(Hold(), 2, seed=3)
    (wanted,) = starts(env, None)
    env.step(torch.zeros(2, 2))

    class StopError(Exception):
        pass

    def watch(_: range) -> Any:
        raise StopError

    class Nothing(rl.Policy):
        def __init__(self) -> None:
            self.width, self.actions, self.about, self.path = 6, 2, {}, "none"

    with pytest.raises(StopError):
        evaluate_in(env, Nothing(), None, watch)
    assert env.carried["q"].flatten().tolist() == wanted


@pytest.mark.parametrize("steps", [0, 3])
def test_successive_observations_have_different_noise(steps: int) -> None:
    """The first observation had the noise of the second one."""
    env = rl.VecEnv(Noisy(), 2)
    seen = [env.reset()[0].clone()]
    seen += [env.step(torch.zeros(2, 2))[0].clone() for _ in range(steps)]
    seen += [env.reset()[0].clone(), env.step(torch.zeros(2, 2))[0].clone()]
    noise = torch.stack(seen).flatten().tolist()
    assert len({*noise}) == len(noise) and max(map(abs, noise)) < 0.1


def test_actions_do_not_keep_their_graphs() -> None:
    """A policy may act without `torch.no_grad`."""
    env = rl.VecEnv(Hold(), 2)
    env.reset()
    weights = torch.ones(2, 2, requires_grad=True)
    env.step(0.1 * weights)
    assert not env.action.requires_grad


def test_a_failed_state_is_observed_as_zeros_before_its_reset_in_the_next_step() -> None:
    """A wrapper that averages observations would keep NaN. The failure is counted once."""
    env = rl.VecEnv(Hold(), 2, autoreset="next_step")
    env.reset()
    action = torch.zeros(2, 2)
    action[1, 0] = torch.nan
    seen, _, terminated, _, info = env.step(action)
    assert info["failed"].tolist() == terminated.tolist() == [False, True]
    assert all((x[1] == 0.0).all() and x[0].any() for x in seen.values())
    seen, reward, terminated, _, info = env.step(torch.zeros(2, 2))
    assert not info["failed"].any() and not terminated.any() and float(reward[1]) == 0.0
    assert all(torch.isfinite(x).all() and x[1].any() for x in seen.values())


class Climbing(Hold):
    """Each episode lasts two steps, and is one level above the last one."""

    seconds, keep = 0.04, {"level": 0.0}
    groups, noise = {}, {}

    def observe(self, robot: Any, s: rl.Episode) -> Any:
        return np.concatenate([np.stack([s.level]), s.v, s.last_v])

    def promote(self, robot: Any, s: rl.Episode) -> dict[str, Any]:
        return {"level": s.level + 1.0}


@pytest.mark.parametrize("autoreset", ["same_step", "next_step"])
def test_observations_see_their_own_episode_and_the_step_before(autoreset: Any) -> None:
    """The last observation had the next episode's level. All others had v as their `last_v`, so that
    `terms.imu_reading` was without the acceleration."""
    env = rl.VecEnv(Climbing(), 1, autoreset=autoreset)
    env.reset()
    level, last_v, waits = 0.0, torch.zeros(2), autoreset == "next_step"
    for k in range(6):
        seen, *_, info = env.step(torch.ones(1, 2))
        final = info["final_obs"][0]
        if waits and k % 3 == 2:  # the action had no effect
            level, last_v = level + 1.0, torch.zeros(2)
            assert seen[0].tolist() == [level, 0.0, 0.0, 0.0, 0.0]
            continue
        assert final[0] == level and torch.equal(final[3:], last_v) and bool(final[1:3].any())
        if not waits and k % 2 == 1:
            level, last_v = level + 1.0, torch.zeros(2)
            assert seen[0].tolist() == [level, 0.0, 0.0, 0.0, 0.0]
        else:
            assert torch.equal(seen[0], final)
            last_v = final[1:3].clone()
