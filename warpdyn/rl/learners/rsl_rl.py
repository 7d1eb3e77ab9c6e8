"""PPO of rsl_rl, and environments in the form that it takes."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import torch

from ...model.optional_packages import install_extra
from ..recipe import Recipe
from ..several_processes import Processes
from .learner import Observations
from .networks import Network, Normalizer

try:
    from rsl_rl import algorithms
    from tensordict import TensorDict
except ModuleNotFoundError as error:
    raise ImportError(
        f"rl.RslEnv and the learner rsl_rl need {error.name}, which is not installed: "
        f"{install_extra('rl')}"
    ) from error

if TYPE_CHECKING:
    from ..vec_env import VecEnv


class RslEnv:
    """`VecEnv` in rsl_rl's form (its abstract `VecEnv`, version 5): observation groups in a
    TensorDict, `dones`, and `extras` with `time_outs` and the rewards of ended episodes.

    episode_length_buf may be written: rsl_rl uses it to spread the ages of the first episodes.
    """

    def __init__(self, env: VecEnv):
        self.env, self.num_envs, self.num_actions = env, env.num_envs, env.task.actions
        self.device, self.cfg = env.device, {"task": env.task.name}
        self.max_episode_length = env.kernels.length
        self.unwrapped = env
        env.reset(seed=env.kernels.seed)

    def get_observations(self) -> TensorDict:
        """The current observations."""
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


class RslRlLearner:
    """rsl_rl's PPO as a `Learner`."""

    def __init__(self, env: VecEnv, recipe: Recipe, processes: Processes):
        self.recipe, groups = recipe, [*env.observations]
        numbers = recipe.rsl_rl_config({"actor": groups[:1], "critic": groups[-1:]})
        numbers |= {"multi_gpu": processes.rsl_rl_config()}
        adapted = RslEnv(env)
        with contextlib.redirect_stdout(io.StringIO()):  # rsl_rl prints its networks
            self.algorithm = algorithms.PPO.construct_algorithm(
                adapted.get_observations(), adapted, numbers, env.device
            )
        if processes.count > 1:
            self.algorithm.broadcast_parameters()
        self.algorithm.train_mode()

    @property
    def learning_rate(self) -> float:
        return float(self.algorithm.learning_rate)

    @property
    def deviation(self) -> float:
        return float(self.algorithm.get_policy().distribution.std_param.detach().mean())

    @torch.inference_mode()
    def act(self, observations: Observations) -> torch.Tensor:
        actions: torch.Tensor = self.algorithm.act(_tensor_dict(observations))
        return actions

    @torch.inference_mode()
    def record(self, reward: torch.Tensor, ended: torch.Tensor, timed_out: torch.Tensor) -> None:
        """Store the results of the last actions, each (envs,)."""
        seen = self.algorithm.transition.observations
        self.algorithm.process_env_step(seen, reward, ended, {"time_outs": timed_out})

    def update(self, observations: Observations) -> None:
        """Improve the policy from the stored steps."""
        with torch.inference_mode():
            self.algorithm.compute_returns(_tensor_dict(observations))
        self.algorithm.update()

    def policy(self) -> Network:
        model, recipe = self.algorithm.get_policy(), self.recipe
        normalizer, theirs = Normalizer(model.obs_dim), model.obs_normalizer
        normalizer.mean.copy_(theirs.mean)
        normalizer.variance.copy_(theirs.std.square())
        normalizer.count.copy_(theirs.count)
        linear = [x for x in model.mlp if isinstance(x, torch.nn.Linear)]
        outputs = linear[-1].out_features
        network = Network(normalizer, outputs, recipe.layers, recipe.activation)
        for layer, source in zip(network.linear_layers, linear, strict=True):
            layer.load_state_dict(source.state_dict())
        return network.to(next(model.parameters()).device).eval()

    def use_policy(self, policy: Network) -> None:
        model = self.algorithm.get_policy()
        linear = [x for x in model.mlp if isinstance(x, torch.nn.Linear)]
        for layer, source in zip(linear, policy.linear_layers, strict=True):
            layer.load_state_dict(source.state_dict())
        theirs, ours = model.obs_normalizer, policy.normalizer
        theirs._mean.copy_(ours.mean)
        theirs._var.copy_(ours.variance)
        theirs._std.copy_(ours.variance.sqrt())
        theirs.count.copy_(ours.count)

    def restore_networks(self, state: Mapping[str, Any]) -> None:
        parts = {"actor": True, "critic": True, "optimizer": False, "rnd": False}
        self.algorithm.load(dict(state), parts, True)

    def state(self) -> dict[str, Any]:
        return {**self.algorithm.save(), "learning_rate": self.learning_rate}

    def restore(self, state: Mapping[str, Any]) -> None:
        self.algorithm.load(dict(state), None, True)
        self.algorithm.learning_rate = state["learning_rate"]


def _tensor_dict(observations: Observations) -> TensorDict:
    """Observations as rsl_rl takes them."""
    first = next(iter(observations.values()))
    return TensorDict(dict(observations), batch_size=[len(first)], device=first.device)
