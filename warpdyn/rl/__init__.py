"""Reinforcement learning: tasks written as texts of one robot, thousands of them in one launch a step."""

try:
    from .cartpole_tasks import CartpoleSwingUp
    from .policy import Policy, export
    from .quadruped import Quadruped
    from .quadruped_tasks import QuadrupedVelocity
    from .recipe import Recipe
    from .rough_tasks import QuadrupedRough
    from .rsl_rl import RslEnv
    from .task import Episode, Task, TaskError
    from .tasks import TASKS, make
    from .training import Progress, Trainer
    from .variation import Noise, Push, Vary
    from .vec_env import VecEnv
except ModuleNotFoundError as error:
    raise ImportError(
        f"warpdyn.rl needs {error.name}, which is not installed: pip install 'warpdyn[rl]'"
    ) from error

__all__ = [
    "TASKS",
    "CartpoleSwingUp",
    "Episode",
    "Noise",
    "Policy",
    "Progress",
    "Push",
    "Quadruped",
    "QuadrupedRough",
    "QuadrupedVelocity",
    "Recipe",
    "RslEnv",
    "Task",
    "TaskError",
    "Trainer",
    "Vary",
    "VecEnv",
    "export",
    "make",
]
