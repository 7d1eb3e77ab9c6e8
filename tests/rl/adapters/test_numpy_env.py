"""Environments with NumPy arrays: Gymnasium's vector wrappers work on them."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

rl = pytest.importorskip("warpdyn.rl")
import gymnasium
import torch
from gymnasium.wrappers.vector import (
    NormalizeObservation,
    NormalizeReward,
    RecordEpisodeStatistics,
    RecordVideo,
)
from rl_cases import Hold


class Alone(Hold):
    """A task with one group of observations."""

    groups = {"policy": ("off", "speed", "last")}  # noqa: RUF012


def test_arrays_are_copies_of_the_tensors() -> None:
    env, other = rl.NumpyEnv(rl.VecEnv(Hold(), 3)), rl.VecEnv(Hold(), 3)
    seen, wanted = env.reset(seed=4)[0], other.reset(seed=4)[0]
    first = seen["policy"].copy()
    for _ in range(12):
        found = env.step(0.1 * np.ones((3, 2)))
        same = other.step(0.1 * torch.ones(3, 2))
        for x, y in zip(found[:4], same[:4], strict=True):
            if isinstance(x, dict):
                np.testing.assert_array_equal(x["policy"], y["policy"])
            else:
                np.testing.assert_array_equal(x, y)
    assert sorted(found[4]) == ["_final_obs", "failed", "final_obs", "nonfinite_action", "rewards"]
    np.testing.assert_array_equal(seen["policy"], first)
    assert wanted["policy"].shape == (3, 6)


def test_gymnasiums_episode_statistics_equal_the_tasks() -> None:
    env = RecordEpisodeStatistics(rl.NumpyEnv(rl.VecEnv(Alone(), 4)))
    env.reset(seed=0)
    returns, lengths = [], []
    for _ in range(25):
        *_, info = env.step(np.zeros((4, 2)))
        if "episode" in info:
            over = info["_episode"]
            rewards = info["rewards"]
            wanted = sum(rewards[n] for n in ("still", "near"))
            np.testing.assert_allclose(info["episode"]["r"][over], wanted[over], rtol=1e-5)
            returns += info["episode"]["r"][over].tolist()
            lengths += (info["episode"]["l"][over] == rewards["length"][over]).tolist()
    assert len(returns) >= 8 and all(lengths)


@pytest.mark.parametrize("autoreset", ["same_step", "next_step"])
def test_gymnasiums_wrappers_normalise_rewards_and_observations(autoreset: Any) -> None:
    """`NormalizeObservation` needs resets in the next step, and says so. Rewards are divided by one
    number for all environments."""
    envs = [rl.NumpyEnv(rl.VecEnv(Alone(), 8, autoreset=autoreset)) for _ in range(2)]
    env: Any = NormalizeReward(RecordEpisodeStatistics(envs[0]))
    if autoreset == "same_step":
        with pytest.raises(ValueError, match="NEXT_STEP"):
            NormalizeObservation(env)
    else:
        env = NormalizeObservation(env)
    for each in (env, envs[1]):
        each.reset(seed=0)
    observations, ends = [], 0
    for _ in range(40):
        observation, reward, terminated, truncated, info = env.step(0.1 * np.ones((8, 2)))
        _, plain_reward, *_ = envs[1].step(0.1 * np.ones((8, 2)))
        is_active = plain_reward != 0
        if is_active.any():
            factors = reward[is_active] / plain_reward[is_active]
            np.testing.assert_allclose(factors, factors[0], rtol=1e-5)
        observations.append(observation)
        ends += "episode" in info and (terminated | truncated).sum()
    assert ends >= 8 and np.isfinite(observations).all()
    if autoreset == "next_step":
        assert np.abs(np.mean(observations[10:])) < 0.5


@pytest.mark.parametrize("autoreset", ["same_step", "next_step"])
def test_gymnasiums_video_wrapper_records_the_episodes_of_the_first_environment(
    autoreset: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its frames are the pictures of all environments next to each other. Only MoviePy, which writes them
    into a file, is replaced."""
    clips: dict[str, tuple[list[np.ndarray], int]] = {}

    class Clip:
        def __init__(self, frames: list[np.ndarray], fps: int):
            self.frames, self.fps = frames, fps

        def write_videofile(self, path: str, logger: Any) -> None:
            clips[Path(path).name] = list(self.frames), self.fps

    module = ModuleType("moviepy.video.io.ImageSequenceClip")
    module.ImageSequenceClip = Clip  # type: ignore[attr-defined]
    for name in ("moviepy", "moviepy.video", "moviepy.video.io"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setitem(sys.modules, module.__name__, module)
    envs = [rl.NumpyEnv(rl.VecEnv(Alone(), 2, autoreset=autoreset), "rgb_array") for _ in range(2)]
    env = RecordVideo(envs[0], str(tmp_path / "videos"), episode_trigger=lambda count: count < 2)
    env.reset(seed=0)
    envs[1].reset(seed=0)
    pictures, lengths, since = [envs[1].render()], [], 0
    while len(lengths) < 2:
        actions = 0.1 * np.ones((2, 2))
        env.step(actions)
        _, _, terminated, truncated, _ = envs[1].step(actions)
        if not lengths:
            pictures.append(envs[1].render())
        since += 1
        if terminated[0] or truncated[0]:
            lengths.append(since)
            since = -1 if autoreset == "next_step" else 0  # the step that resets
    env.step(actions)
    env.close()
    assert list(clips) == ["rl-video-episode-0.mp4", "rl-video-episode-1.mp4"]
    frames, rate = clips["rl-video-episode-0.mp4"]
    assert rate == envs[0].metadata["render_fps"] == 50
    assert len(frames) == lengths[0] + (autoreset == "next_step")
    for frame, picture in zip(frames, pictures, strict=False):
        assert picture is not None
        np.testing.assert_array_equal(frame, np.hstack(picture))
    assert (frames[0] != frames[-1]).any()


def test_make_vec_returns_numpy_arrays_or_tensors() -> None:
    name = "warpdyn/CartpoleSwingUp-v0"
    env: Any = gymnasium.make_vec(name, num_envs=2)
    assert isinstance(env.reset(seed=0)[0], np.ndarray)
    tensors: Any = gymnasium.make_vec(name, num_envs=2, tensors=True)
    assert isinstance(tensors.reset(seed=0)[0], torch.Tensor)


def test_render_draws_all_environments() -> None:
    """Images change when the robots move, and a video wrapper records them."""
    env = rl.NumpyEnv(rl.VecEnv(rl.CartpoleSwingUp(), 2), "rgb_array")
    env.reset(seed=0)
    first = env.render()
    assert first is not None and len(first) == 2
    assert first[0].shape == (320, 320, 3) and first[0].dtype == np.uint8
    for _ in range(20):
        env.step(np.array([[1.0], [-1.0]]))
    after = env.render()
    assert after is not None and (first[0] != after[0]).any() and (after[0] != after[1]).any()
    assert env.metadata["render_fps"] == 25
    with pytest.raises(ValueError, match="render_mode must be None"):
        rl.NumpyEnv(rl.VecEnv(rl.CartpoleSwingUp(), 2), "human")
    with pytest.raises(TypeError, match=r"env must be an rl.VecEnv\(task, envs\), got Cartpole"):
        rl.NumpyEnv(rl.CartpoleSwingUp())
