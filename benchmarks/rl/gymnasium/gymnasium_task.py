"""Base class of the tasks in this folder, with robots from files of the gymnasium package."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import gymnasium
import numpy as np

import warpdyn as wd
from warpdyn import rl
from warpdyn.algorithms.simulation.contact_shapes import ContactPair
from warpdyn.description import ContactSoftness, PairContact
from warpdyn.formats.mjcf.mjcf_softness import SOLIMP, SOLREF, reference_rates
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
    """Model of a Gymnasium file, without the remarks on parts that are not simulated."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", wd.ModelWarning)
        return wd.load(ASSETS / file)


SOFT_PAIR = PairContact(
    friction=0.0,
    softness=ContactSoftness(*reference_rates(SOLREF, SOLIMP[1], timestep=0.0), SOLIMP),
)
"""Contacts between links of all these files: without friction, with MuJoCo's default softness."""


def with_margin(pairs: Sequence[ContactPair], margin: float) -> list[ContactPair]:
    """The pairs with a margin around their first shapes, which are spheres or capsules [m]."""
    found = []
    for pair in pairs:
        radius, *length = pair.first.size
        wider = pair.first._replace(size=(radius + margin, *length))
        found.append(pair._replace(first=wider))
    return found


def sum_of_squares(x: Any) -> Any:
    """Sum of squares."""
    return np.sum(x * x)


def number(condition: Any) -> Any:
    """1 if the condition is true, else 0."""
    return np.where(condition, 1.0, 0.0)
