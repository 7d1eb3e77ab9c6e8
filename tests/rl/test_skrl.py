"""skrl's own wrappers accept environments, and its PPO learns on them."""

from __future__ import annotations

import pytest

rl = pytest.importorskip("warpdyn.rl")
skrl = pytest.importorskip("skrl")
import torch
from rl_cases import Hold
from skrl.envs.wrappers.torch import wrap_env

from benchmarks.rl.learners import Skrl, lengths
from benchmarks.rl.pendulum import Pendulum


class Groups(Hold):
    """Observations of policy and critic with the names of Isaac Lab."""

    groups = {"policy": ("off",), "critic": ("place", "speed")}  # noqa: RUF012


@pytest.mark.filterwarnings("ignore:To copy construct from a tensor:UserWarning")
def test_skrls_gymnasium_wrapper_accepts_one_group() -> None:
    """skrl chooses it automatically, as for other vector environments of Gymnasium."""
    theirs, ours = wrap_env(rl.VecEnv(Pendulum(), 5), verbose=False), rl.VecEnv(Pendulum(), 5)
    assert type(theirs).__name__ == "GymnasiumWrapper" and theirs.num_envs == 5
    assert theirs.observation_space.shape == (4,) and theirs.action_space.shape == (1,)
    seen, _ = theirs.reset()  # with a seed of its own
    wanted, _ = ours.reset(seed=theirs.unwrapped.kernels.seed)
    assert torch.equal(seen, wanted)
    seen, reward, terminated, truncated, _ = theirs.step(torch.ones(5, 1))
    wanted, earned, *_ = ours.step(torch.ones(5, 1))
    assert torch.equal(seen, wanted) and torch.equal(reward, earned[:, None])
    assert terminated.shape == truncated.shape == (5, 1)


def test_skrls_isaac_lab_wrapper_gives_the_critic_its_group() -> None:
    """The wrapper passes tensors on: the policy's observations, and the critic's as the state."""
    theirs = wrap_env(rl.VecEnv(Groups(), 5), "isaaclab-single-agent", verbose=False)
    assert theirs.observation_space.shape == (2,) and theirs.state_space.shape == (4,)
    theirs.reset()
    seen, reward, *_ = theirs.step(torch.zeros(5, 2))
    inside = theirs.unwrapped.observations
    assert torch.equal(seen, inside["policy"]) and torch.equal(theirs.state(), inside["critic"])
    assert seen.data_ptr() == inside["policy"].data_ptr() and reward.shape == (5, 1)


@pytest.mark.filterwarnings("ignore:To copy construct from a tensor:UserWarning")
def test_skrl_ppo_learns_to_hold_a_pendulum() -> None:
    """The test takes some seconds. `benchmarks/rl` has the result of a minute."""
    learner = Skrl(Pendulum(), seed=0)
    before = lengths(learner)
    learner.train(steps=40_000)
    assert lengths(learner) > 2 * before
