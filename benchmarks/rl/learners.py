"""Train one task with three learners, rsl_rl, skrl and Stable-Baselines3, with PPO on one CPU core.

    python -m benchmarks.rl.learners [--seconds 60] [--seeds 0 1 2]

Each learner has the parameters of the task's recipe and its own defaults otherwise. All have the same CPU
time. Results go to benchmarks/rl/results/learners.json.
"""

from __future__ import annotations

import argparse
import json
import time
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn as nn

from warpdyn import rl

from ..__main__ import describe_run
from .pendulum import Pendulum

RESULTS = Path(__file__).with_name("results") / "learners.json"


class RslRl:
    """warpdyn's own trainer."""

    NAME, PACKAGE = "rsl_rl", "rsl-rl-lib"

    def __init__(self, task: rl.Task, seed: int):
        self.task = task
        self.trainer = rl.Trainer(task, seed=seed)
        self.steps = 0

    def train(self, seconds: float = np.inf, steps: float = np.inf) -> None:
        """Train for some CPU seconds or environment steps."""
        start = time.process_time()
        for progress in self.trainer.run(minutes=np.inf):
            self.steps = progress.steps
            if time.process_time() - start > seconds or self.steps >= steps:
                break

    def act(self, observations: torch.Tensor) -> torch.Tensor:
        return self.trainer.policy()(observations)  # type: ignore[no-any-return]


class SB3:
    """Stable-Baselines3, on `SB3Env`."""

    NAME, PACKAGE = "Stable-Baselines3", "stable-baselines3"

    def __init__(self, task: rl.Task, seed: int):
        from stable_baselines3 import PPO

        from warpdyn.rl.sb3 import SB3Env

        self.task, recipe = task, task.recipe
        env = SB3Env(rl.VecEnv(task, recipe.envs, seed=seed))
        self.learner = PPO(
            "MlpPolicy",
            env,
            n_steps=recipe.steps,
            batch_size=recipe.envs * recipe.steps // recipe.batches,
            n_epochs=recipe.epochs,
            gamma=recipe.discount,
            gae_lambda=recipe.trace,
            clip_range=recipe.clip,
            learning_rate=recipe.learning_rate,
            policy_kwargs={"net_arch": list(recipe.layers), "activation_fn": nn.ELU},
            seed=seed,
            device="cpu",
        )
        self.steps = 0

    def train(self, seconds: float = np.inf, steps: float = np.inf) -> None:
        """Train for some CPU seconds or environment steps."""
        start = time.process_time()

        def going(*_: Any) -> bool:
            return time.process_time() - start < seconds

        self.learner.learn(int(min(steps, 1e9)), callback=going)
        self.steps = self.learner.num_timesteps

    def act(self, observations: torch.Tensor) -> torch.Tensor:
        actions, _ = self.learner.predict(observations.numpy(), deterministic=True)
        return torch.as_tensor(actions)


class Skrl:
    """skrl, with its own wrapper around the environments."""

    NAME, PACKAGE = "skrl", "skrl"

    def __init__(self, task: rl.Task, seed: int):
        from skrl.agents.torch.ppo import PPO
        from skrl.envs.wrappers.torch import wrap_env
        from skrl.memories.torch import RandomMemory
        from skrl.resources.preprocessors.torch import RunningStandardScaler
        from skrl.trainers.torch import StepTrainer
        from skrl.utils import set_seed

        from .skrl_models import Actor, Critic

        set_seed(seed)
        self.task, recipe = task, task.recipe
        env = wrap_env(rl.VecEnv(task, recipe.envs, seed=seed), verbose=False)
        spaces = (env.observation_space, env.action_space)
        self.actor = Actor(*spaces, recipe.layers)
        self.agent = PPO(
            models={"policy": self.actor, "value": Critic(*spaces, recipe.layers)},
            memory=RandomMemory(memory_size=recipe.steps, num_envs=recipe.envs, device="cpu"),
            observation_space=env.observation_space,
            action_space=env.action_space,
            device="cpu",
            cfg={
                "rollouts": recipe.steps,
                "learning_epochs": recipe.epochs,
                "mini_batches": recipe.batches,
                "discount_factor": recipe.discount,
                "gae_lambda": recipe.trace,
                "ratio_clip": recipe.clip,
                "learning_rate": recipe.learning_rate,
                "time_limit_bootstrap": True,
                "observation_preprocessor": RunningStandardScaler,
                "observation_preprocessor_kwargs": {"size": env.observation_space, "device": "cpu"},
                "experiment": {"write_interval": 0, "checkpoint_interval": 0},
            },
        )
        options = {"timesteps": 10**9, "disable_progressbar": True, "headless": True}
        options["close_environment_at_exit"] = False
        self.trainer = StepTrainer(env=env, agents=self.agent, cfg=options)
        self.steps = 0

    def train(self, seconds: float = np.inf, steps: float = np.inf) -> None:
        """Train for some CPU seconds or environment steps."""
        start, recipe = time.process_time(), self.task.recipe
        while time.process_time() - start < seconds and self.steps < steps:
            for _ in range(recipe.steps):
                self.trainer.train()
            self.steps += recipe.steps * recipe.envs

    def act(self, observations: torch.Tensor) -> torch.Tensor:
        self.agent.enable_training_mode(False)
        seen = self.agent._observation_preprocessor(observations)
        return self.actor.compute({"observations": seen}, "policy")[0]


LEARNERS: tuple[type[RslRl] | type[Skrl] | type[SB3], ...] = (RslRl, Skrl, SB3)


def lengths(learner: RslRl | Skrl | SB3, envs: int = 64) -> float:
    """Mean length of first episodes without noise [s], in new environments."""
    task = learner.task
    env = rl.VecEnv(task, envs, seed=1000)
    seen, _ = env.reset()
    alive, steps = torch.ones(envs, dtype=torch.bool), torch.zeros(envs)
    with torch.no_grad():
        while bool(alive.any()):
            steps += alive
            seen, _, fell, late, _ = env.step(learner.act(seen))
            alive &= ~(fell | late)
    return float(steps.mean()) * task.step_seconds


def main() -> None:
    """Train with each learner in turn, print and store the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=60.0, help="CPU seconds of each learner")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    rows: list[dict[str, Any]] = []
    for seed in arguments.seeds:
        for kind in LEARNERS:
            learner = kind(Pendulum(), seed)
            before = lengths(learner)
            learner.train(arguments.seconds)
            after = lengths(learner)
            rows.append(
                {
                    "learner": kind.NAME,
                    "version": metadata.version(kind.PACKAGE),
                    "seed": seed,
                    "cpu_seconds": arguments.seconds,
                    "steps": learner.steps,
                    "seconds_before": round(before, 3),
                    "seconds_after": round(after, 3),
                }
            )
            print(rows[-1], flush=True)
    RESULTS.parent.mkdir(exist_ok=True)
    told = {"about": describe_run("cpu", ()), "task": "Pendulum", "longest": Pendulum.seconds}
    RESULTS.write_text(json.dumps(told | {"rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
