"""A task's environments in the form that rsl_rl takes."""

from __future__ import annotations

from typing import Any

import torch
from tensordict import TensorDict

from .vec_env import VecEnv


class RslEnv:
    """`VecEnv` in rsl_rl's form (its abstract `VecEnv`, version 5): observation groups in a
    TensorDict, `dones`, and `extras` with `time_outs` and the rewards of ended episodes.

    episode_length_buf may be written: rsl_rl uses it to spread the ages of the first episodes.
    """

    def __init__(self, env: VecEnv):
        self.env, self.num_envs, self.num_actions = env, env.num_envs, env.task.actions
        self.device, self.cfg = env.device, {"task": env.task.name}
        self.max_episode_length = env.text.length
        self.unwrapped = env
        env.reset()

    def get_observations(self) -> TensorDict:
        """The present observations."""
        return TensorDict(self.env.observations, batch_size=[self.num_envs], device=self.device)

    def step(self, actions: torch.Tensor) -> tuple[TensorDict, torch.Tensor, torch.Tensor, dict]:
        """Observations, rewards, dones, extras."""
        _, reward, terminated, truncated, info = self.env.step(actions)
        done = terminated | truncated
        extras: dict[str, Any] = {"time_outs": truncated.float(), "episode": info["episode"]}
        extras["nonfinite_action"] = info["nonfinite_action"]
        return self.get_observations(), reward, done.float(), extras

    @property
    def episode_length_buf(self) -> torch.Tensor:
        """Number of steps since each episode began (envs,)."""
        return self.env.carried["age"].long()

    @episode_length_buf.setter
    def episode_length_buf(self, ages: torch.Tensor) -> None:
        self.env.carried["age"].copy_(ages)
