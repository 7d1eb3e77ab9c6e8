"""Tasks that come with warpdyn, by name."""

from collections.abc import Callable
from difflib import get_close_matches
from inspect import signature
from typing import Any

from ..task import Task, TaskError
from .cartpole_tasks import CartpoleSwingUp
from .humanoid_tasks import HumanoidStand, HumanoidVelocity
from .lift_tasks import PandaLift
from .panda_tasks import PandaReach, PandaReachObstacles
from .push_tasks import PandaPush
from .quadruped_tasks import QuadrupedVelocity
from .rough_tasks import QuadrupedRough

TASKS: dict[str, type[Task]] = {
    "cartpole_swing_up": CartpoleSwingUp,
    "panda_lift": PandaLift,
    "panda_push": PandaPush,
    "panda_reach": PandaReach,
    "panda_reach_obstacles": PandaReachObstacles,
    "humanoid_stand": HumanoidStand,
    "humanoid_velocity": HumanoidVelocity,
    "quadruped_rough": QuadrupedRough,
    "quadruped_velocity": QuadrupedVelocity,
}
"""Tasks that come with warpdyn, by the names for `make`."""


def make(name: str, **options: Any) -> Task:
    """A task by its name, with options such as a quadruped's `model` and `body`."""
    if name not in TASKS:
        near = get_close_matches(name, TASKS, n=2) or TASKS
        raise TaskError(f"there is no task {name!r}; there are {', '.join(near)}")
    task: Callable[..., Task] = TASKS[name]
    if unknown := set(options) - set(signature(task).parameters):
        raise TaskError(f"{name} takes no {' and no '.join(sorted(unknown))}: its robot is fixed")
    return task(**options)
