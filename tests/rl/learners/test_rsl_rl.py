"""Environments in rsl_rl's form."""

from __future__ import annotations

import sys
from importlib import import_module

import pytest

rl = pytest.importorskip("warpdyn.rl")
import torch
from rl_cases import Hold


def test_rsl_env_has_the_attributes_and_shapes_of_rsl_rl() -> None:
    from rsl_rl.env import VecEnv as Abstract

    env = rl.RslEnv(rl.VecEnv(Hold(), 5))
    for name in Abstract.__annotations__:
        assert hasattr(env, name), name
    seen = env.get_observations()
    assert set(seen.keys()) == {"policy", "hidden"} and seen.batch_size == torch.Size([5])
    seen, reward, done, extras = env.step(torch.zeros(5, 2))
    assert reward.shape == done.shape == extras["time_outs"].shape == (5,)
    assert env.max_episode_length == 10


def test_episode_lengths_can_be_assigned() -> None:
    """rsl_rl spreads the ages of the first episodes.

    An episode at its last step is then timed out.
    """
    env = rl.RslEnv(rl.VecEnv(Hold(), 3))
    env.env.numbers["reach"][:] = 10.0
    env.episode_length_buf = torch.tensor([0, 9, 4])
    _, _, done, extras = env.step(torch.zeros(3, 2))
    assert done.tolist() == extras["time_outs"].tolist() == [0.0, 1.0, 0.0]
    assert env.episode_length_buf.tolist() == [1, 0, 5]


@pytest.mark.parametrize("missing", ["rsl_rl", "tensordict"])
def test_a_missing_package_is_named_with_its_extra(
    missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The message was "No module named 'rsl_rl'" alone."""
    monkeypatch.delitem(sys.modules, "warpdyn.rl.learners.rsl_rl", raising=False)
    monkeypatch.setitem(sys.modules, missing, None)
    said = rf"the learner rsl_rl need {missing}, which is not installed: pip install '\.\[rl\]'"
    with pytest.raises(ImportError, match=said):
        import_module("warpdyn.rl.learners.rsl_rl")
