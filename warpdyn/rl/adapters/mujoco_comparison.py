"""Comparison of a policy in warpdyn's simulation and in MuJoCo C."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ...model.old_members import OldMember
from ..evaluation import Evaluation, Watch, evaluate_in, find_task_and_policy
from ..policy import Policy
from ..task import Task
from ..vec_env import VecEnv
from .mujoco_env import MujocoEnv, without_noise


@dataclass(frozen=True)
class SideBySide:
    """Results of a policy in warpdyn, where it was trained (`here`), and in MuJoCo C (`there`)."""

    here: Evaluation
    there: Evaluation
    dt: float
    """MuJoCo's step [s]."""

    @property
    def return_ratio(self) -> float:
        """Return in MuJoCo divided by the return in warpdyn; NaN if the latter is not positive."""
        here = self.here.returned
        return self.there.returned / here if here > 0 else float("nan")

    kept = OldMember("kept", "return_ratio")


def sim2sim(
    task: Task | str,
    policy: Policy | str | Path | None = None,
    *,
    envs: int = 48,
    seconds: float | None = None,
    dt: float | None = None,
    contact_time: float | None = None,
    seed: int = 0,
    watch: Watch = iter,
) -> SideBySide:
    """Evaluations of a policy in the task's environments and in the same environments in MuJoCo C.

    Both start with the same states, commands, pushes and varied numbers, from the same random
    numbers, and neither has noise. policy: a policy or its file; None: the one that comes with
    warpdyn. seconds: length of each episode, at most the task's. dt, contact_time: MuJoCo's step
    and the time constant of its contacts [s]; None: as in `MujocoEnv`, 2.5 ms and MuJoCo's own 20 ms,
    on a height map or with contact pairs 0.5 ms and 4 ms.
    """
    task, policy = find_task_and_policy(task, policy)
    task = without_noise(task)
    there = MujocoEnv(task, envs, dt=dt, contact_time=contact_time, seed=seed)
    here = evaluate_in(VecEnv(task, envs, seed=seed), policy, seconds, watch)
    return SideBySide(here, evaluate_in(there, policy, seconds, watch), there.dt)
