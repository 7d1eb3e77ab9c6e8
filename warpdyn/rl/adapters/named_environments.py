"""Environments of a task, by its name."""

from __future__ import annotations

from typing import Any

from ..tasks import make
from ..vec_env import VecEnv
from .numpy_env import NumpyEnv
from .single_env import SingleEnv


def environments(
    task: str,
    num_envs: int = 1,
    *,
    tensors: bool = False,
    render_mode: str | None = None,
    **options: Any,
) -> NumpyEnv | VecEnv:
    """The environments for `gymnasium.make_vec("warpdyn/QuadrupedVelocity-v0", num_envs=4096)`.

    tensors: True for observations, rewards and flags as tensors that stay on the device, instead of
    the NumPy arrays that Gymnasium's wrappers need. options: of `VecEnv`.
    """
    if tensors and render_mode is not None:
        raise ValueError("render_mode needs NumPy arrays, tensors=False")
    env = VecEnv(make(task), num_envs, **options)
    return env if tensors else NumpyEnv(env, render_mode)


def environment(task: str, render_mode: str | None = None, **options: Any) -> SingleEnv:
    """The environment for `gymnasium.make("warpdyn/QuadrupedVelocity-v0")`."""
    return SingleEnv(make(task), render_mode=render_mode, **options)
