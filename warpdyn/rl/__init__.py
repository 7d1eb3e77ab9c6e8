"""Reinforcement learning: tasks written as functions of one robot, with thousands of environments
in one launch per step.

Running a policy needs only onnxruntime, as on a robot. The modules for learning are imported on
first use.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from ..model.old_members import warn_of_old_name
from ..model.optional_packages import install_extra

try:
    from . import terms
    from .bundled_policies import bundled_policy
    from .deployed_policy import DeployedPolicy
    from .policy import Policy
    from .recipe import Recipe
    from .reward import Reward
    from .task import Episode, Task, TaskError
    from .tasks import TASKS, make
    from .tasks.cartpole_tasks import CartpoleSwingUp
    from .tasks.getup_tasks import QuadrupedGetup
    from .tasks.humanoid_tasks import (
        HumanoidStand,
        HumanoidStandOnboard,
        HumanoidVelocity,
        HumanoidVelocityOnboard,
    )
    from .tasks.lift_tasks import PandaLift
    from .tasks.motion_clip import MotionClip
    from .tasks.panda_tasks import PandaReach, PandaReachObstacles
    from .tasks.push_tasks import PandaPush
    from .tasks.quadruped import Quadruped
    from .tasks.quadruped_tasks import QuadrupedVelocity, QuadrupedVelocityOnboard
    from .tasks.reorient_tasks import HandReorient
    from .tasks.rough_tasks import QuadrupedRough, QuadrupedRoughOnboard
    from .tasks.tracking_tasks import MotionTracking, MotionTrackingOnboard
    from .variation import (
        SIM_TO_REAL,
        SIM_TO_REAL_ARM,
        DomainRandomization,
        HeldPush,
        Noise,
        Push,
        Vary,
    )

    if find_spec("gymnasium") is not None:
        from .adapters.registration import register

        register()
except ModuleNotFoundError as error:
    raise ImportError(
        f"warpdyn.rl needs {error.name}, which is not installed: pip install {error.name}, or, to "
        f"learn as well, {install_extra('rl')}"
    ) from error

if TYPE_CHECKING:
    from .adapters.mujoco_comparison import SideBySide, sim2sim
    from .adapters.mujoco_env import MujocoEnv
    from .adapters.numpy_env import NumpyEnv
    from .adapters.plain_step import plain_step
    from .adapters.single_env import SingleEnv
    from .disturbances import evaluate_disturbed
    from .evaluation import Evaluation, evaluate
    from .export_policy import describe, export
    from .learners.rsl_rl import RslEnv
    from .progress import Progress
    from .several_processes import Processes, ProcessLostError
    from .training import Trainer
    from .vec_env import VecEnv

_LEARNS = {
    "Evaluation": "evaluation",
    "MujocoEnv": "adapters.mujoco_env",
    "NumpyEnv": "adapters.numpy_env",
    "ProcessLostError": "several_processes",
    "Processes": "several_processes",
    "Progress": "progress",
    "RslEnv": "learners.rsl_rl",
    "SideBySide": "adapters.mujoco_comparison",
    "SingleEnv": "adapters.single_env",
    "Trainer": "training",
    "VecEnv": "vec_env",
    "describe": "export_policy",
    "evaluate": "evaluation",
    "evaluate_disturbed": "disturbances",
    "export": "export_policy",
    "plain_step": "adapters.plain_step",
    "sim2sim": "adapters.mujoco_comparison",
}
"""Names that need Torch, and their modules."""


_RENAMED = {"Deployed": "DeployedPolicy", "shipped": "bundled_policy"}
"""Old names, which still work with a warning, and their new names."""


def __getattr__(name: str) -> Any:
    """Import a name for learning on its first use, and find an old name with a warning."""
    if name in _RENAMED:
        new = _RENAMED[name]
        warn_of_old_name(f"wd.rl.{name}", f"wd.rl.{new}")
        return globals()[new]
    if name not in _LEARNS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        module = import_module(f".{_LEARNS[name]}", __name__)
    except ModuleNotFoundError as error:
        raise ImportError(
            f"warpdyn.rl.{name} needs {error.name}, which is not installed: {install_extra('rl')}"
        ) from error
    return getattr(module, name)


__all__ = [
    "SIM_TO_REAL",
    "SIM_TO_REAL_ARM",
    "TASKS",
    "CartpoleSwingUp",
    "DeployedPolicy",
    "DomainRandomization",
    "Episode",
    "Evaluation",
    "HandReorient",
    "HeldPush",
    "HumanoidStand",
    "HumanoidStandOnboard",
    "HumanoidVelocity",
    "HumanoidVelocityOnboard",
    "MotionClip",
    "MotionTracking",
    "MotionTrackingOnboard",
    "MujocoEnv",
    "Noise",
    "NumpyEnv",
    "PandaLift",
    "PandaPush",
    "PandaReach",
    "PandaReachObstacles",
    "Policy",
    "ProcessLostError",
    "Processes",
    "Progress",
    "Push",
    "Quadruped",
    "QuadrupedGetup",
    "QuadrupedRough",
    "QuadrupedRoughOnboard",
    "QuadrupedVelocity",
    "QuadrupedVelocityOnboard",
    "Recipe",
    "Reward",
    "RslEnv",
    "SideBySide",
    "SingleEnv",
    "Task",
    "TaskError",
    "Trainer",
    "Vary",
    "VecEnv",
    "bundled_policy",
    "describe",
    "evaluate",
    "evaluate_disturbed",
    "export",
    "make",
    "plain_step",
    "sim2sim",
    "terms",
]
