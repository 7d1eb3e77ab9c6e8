"""Evaluation of a policy without exploration, in episodes of many environments."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .bundled_policies import bundled_policy
from .deployment.deployment_record import say_other_programs
from .policy import Policy
from .task import Task, TaskError
from .tasks import make
from .vec_env import VecEnv

Watch = Callable[[range], Iterable[int]]
"""Iterator over the steps: `iter`, or a progress bar."""


@dataclass(frozen=True)
class Evaluation:
    """Means over environments, each in its first episode.

    returned: all rewards per second of the requested time; a robot that falls earns nothing from
    then on. rewards: the same, by name. measures: those of the task's `measure`, by name: means over
    all steps of all environments after which an episode continues, except the last step, so that an
    episode that ends early counts less. last: means over the environments of the latest of these
    values; one that ended in its first step has none.
    falls: share of episodes that ended before their time. length: length of the episodes [s].
    nonfinite_actions: number of the policy's actions with a NaN or infinite entry (a count, not a
    mean). NaN ends an episode; infinity acts as the largest action.
    failed: number of episodes that ended because the state was not finite; they are among the
    falls.
    """

    envs: int
    seconds: float
    returned: float
    rewards: dict[str, float]
    measures: dict[str, float]
    last: dict[str, float]
    falls: float
    length: float
    nonfinite_actions: int = 0
    failed: int = 0


def evaluate(
    task: Task | str,
    policy: Policy | str | Path | None = None,
    *,
    envs: int = 256,
    seconds: float | None = None,
    seed: int = 0,
    watch: Watch = iter,
) -> Evaluation:
    """Evaluation of a policy in the task's environments, including noise and varied numbers.

    policy: a policy or its file; None: the one that comes with warpdyn. seconds: length of each
    episode, at most the task's.
    """
    task, policy = find_task_and_policy(task, policy)
    return evaluate_in(VecEnv(task, envs, seed=seed), policy, seconds, watch)


def find_task_and_policy(
    task: Task | str, policy: Policy | str | Path | None
) -> tuple[Task, Policy]:
    """A task by its name and a policy by its file, or the bundled policy of the task. A line on
    stderr says if the policy's observations or commands were different in its training."""
    task = make(task) if isinstance(task, str) else task
    if policy is None:
        policy = bundled_policy(task)
    policy = policy if isinstance(policy, Policy) else Policy(policy)
    say_other_programs(policy.path, policy.deployment, task)
    return task, policy


def evaluate_in(
    env: VecEnv, policy: Policy, seconds: float | None = None, watch: Watch = iter
) -> Evaluation:
    """Evaluation of a policy in these environments, from their start."""
    task, kernels = env.task, env.kernels
    group = kernels.observation.policy
    policy.check(task, kernels.observations[group][0])
    length = task.seconds if seconds is None else float(seconds)
    steps = round(length / task.step_seconds)
    if not 1 <= steps <= kernels.length:
        raise TaskError(
            f"an episode of {task.name} lasts {task.seconds:g} s: seconds must be at most that and "
            f"at least a step, got {length:g}"
        )
    env.reset(seed=env.kernels.seed)  # from their start, also if they have run before
    tally = _Tally(env)
    for k in watch(range(steps)):
        actions = policy(env.observations[group].cpu().numpy())
        tally.add(env.step(actions), measured=k < steps - 1)
    return tally.mean(steps)


class _Tally:
    """Sums over the first episodes of environments."""

    def __init__(self, env: VecEnv):
        self.env, n = env, env.num_envs
        self.living, self.fallen, self.age = np.ones(n, bool), np.zeros(n, bool), np.zeros(n)
        self.earned = np.zeros((n, len(env.kernels.rewards)))
        self.sums: dict[str, np.ndarray] = {}
        self.latest: dict[str, np.ndarray] = {}
        self.counted = np.zeros(n)
        self.nonfinite_actions, self.failed = 0, 0
        self.measures = getattr(env.task.measure, "__func__", None) is not Task.measure

    def add(self, stepped: Any, measured: bool) -> None:
        """Add a step: the results of `VecEnv.step`."""
        _, _, terminated, truncated, info = stepped
        fell, late = terminated.cpu().numpy(), truncated.cpu().numpy()
        over = self.living & (fell | late)
        odd = info["nonfinite_action"].cpu().numpy()
        self.nonfinite_actions += int((self.living & odd).sum())
        self.failed += int((self.living & info["failed"].cpu().numpy()).sum())
        self.age += self.living
        self.fallen |= self.living & fell
        names = self.env.kernels.rewards
        ended = np.stack([info["episode"][n].cpu().numpy() for n in names], 1)
        self.earned[over] = ended[over]
        self.living &= ~over
        sums = self.env.carried["sums"].cpu().numpy()
        self.earned[self.living] = sums[self.living]
        if not (measured and self.measures):
            return
        self.counted += self.living
        for name, x in self.env.measures().items():
            now = x.cpu().numpy().astype(float)
            self.sums.setdefault(name, np.zeros(len(now)))[self.living] += now[self.living]
            latest = self.latest.setdefault(name, np.full(len(now), np.nan))
            latest[self.living] = now[self.living]

    def mean(self, steps: int) -> Evaluation:
        """Means of the added steps."""
        env, step = self.env, self.env.task.step_seconds
        rewards = self.earned.mean(0) / (steps * step)
        count = max(self.counted.sum(), 1.0)
        return Evaluation(
            envs=env.num_envs,
            seconds=steps * step,
            returned=float(rewards.sum()),
            rewards=dict(zip(env.kernels.rewards, rewards.tolist(), strict=True)),
            measures={n: float(x.sum() / count) for n, x in self.sums.items()},
            last={n: _mean(x) for n, x in self.latest.items()},
            falls=float(self.fallen.mean()),
            length=float(self.age.mean()) * step,
            nonfinite_actions=self.nonfinite_actions,
            failed=self.failed,
        )


def _mean(x: np.ndarray) -> float:
    """The mean of the entries that are not NaN."""
    there = x[~np.isnan(x)]
    return float(there.mean()) if len(there) else float("nan")
