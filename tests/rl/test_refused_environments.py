"""Arguments, actions, steps before a reset, and copies that environments refuse."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

rl = pytest.importorskip("warpdyn.rl")
import gymnasium
import torch
from rl_cases import Hold


def test_invalid_arguments_and_actions_are_refused() -> None:
    with pytest.raises(TypeError, match=r"task must be a warpdyn.rl.Task, got str"):
        rl.VecEnv("cartpole", 4)
    with pytest.raises(ValueError, match="envs must be a whole number of at least 1, got 0"):
        rl.VecEnv(Hold(), 0)
    with pytest.raises(ValueError, match='autoreset must be "same_step" or "next_step"'):
        rl.VecEnv(Hold(), 4, autoreset="never")
    env = rl.VecEnv(Hold(), 4)
    env.reset()
    with pytest.raises(ValueError, match=r"action must be \(4, 2\), got \(4, 3\)"):
        env.step(torch.zeros(4, 3))


def test_a_step_before_the_first_reset_is_refused() -> None:
    """The state is zeros, with which no episode begins: its rewards looked like any others."""
    env, other = rl.VecEnv(Hold(), 4), rl.VecEnv(Hold(), 4)
    with pytest.raises(gymnasium.error.ResetNeeded, match=r"call reset\(\) before the first step"):
        env.step(torch.zeros(4, 2))
    with pytest.raises(gymnasium.error.ResetNeeded, match=r"call reset\(\)"):
        rl.plain_step(env, [0.0, 0.0], environment=0)
    other.reset()
    env.restore(other.state())  # it begins the episodes too
    assert torch.equal(env.step(torch.zeros(4, 2))[1], other.step(torch.zeros(4, 2))[1])


def test_only_task_instances_with_a_model_are_accepted() -> None:
    """Its class, its name, and a task without a model are refused with the remedy."""
    bare = type("Bare", (rl.Task,), {})
    with pytest.raises(TypeError, match=r"got type; make one by Hold\(\)$"):
        rl.VecEnv(Hold, 2)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"got str; rl.make\('panda_reach'\) makes one$"):
        rl.VecEnv("panda_reach", 2)  # type: ignore[arg-type]
    with pytest.raises(rl.TaskError, match=r"^Bare has no model: set self.model"):
        rl.VecEnv(bare(), 2)


@pytest.mark.parametrize("steps", [0, 3])
@pytest.mark.parametrize("make", [copy.copy, copy.deepcopy, pickle.dumps])
def test_copies_and_pickles_are_refused(make: Any, steps: int) -> None:
    """A shallow copy would write into the tensors of its original."""
    env = rl.VecEnv(Hold(), 4)
    env.reset()
    for _ in range(steps):
        env.step(torch.zeros(4, 2))
    with pytest.raises(
        TypeError, match=r"a VecEnv cannot be pickled or copied: .* pickle its task"
    ):
        make(env)
