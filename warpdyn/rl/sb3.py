"""A task's environments in the form that Stable-Baselines3 takes."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode

from ..user_kernels.random_numbers import LARGEST
from .task import TaskError
from .vec_env import VecEnv

try:
    from stable_baselines3.common.vec_env import VecEnv as Abstract
except ModuleNotFoundError as error:
    raise ImportError(
        f"warpdyn.rl.sb3 needs {error.name}, which is not installed: pip install stable-baselines3"
    ) from error


class SB3Env(Abstract):  # type: ignore[misc]
    """`VecEnv` in the form of Stable-Baselines3: NumPy arrays, `dones`, and a dictionary for each
    environment.

    Observations are those of the policy's group. An environment that ends is reset in the same
    step. Its `infos` have the "terminal_observation", True in "TimeLimit.truncated" if it ran out
    of time, and the episode's return "r" and number of steps "l", in the format of
    Stable-Baselines3's monitor.
    """

    def __init__(self, env: VecEnv):
        if env.metadata["autoreset_mode"] is not AutoresetMode.SAME_STEP:
            raise TaskError(
                "Stable-Baselines3 needs environments that are reset in the same step; "
                'make them with autoreset="same_step"'
            )
        self.env = env
        self.group = next(iter(env.kernels.observations))
        space = env.single_observation_space
        seen = space[self.group] if isinstance(space, spaces.Dict) else space
        super().__init__(env.num_envs, seen, env.single_action_space)
        self._action = np.zeros((env.num_envs, env.task.actions), np.float32)

    def seed(self, seed: int | None = None) -> Any:
        """Choose the seed of the next `reset`; None: a random one."""
        return super().seed(int(np.random.randint(LARGEST)) if seed is None else seed)

    def reset(self) -> np.ndarray:
        """Reset all environments, with the seed of `seed` if there was one."""
        self.env.reset(seed=self._seeds[0])
        self._reset_seeds()
        return self._to_numpy(self.env.observations)

    def step_async(self, actions: np.ndarray) -> None:
        """Keep the actions for the next step."""
        self._action = np.asarray(actions, np.float32)

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Observations, rewards, dones and infos of a step, as copies."""
        _, reward, terminated, truncated, info = self.env.step(self._action)
        done = (terminated | truncated).cpu().numpy()
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        if done.any():
            self._fill_infos(infos, np.flatnonzero(done), info, truncated.cpu().numpy())
        return self._to_numpy(self.env.observations), reward.cpu().numpy().copy(), done, infos

    def _fill_infos(
        self, infos: list[dict[str, Any]], ended: np.ndarray, info: dict[str, Any], late: np.ndarray
    ) -> None:
        last = info["final_obs"]
        final = self._to_numpy(last if isinstance(last, dict) else {self.group: last})
        steps = info["episode"]["length"].cpu().numpy()
        earned = sum(info["episode"][name] for name in self.env.kernels.rewards).cpu().numpy()
        for k in ended:
            infos[k] = {
                "terminal_observation": final[k],
                "TimeLimit.truncated": bool(late[k]),
                "episode": {"r": float(earned[k]), "l": int(steps[k])},
            }

    def _to_numpy(self, groups: dict[str, Any]) -> np.ndarray:
        return groups[self.group].cpu().numpy().copy()  # type: ignore[no-any-return]

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """An attribute of the environments, which they share."""
        return [getattr(self.env, attr_name) for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Raise, because the environments of one launch share their attributes."""
        raise TaskError(
            f"{attr_name} cannot be set per environment; write into env.numbers or env.carried"
        )

    def env_method(
        self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any
    ) -> list[Any]:
        """Raise, because the environments of one launch are not separate objects with methods."""
        raise TaskError(f"{method_name} cannot be called per environment")

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """False for each environment, because none is wrapped individually."""
        return [False for _ in self._get_indices(indices)]

    def close(self) -> None:
        """Nothing to close."""
