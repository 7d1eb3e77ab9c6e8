"""What all tasks of this folder share: the robot of a file of the installed gymnasium package."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import gymnasium
import numpy as np

import warpdyn as wd
from warpdyn import rl
from warpdyn.description import PairContact
from warpdyn.functions.simulation.step_options import Integrator

ASSETS = Path(gymnasium.__file__).parent / "envs" / "mujoco" / "assets"
"""Folder of the MJCF files."""

STEPS = 1000
"""Steps of an episode of most environments."""


class GymnasiumTask(rl.Task):
    """A task with the robot, observations, actions, rewards and ends of a Gymnasium environment.

    environment: its name in Gymnasium's registry. file: its MJCF file. weights: factors of its
    rewards in each step, by name. length: steps of an episode. Gymnasium adds rewards of steps, and
    warpdyn adds rewards per second over time, so the weights are divided by the time of a step.
    A training multiplies rewards by `learned_share`, so that values are not much larger than 10.
    Actions are controls of the file's actuators, equal in all substeps. Steps are those of the file:
    integrator, duration, and joint limits and contacts that give way as in MuJoCo.
    """

    environment: ClassVar[str]
    file: ClassVar[str]
    weights: ClassVar[dict[str, float]]
    length: ClassVar[int] = STEPS
    learned_share: ClassVar[float] = 0.1
    stops, ground = "soft", wd.Ground(softness="description")
    integrator: Integrator = "mujoco_rk4"
    sweeps = 10

    def __init__(self) -> None:
        self.model = read_model(self.file)
        self.first = np.asarray(self.model.configurations["qpos0"], dtype=float)
        self.seconds = self.length * self.step_seconds
        self.scales = {name: x / self.step_seconds for name, x in self.weights.items()}
        learned = {name: x * self.learned_share for name, x in self.scales.items()}
        self.recipe = replace(type(self).recipe, practice={"scales": learned})

    def control(self, robot: Any, s: rl.Episode) -> dict[str, Any]:
        return {"tau": robot.actuator_torques(s.q, s.v, s.action)}

    def mujoco_state(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The state of one robot in MuJoCo's order and axes."""
        return q, v


def read_model(file: str) -> wd.Model:
    """The model of a file of Gymnasium, without remarks on the parts that are not simulated."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", wd.ModelWarning)
        return wd.load(ASSETS / file)


def soft_pair(mass: float, h: float) -> PairContact:
    """The contact of a light body of this mass [kg] as MuJoCo has it by default in steps of h seconds.

    Inside by r, MuJoCo's v+ + h R f = h K d r with R = (1 - d) / d / mass, d = 0.95 and 1 / √K = d times
    20 ms, apart from its damper, which leaves 1 - h b of the velocity, b = 105/s. Ours is v+ + h R' f =
    r / (h + c) with R' = 1 / (h k (h + c)) for the stiffness k and the dissipation c.
    """
    d = 0.95
    rate = h * d / (d * 0.02) ** 2
    R = (1.0 - d) / d / mass
    return PairContact(friction=0.0, stiffness=rate / (h * R), dissipation=1.0 / rate - h)


def sum_of_squares(x: Any) -> Any:
    """Sum of squares."""
    return np.sum(x * x)


def number(condition: Any) -> Any:
    """1 where the condition is true, else 0."""
    return np.where(condition, 1.0, 0.0)
