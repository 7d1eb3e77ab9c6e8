"""A task: what an environment begins with, what it observes, earns and ends by, as texts of one
robot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from ..algorithms.contact_rows import ContactPoint
from ..functions.drives import PD
from ..functions.ground import FLAT, Ground
from ..kernels import random_numbers
from ..kernels.random_numbers import Key
from ..model import Model
from .recipe import Recipe

When = Literal["startup", "reset", "interval"]
Law = Literal["uniform", "log_uniform", "normal"]
How = Literal["abs", "scale", "add"]


class TaskError(ValueError):
    """A task that cannot be carried out, and what to change."""


class Vary(NamedTuple):
    """A number of the simulation that is drawn for each environment.

    law: "uniform" and "log_uniform" between low and high; "normal" with mean low and deviation high.
    how: "abs" is the number itself, "scale" a factor of the default, "add" what is added to it.
    when: "startup" once, "reset" with each episode, "interval" every `seconds` too.
    """

    low: float
    high: float
    law: Law = "uniform"
    how: How = "abs"
    when: When = "reset"
    seconds: float = 5.0

    def drawn(self, key: Key, default: Any) -> Any:
        """A value for an environment, always from the default: never cumulative."""
        shape = np.shape(default)
        if self.law == "normal":
            x: Any = random_numbers.normal(key, shape, self.low, self.high)
        elif self.law == "uniform":
            x = random_numbers.uniform(key, shape, self.low, self.high)
        else:
            low, high = np.log(self.low), np.log(self.high)
            x = np.exp(random_numbers.uniform(key, shape, low, high))
        return x if self.how == "abs" else x * default if self.how == "scale" else x + default


class Push(NamedTuple):
    """Velocity that a free base is given every `seconds` [s], in a random level direction [m/s]."""

    speed: float
    seconds: float = 5.0


class Episode:
    """One environment, as texts see it: fields by name.

    q (nq), v (nv), forces (points, 3) on the robot in the world [N], torques (joints), action and
    last_action, last_v (nv) of the step before, time since the beginning [s], random (a key of its
    own for every text and step); the numbers of the task, and all that `begin` has named.
    """

    def __init__(self, fields: Mapping[str, Any]):
        self.__dict__.update(fields)

    def with_fields(self, **fields: Any) -> Episode:
        """The same with other values."""
        return Episode({**self.__dict__, **fields})

    def __getattr__(self, name: str) -> Any:
        known = ", ".join(n for n in self.__dict__ if not n.startswith("_"))
        raise AttributeError(f"an episode has no {name!r}; it has {known}")


class Task:
    """What a robot is to learn: numbers as attributes, and five texts over one robot.

    A task of one's own is a class with these attributes and methods. Texts are written as those of
    `wd.kernel`, in NumPy's notation; `robot` has warpdyn's functions, `s` is an `Episode`. All of it
    becomes one launch a step: `substeps` steps of `dt`, reward, end, reset and observation.

    model, points, ground, drives, dt, substeps, sweeps: of the simulation. actions: how many
    numbers a policy gives, each bounded to ±`largest_action`. seconds: length of an episode.
    scales: what each reward by its name counts for, in a second. numbers: arrays that texts read
    and a curriculum writes, by name. vary: numbers of the simulation that are drawn (`friction`,
    `kp`, `kd`, `effort`, `gravity`), by name. push: of a free base. recipe: how it is trained.
    """

    model: Model
    points: Sequence[ContactPoint] = ()
    ground: Ground = FLAT
    drives: PD | None = None
    dt: float = 0.005
    substeps: int = 4
    sweeps: int = 4
    actions: int
    largest_action: float = 6.0
    seconds: float = 20.0
    scales: Mapping[str, float]
    numbers: Mapping[str, Any] = {}
    vary: Mapping[str, Vary] = {}
    push: Push | None = None
    recipe: Recipe = Recipe()

    def begin(self, robot: Any, s: Episode) -> dict[str, Any]:
        """What an episode begins with: q, v, and what else is carried from step to step, by name.

        Of `s` there are `random` and the numbers.
        """
        raise NotImplementedError

    def control(self, robot: Any, s: Episode) -> dict[str, Any]:
        """What an action means: `targets` (joints) of the drives, `tau` (nv), or both."""
        raise NotImplementedError

    def update(self, robot: Any, s: Episode) -> dict[str, Any]:
        """What is carried, after the simulation's step: those of `begin`'s names that change."""
        return {}

    def observe(self, robot: Any, s: Episode) -> Any:
        """What the policy sees: an array, or several by name (`{"policy": ..., "critic": ...}`)."""
        raise NotImplementedError

    def reward(self, robot: Any, s: Episode) -> dict[str, Any]:
        """Rewards in a second, by name."""
        raise NotImplementedError

    def ended(self, robot: Any, s: Episode) -> Any:
        """Whether the episode is over before its time: a condition."""
        return False

    @property
    def name(self) -> str:
        """The task's name in sentences."""
        return type(self).__name__

    @property
    def step_seconds(self) -> float:
        """Time from one action to the next [s]."""
        return self.dt * self.substeps
