"""Environments of a task by its name."""

from __future__ import annotations

import pytest

rl = pytest.importorskip("warpdyn.rl")
from warpdyn.rl.adapters.named_environments import environment, environments


def test_options_reach_the_environments() -> None:
    env = environments("cartpole_swing_up", 3, seed=5, autoreset="next_step", tensors=True)
    assert isinstance(env, rl.VecEnv) and env.task.name == "CartpoleSwingUp"
    assert env.num_envs == 3 and env.kernels.seed == 5 and env.kernels.wait
    other = environments("cartpole_swing_up", 3, seed=5)
    assert isinstance(other, rl.NumpyEnv) and other.env.kernels.seed == 5
    assert environment("cartpole_swing_up", dtype="float64").observation_space.dtype == float


def test_render_mode_with_tensors_is_refused() -> None:
    with pytest.raises(ValueError, match="render_mode needs NumPy arrays, tensors=False"):
        environments("cartpole_swing_up", tensors=True, render_mode="rgb_array")
