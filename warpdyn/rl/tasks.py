"""Tasks that come with warpdyn, by name."""

from collections.abc import Callable
from difflib import get_close_matches
from inspect import signature
from typing import Any

import gymnasium

from .cartpole_tasks import CartpoleSwingUp
from .quadruped_tasks import QuadrupedVelocity
from .rough_tasks import QuadrupedRough
from .task import Task, TaskError
from .vec_env import VecEnv

TASKS: dict[str, type[Task]] = {
    "cartpole_swing_up": CartpoleSwingUp,
    "quadruped_rough": QuadrupedRough,
    "quadruped_velocity": QuadrupedVelocity,
}


def make(name: str, **options: Any) -> Task:
    """A task by its name, made with options of its own: a quadruped's `model` and `body`."""
    if name not in TASKS:
        near = get_close_matches(name, TASKS, n=2) or TASKS
        raise TaskError(f"there is no task {name!r}; there are {', '.join(near)}")
    task: Callable[..., Task] = TASKS[name]
    if unknown := set(options) - set(signature(task).parameters):
        raise TaskError(f"{name} takes no {' and no '.join(sorted(unknown))}: its robot is fixed")
    return task(**options)


def environments(task: str, num_envs: int = 1, **options: Any) -> VecEnv:
    """What `gymnasium.make_vec("warpdyn/QuadrupedVelocity-v0", num_envs=4096)` makes."""
    return VecEnv(make(task), num_envs, **options)


for _name, _task in TASKS.items():
    # What `gymnasium.make_vec` knows them by: warpdyn/QuadrupedVelocity-v0.
    gymnasium.register(
        id=f"warpdyn/{_task.__name__}-v0",
        vector_entry_point="warpdyn.rl.tasks:environments",
        kwargs={"task": _name},
    )
