"""Tasks that come with warpdyn, by name."""

from difflib import get_close_matches

from .cartpole_tasks import CartpoleSwingUp
from .panda_tasks import PandaReach, PandaReachObstacles
from .quadruped_tasks import QuadrupedVelocity
from .task import Task, TaskError

TASKS: dict[str, type[Task]] = {
    "cartpole_swing_up": CartpoleSwingUp,
    "panda_reach": PandaReach,
    "panda_reach_obstacles": PandaReachObstacles,
    "quadruped_velocity": QuadrupedVelocity,
}


def make(name: str) -> Task:
    """A task by its name."""
    if name not in TASKS:
        near = get_close_matches(name, TASKS, n=2) or TASKS
        raise TaskError(f"there is no task {name!r}; there are {', '.join(near)}")
    return TASKS[name]()
