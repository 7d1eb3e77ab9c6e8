"""Reinforcement learning: tasks written as texts of one robot, thousands of them in one launch a step."""

from .task import Episode, Push, Task, Vary
from .vec_env import VecEnv

__all__ = ["Episode", "Push", "Task", "Vary", "VecEnv"]
