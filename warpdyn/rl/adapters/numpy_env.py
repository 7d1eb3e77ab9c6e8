"""Environments in the form of Gymnasium's wrappers: NumPy arrays and pictures."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from gymnasium.vector import VectorEnv

from ..pictures.camera import Camera, render_metadata
from ..vec_env import VecEnv


class NumpyEnv(VectorEnv[Any, Any, Any]):
    """`VecEnv` with NumPy arrays, for wrappers such as `gymnasium.wrappers.vector`.

    Observations, rewards and flags are copies. The rewards of ended episodes are in
    `info["rewards"]`, by name, with their length in steps: Gymnasium's wrappers write "episode"
    themselves. render_mode: "rgb_array" for `render`, which draws each robot from one side (needs
    Matplotlib).
    """

    def __init__(self, env: VecEnv, render_mode: str | None = None):
        if not isinstance(env, VecEnv):
            raise TypeError(f"env must be an rl.VecEnv(task, envs), got {type(env).__name__}")
        self.env, self.num_envs, self.render_mode = env, env.num_envs, render_mode
        self.task = env.task
        self.metadata = {**env.metadata, **render_metadata(env.task, render_mode)}
        self.single_action_space, self.action_space = env.single_action_space, env.action_space
        self.single_observation_space = env.single_observation_space
        self.observation_space = env.observation_space
        self._cameras: list[Camera] = []

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        """Reset all environments; returns observations and an empty dictionary."""
        observations, info = self.env.reset(seed=seed, options=options)
        return to_numpy(observations), info

    def step(self, action: Any) -> Any:
        """Observations, rewards, terminated and truncated flags, and more results by name."""
        results = self.env.step(np.asarray(action))
        info = results[-1]
        info["rewards"] = info.pop("episode")
        return tuple(to_numpy(x) for x in results)

    def render(self) -> tuple[np.ndarray, ...] | None:
        """A picture of each environment's robot (height, width, 3); None without a render mode."""
        if self.render_mode is None:
            return None
        if not self._cameras:
            self._cameras = [Camera(self.task) for _ in range(self.num_envs)]
        carried = self.env.carried
        q = carried["q"].cpu().numpy()
        origins = carried["origin"].cpu().numpy() if "origin" in carried else [None] * self.num_envs
        pairs = zip(self._cameras, q, origins, strict=True)
        return tuple(camera.frame(row, origin) for camera, row, origin in pairs)


def to_numpy(x: Any) -> Any:
    """Copies of tensors as arrays, also in dictionaries."""
    if isinstance(x, dict):
        return {name: to_numpy(each) for name, each in x.items()}
    return x.cpu().numpy().copy() if isinstance(x, torch.Tensor) else x
