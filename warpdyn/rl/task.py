"""A task: what an environment begins with, what it observes, earns and ends by, as texts of one
robot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..algorithms.simulation.contact_rows import ContactPoint
from ..functions.simulation.described_simulation import PassiveForces
from ..functions.simulation.drives import PD
from ..functions.simulation.ground import FLAT, Ground
from ..functions.simulation.terrain import HeightMap, Plane
from ..model import Model
from .recipe import Recipe
from .variation import Noise, Push, Vary


class TaskError(ValueError):
    """A task that cannot be carried out, and what to change."""


class Episode:
    """One environment, as texts see it: fields by name.

    q (nq), v (nv), forces (points, 3) on the robot in the world [N], torques (joints), action and
    last_action, last_v (nv) of the step before, time since the beginning [s], random (a key of its
    own for every text and step); the task's `terrain` at this environment's place; the numbers of
    the task, its tables, what is kept over episodes, and all that `begin` has named.
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

    model, points, ground, terrain, drives, dt, substeps, sweeps, passive_forces: as of a
    `Simulation`, which friction, springs and contact numbers of a MJCF file act in too. actions: how many
    numbers a policy gives, each bounded to ±`largest_action`. seconds: length of an episode.
    scales: what each reward by its name counts for, in a second. numbers: arrays that texts read
    and a curriculum writes, by name. tables: arrays (rows, columns) that texts look up,
    `s.origins.look(row, column)`. keep: what an environment keeps from episode to episode, by name:
    numbers, arrays, or a `Vary` that is drawn once. groups: terms of the observation by group, the
    policy's group first, the critic's last; all terms in one group "policy" where there is none.
    noise: on terms of the policy's group, by term. history: by group, how many of the last
    observations it has, the oldest first. vary: numbers of the simulation that are drawn
    (`friction`, `kp`, `mass`, `latency` ...), by name. push: of a free base. commanded: which of the
    carried is a command, that a user gives where the policy moves a robot. recipe: how it is trained.
    """

    model: Model
    points: Sequence[ContactPoint] = ()
    ground: Ground = FLAT
    terrain: HeightMap | Plane | None = None
    drives: PD | None = None
    dt: float = 0.005
    substeps: int = 4
    sweeps: int = 4
    passive_forces: PassiveForces | None = None
    actions: int
    largest_action: float = 6.0
    seconds: float = 20.0
    scales: Mapping[str, float]
    numbers: Mapping[str, Any] = {}
    tables: Mapping[str, Any] = {}
    keep: Mapping[str, Any] = {}
    groups: Mapping[str, Sequence[str]] = {}
    noise: Mapping[str, Noise] = {}
    history: Mapping[str, int] = {}
    vary: Mapping[str, Vary] = {}
    push: Push | None = None
    commanded: str = ""
    recipe: Recipe = Recipe()

    def begin(self, robot: Any, s: Episode) -> dict[str, Any]:
        """What an episode begins with: q, v, and what else is carried from step to step, by name.

        Of `s` there are `random`, the numbers and tables, and what is kept. `origin` (3,) is the
        environment's place in a height map.
        """
        raise NotImplementedError

    def control(self, robot: Any, s: Episode) -> dict[str, Any]:
        """What an action means: `targets` (joints) of the drives, `tau` (nv), or both."""
        raise NotImplementedError

    def update(self, robot: Any, s: Episode) -> dict[str, Any]:
        """What is carried, after the simulation's step: those of `begin`'s names that change."""
        return {}

    def observe(self, robot: Any, s: Episode) -> Any:
        """What is seen: terms by name, arrays or numbers; or one array."""
        raise NotImplementedError

    def reward(self, robot: Any, s: Episode) -> dict[str, Any]:
        """Rewards in a second, by name."""
        raise NotImplementedError

    def ended(self, robot: Any, s: Episode) -> Any:
        """Whether the episode is over before its time: a condition."""
        return False

    def promote(self, robot: Any, s: Episode) -> dict[str, Any]:
        """What of `keep` changes when an episode ends."""
        return {}

    def measure(self, robot: Any, s: Episode) -> dict[str, Any]:
        """What an evaluation reports beside rewards, by name: of what is carried, without forces."""
        return {}

    @property
    def name(self) -> str:
        """The task's name in sentences."""
        return type(self).__name__

    @property
    def step_seconds(self) -> float:
        """Time from one action to the next [s]."""
        return self.dt * self.substeps
