"""Tasks that come with warpdyn, by name."""

from typing import Any

from ...model.names import spelling_hint
from ..task import Task, TaskError
from .cartpole_tasks import CartpoleSwingUp
from .getup_tasks import QuadrupedGetup
from .humanoid_tasks import (
    HumanoidStand,
    HumanoidStandOnboard,
    HumanoidVelocity,
    HumanoidVelocityOnboard,
)
from .lift_tasks import PandaLift
from .panda_tasks import PandaReach, PandaReachObstacles
from .push_tasks import PandaPush
from .quadruped_tasks import QuadrupedVelocity, QuadrupedVelocityOnboard
from .reorient_tasks import HandReorient
from .rough_tasks import QuadrupedRough, QuadrupedRoughOnboard
from .task_files import FORMS, construct, names_a_file, source_of_task
from .tracking_tasks import MotionTracking, MotionTrackingOnboard

TASKS: dict[str, type[Task]] = {
    "cartpole_swing_up": CartpoleSwingUp,
    "hand_reorient": HandReorient,
    "panda_lift": PandaLift,
    "panda_push": PandaPush,
    "panda_reach": PandaReach,
    "panda_reach_obstacles": PandaReachObstacles,
    "humanoid_stand": HumanoidStand,
    "humanoid_stand_onboard": HumanoidStandOnboard,
    "humanoid_velocity": HumanoidVelocity,
    "humanoid_velocity_onboard": HumanoidVelocityOnboard,
    "motion_tracking": MotionTracking,
    "motion_tracking_onboard": MotionTrackingOnboard,
    "quadruped_getup": QuadrupedGetup,
    "quadruped_rough": QuadrupedRough,
    "quadruped_rough_onboard": QuadrupedRoughOnboard,
    "quadruped_velocity": QuadrupedVelocity,
    "quadruped_velocity_onboard": QuadrupedVelocityOnboard,
}
"""Tasks that come with warpdyn, by the names for `make`."""


def source(name: str) -> Any:
    """The class of a task by its name; for `my.py:Hopper` the class, function or task there."""
    if names_a_file(name):
        return source_of_task(name)
    if name not in TASKS:
        hint = spelling_hint(name, TASKS) or ";"
        raise TaskError(
            f"there is no task {name!r}{hint} there are {', '.join(TASKS)}, and your own as {FORMS}"
        )
    return TASKS[name]


def make(name: str, **options: Any) -> Task:
    """A task by its name, with options such as a quadruped's `model` and `body`.

    name: of a task that comes with warpdyn, or `my.py:Hopper` or `package.module:Hopper` for a
    class of `Task`, or for a function that returns a task.
    """
    return construct(name, source(name), options)
