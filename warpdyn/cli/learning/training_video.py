"""Moving pictures of a policy while it is trained."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from ...rl.vec_env import VecEnv
from ..console import say
from .play import roll_out, write_moving

if TYPE_CHECKING:
    from ...rl import Progress, Task, Trainer

ROBOTS, SECONDS = 2, 5.0
"""Number of robots, and length of a moving picture [s]."""


class PresentPolicy:
    """The present policy of a trainer, without exploration: observations (B, n) → (B, actions)."""

    def __init__(self, trainer: Trainer):
        self._module = trainer.policy()

    def check(self, task: Task, width: int) -> None:
        """Nothing to compare: the policy is that of the task's training."""

    def __call__(self, observations: np.ndarray) -> np.ndarray:
        with torch.inference_mode():
            found = self._module(torch.as_tensor(observations))
        return np.asarray(found.cpu())


class TrainingVideo:
    """Logger that writes a moving picture every `every` iterations, FOLDER/video-000100.gif.

    Its robots are environments of their own, in the task without the changes of the training.
    """

    def __init__(self, trainer: Trainer, folder: Path, every: int):
        self._trainer, self._folder, self._every = trainer, folder, every
        self._env: VecEnv | None = None

    def __call__(self, progress: Progress) -> None:
        if progress.iteration % self._every:
            return
        task = self._trainer.task
        # Random numbers of Torch belong to the training, which must not depend on pictures.
        state = torch.get_rng_state()
        self._env = self._env or VecEnv(task, ROBOTS, seed=self._trainer.seed)
        policy: Any = PresentPolicy(self._trainer)
        played = roll_out(self._env, policy, min(SECONDS, task.seconds))
        path = self._folder / f"video-{progress.iteration:06d}.gif"
        write_moving(task, played, path)
        torch.set_rng_state(state)
        say(f"moving picture: {path}")
