"""One environment of a task in Gymnasium's form, `gymnasium.make`."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import torch
from gymnasium import spaces

from ...user_kernels.random_numbers import LARGEST
from ..pictures.camera import Camera, render_metadata
from ..task import Task, TaskError
from ..vec_env import VecEnv


class SingleEnv(gymnasium.Env[Any, Any]):
    """One environment: observations (n,) of the policy's group, or of all groups by name.

    Its launch is that of a `VecEnv` with one environment. render_mode: "rgb_array" for `render`,
    which draws the robot from one side (needs Matplotlib). options: of `VecEnv`; its `seed` is that
    of the first reset. A reset without a seed begins another episode, with random numbers that
    follow from the last seed.
    """

    def __init__(self, task: Task, *, render_mode: str | None = None, **options: Any):
        self.env, self.task, self.render_mode = VecEnv(task, 1, **options), task, render_mode
        self.metadata = render_metadata(task, render_mode)
        self.action_space = self.env.single_action_space
        self.observation_space = self.env.single_observation_space
        self._is_dict = isinstance(self.observation_space, spaces.Dict)
        self._camera: Camera | None = None
        self._action = torch.zeros_like(self.env.action)
        self._written = self._action.numpy()[0]
        if "seed" in options:
            super().reset(seed=self.env.kernels.seed)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        """The first observation of an episode, and an empty dictionary."""
        super().reset(seed=seed, options=options)
        observation, _ = self.env.reset(seed=int(self.np_random.integers(LARGEST)))
        return self._row(observation), {}

    def step(self, action: Any) -> Any:
        """Observation, reward, terminated, truncated, and more results by name.

        `info["rewards"]` are the rewards of an episode that ended, by name; `info["failed"]` is
        True if the state was not finite, in which case the observation is zero.
        """
        action = np.asarray(action)
        if action.shape != self._written.shape:
            raise TaskError(f"action must be {self._written.shape}, got {action.shape}")
        self._written[:] = action
        observation, reward, terminated, truncated, more = self.env.step(self._action)
        info: dict[str, Any] = {}
        if terminated or truncated:
            # The launch has already begun the next episode; the caller receives the end of this
            # one.
            observation = more["final_obs"]
            info["rewards"] = {n: float(x) for n, x in more["episode"].items()}
            info["failed"] = bool(more["failed"])
        return self._row(observation), float(reward), bool(terminated), bool(truncated), info

    def render(self) -> Any:
        """A picture of the robot (height, width, 3); None without a render mode."""
        if self.render_mode is None:
            return None
        self._camera = self._camera or Camera(self.task)
        carried = self.env.carried
        origin = carried["origin"][0].numpy() if "origin" in carried else None
        return self._camera.frame(carried["q"][0].numpy(), origin)

    def _row(self, observation: Any) -> Any:
        """The observation of the only environment, as a copy."""
        if self._is_dict:
            return {name: x[0].numpy().copy() for name, x in observation.items()}
        return observation[0].numpy().copy()
