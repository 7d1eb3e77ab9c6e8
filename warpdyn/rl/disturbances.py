"""A policy under disturbances: the same task with one of them at a time."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from pathlib import Path
from typing import Any, Literal

import numpy as np

from ..model.scene.free_bodies import robot_base
from .adapters.mujoco_env import MujocoEnv
from .domain_randomization import can_have_bumps, uneven_ground
from .evaluation import Evaluation, Watch, evaluate_in, find_task_and_policy
from .policy import Policy
from .task import Task, TaskError
from .variation import ORIGIN, Push, Vary, with_defaults
from .vec_env import VecEnv

Simulator = Literal["warpdyn", "mujoco"]

FRICTION = 0.8
"""Friction of the ground, unless it is the disturbance."""

BUMPS = 0.02
"""Height of the bumps of uneven ground [m]."""

AT_ONCE = 1e6
"""Rate of a command that jumps [m/s², rad/s²]."""


def disturbed_tasks(task: Task) -> dict[str, Task]:
    """The task without disturbances, and with each disturbance that it can have, by name.

    All are without noise and without the task's own pushes. What the task varies has its default,
    except for places on a height map. Ground friction is 0.8. The disturbances: pushes of 1 m/s in a
    random direction every 3 s, friction 0.2, bumps of up to 2 cm on level ground, targets that reach
    the drives 20 ms late, 5 kg at the centre of the base, 0.8 of the motors' strength and gains, a
    command that jumps instead of growing, and joint friction of 0.1 v² [N m].
    """
    # The disturbances of the nominal task, in the order of the table that shows them.
    nominal = copy(task)
    nominal.noise, nominal.push = {}, None
    # Observations and rewards may read what the task varies, for example the mass of an object.
    nominal.vary = with_defaults(task.vary)
    if ORIGIN in task.vary:  # where episodes begin on a height map
        nominal.vary[ORIGIN] = task.vary[ORIGIN]
    if task.points:
        nominal.vary["friction"] = _always(FRICTION)
    found = {"none": nominal}

    def add(name: str, **vary: Vary) -> None:
        found[name] = copy(nominal)
        found[name].vary = {**nominal.vary, **vary}

    base = robot_base(task.model)
    if base is not None:
        add("push 1 m/s every 3 s")
        found["push 1 m/s every 3 s"].push = Push(1.0, 3.0, least=1.0)
    if task.points:
        add("friction 0.2", friction=_always(0.2))
    if can_have_bumps(task):
        add("bumps of 2 cm")
        vars(found["bumps of 2 cm"]).update(uneven_ground(nominal, BUMPS))
    if task.drives is not None:
        add("latency 20 ms", latency=_always(0.02))
    if base is not None:
        add("5 kg on the base", mass=Vary(5.0, 5.0, how="add", of=base))
    if task.drives is not None:
        add("motors at 0.8", strength=Vary(0.8, 0.8, how="scale"))
    if "command_rate" in task.numbers:
        add("command at once")
        rate = np.full(np.shape(task.numbers["command_rate"]), AT_ONCE)
        found["command at once"].numbers = {**task.numbers, "command_rate": rate}
    if task.drives is not None:
        add("joint friction 0.1 v²", quadratic_friction=_always(0.1))
    return found


def evaluate_disturbed(
    task: Task | str,
    policy: Policy | str | Path | None = None,
    *,
    envs: int = 200,
    seconds: float | None = None,
    seed: int = 0,
    simulator: Simulator = "warpdyn",
    watch: Watch = iter,
) -> Mapping[str, Evaluation]:
    """Evaluations of a policy in each of the `disturbed_tasks`, by name.

    policy: a policy or its file; None: the one that comes with warpdyn. seconds: length of each
    episode, at most the task's. simulator: "mujoco" is MuJoCo C, as in `sim2sim`.
    """
    if simulator not in ("warpdyn", "mujoco"):
        raise TaskError(f'simulator must be "warpdyn" or "mujoco", got {simulator!r}')
    task, policy = find_task_and_policy(task, policy)
    made: Any = VecEnv if simulator == "warpdyn" else MujocoEnv
    return {
        name: evaluate_in(made(each, envs, seed=seed), policy, seconds, watch)
        for name, each in disturbed_tasks(task).items()
    }


def _always(value: float) -> Vary:
    return Vary(value, value)
