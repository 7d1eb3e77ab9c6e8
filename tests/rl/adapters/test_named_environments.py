"""Environments of a task by its name."""

from __future__ import annotations

import pytest

rl = pytest.importorskip("warpdyn.rl")
from warpdyn.rl.adapters.named_environments import environments


def test_options_are_those_of_the_environments() -> None:
    env = environments("cartpole_swing_up", 3, seed=5, autoreset="next_step")
    assert isinstance(env, rl.VecEnv) and env.task.name == "CartpoleSwingUp"
    assert env.num_envs == 3 and env.text.seed == 5 and env.text.wait
