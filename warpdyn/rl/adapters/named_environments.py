"""Environments of a bundled task, by its name."""

from __future__ import annotations

from typing import Any

from ..tasks import make
from ..vec_env import VecEnv


def environments(task: str, num_envs: int = 1, **options: Any) -> VecEnv:
    """The environments for `gymnasium.make_vec("warpdyn/QuadrupedVelocity-v0", num_envs=4096)`."""
    return VecEnv(make(task), num_envs, **options)
