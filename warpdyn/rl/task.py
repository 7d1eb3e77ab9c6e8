"""A task: how an environment begins, and its observations, rewards and ends, as functions of one
robot."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic

import numpy as np

from ..algorithms.simulation.contact_rows import ContactPoint
from ..algorithms.simulation.contact_shapes import ContactPair
from ..execution.request.call import STANDARD_GRAVITY
from ..functions.simulation.contact_pairs import RIGID, PairContact
from ..functions.simulation.described_simulation import PassiveForces
from ..functions.simulation.drives import PD, Stops
from ..functions.simulation.ground import FLAT, Ground
from ..functions.simulation.step_options import Integrator
from ..functions.simulation.terrain import HeightMap, Plane
from ..model import Model
from ..model.names import printable
from ..model.old_members import OldMember, accept_old_override
from ..user_kernels.random_numbers import Key
from .episode_bodies import BodyState, EpisodeContacts, body_state, configuration
from .recipe import Recipe
from .reward import Reward
from .variation import HeldPush, Noise, Push, Vary

if TYPE_CHECKING:
    from typing_extensions import TypeVar
else:
    from typing import TypeVar


class TaskError(ValueError):
    """A task that cannot run; the message says what to change. Names from files do not control the
    terminal: characters that are not printable appear as their numbers."""

    def __init__(self, text: str = "") -> None:
        super().__init__(printable(text, kept="\n"))


class Episode:
    """One environment as the task's functions see it: fields by name.

    q (nq), v (nv), forces (points, 3) on the robot in the world [N], torques (joints), action and
    last_action, last_v (nv) of the previous step, time since the beginning [s], random (a different
    key for every function and step); the task's `terrain` at this environment's place; the numbers
    of the task, its tables, the numbers kept over episodes, and all fields that `begin` returns.
    With contact pairs, pair_forces (pairs, 3) on the second shapes in the world [N].

    task: the task, for the methods that name bodies.

    Editors and type checkers know the fields below. Fields of your own, which `begin` returns or
    which are numbers of the task, are declared in a subclass `Walking`, and the task is an
    `rl.Task[Walking]`.
    """

    q: np.ndarray
    """Configuration (nq,)."""
    v: np.ndarray
    """Velocity (nv,)."""
    last_v: np.ndarray
    """Velocity at the end of the previous step (nv,)."""
    action: np.ndarray
    """Action of this step, within ±largest_action (actions,)."""
    last_action: np.ndarray
    """Action of the previous step (actions,)."""
    forces: np.ndarray
    """Forces of the ground on the contact points in the last substep, in the world's axes
    (points, 3) [N]."""
    mean_forces: np.ndarray
    """Mean of these forces over all substeps (points, 3) [N], with `substep_forces`."""
    peak_forces: np.ndarray
    """Largest size of these forces in any substep (points,) [N], with `substep_forces`."""
    pair_forces: np.ndarray
    """Forces on the second shapes of the contact pairs, in the world's axes (pairs, 3) [N]."""
    torques: np.ndarray
    """Torques of drives and tau, mean over the substeps (joints,) [N·m, N]."""
    time: float
    """Time since the episode began [s]."""
    age: float
    """Number of steps since the episode began."""
    random: Key
    """Key of random numbers, a different one for every function and step."""
    terrain: HeightMap | Plane | None
    """The ground at this environment's place."""
    _task: Task[Any]

    def __init__(self, fields: Mapping[str, Any], task: Task | None = None):
        self.__dict__.update(fields)
        if task is not None:
            self.__dict__["_task"] = task

    def with_fields(self, **fields: Any) -> Episode:
        """The same episode with other values."""
        return Episode({**self.__dict__, **fields})

    @property
    def task(self) -> Task[Any]:
        """The task."""
        return self._task

    def body(self, name: str) -> BodyState:
        """The pose (7,), velocity (6,), position (3,) [m] and rotation (3, 3) of the free body
        whose link has this name. The velocity is in the link's axes [m/s, rad/s]."""
        return body_state(self._task.model, self.q, self.v, name)

    def force_between(self, first: str, second: str) -> Any:
        """The force of one link on a second one through their contacts in the last substep (3,), in
        the world's axes [N]. The link of the ground is "ground"."""
        return self._contacts().force_between(first, second)

    def force_on(self, link: str) -> Any:
        """The net force of all contacts of a link in the last substep (3,), with the ground and with
        other links, in the world's axes [N]."""
        return self._contacts().force_on(link)

    def in_contact(self, link: str, other: str | None = None, *, threshold: float = 0.0) -> Any:
        """1 where the force between two links is above `threshold` [N] in the last substep, else 0;
        with one link, where it touches any other link or the ground."""
        return self._contacts().in_contact(link, other, threshold)

    def _contacts(self) -> EpisodeContacts:
        task = self._task
        forces = self.forces if len(task.points) else None
        return EpisodeContacts(
            task.points, task.pairs, forces, self.pair_forces if len(task.pairs) else None
        )

    def configuration(self, joints: Any = None, bodies: Mapping[str, Any] | None = None) -> Any:
        """q (nq,) for `begin`: joints (joints,) in the order of targets, and poses (7,) of free
        bodies by name. Joints and bodies that are not given are as in the model's "home"."""
        return configuration(self._task.model, joints, bodies or {})

    if not TYPE_CHECKING:  # with it, a type checker would accept every misspelt field

        def __getattr__(self, name: str) -> Any:
            if name == "_task":
                raise AttributeError(
                    "this episode does not know its task's bodies: make it as rl.Episode(fields, task)"
                )
            # Functions of fields that are recorded only where a task reads them.
            if name in (unread := self.__dict__.get("_unread", {})):
                return unread[name]()
            known = ", ".join(n for n in self.__dict__ if not n.startswith("_"))
            raise AttributeError(f"an episode has no {name!r}; it has {known}")


# Covariant, so that each Task[Walking] is a Task: environments call a task with its own fields.
if TYPE_CHECKING:
    EpisodeType = TypeVar("EpisodeType", bound=Episode, covariant=True, default=Episode)
else:
    EpisodeType = TypeVar("EpisodeType", bound=Episode, covariant=True)


class Task(Generic[EpisodeType]):
    """A robot's learning task: numbers as attributes, and functions of one robot as methods.

    Your own task is a class with these attributes and methods. The methods are written like
    functions of `wd.kernel`, in NumPy notation: `robot` has warpdyn's functions, `s` is an
    `Episode`. All of it becomes one launch per step: `substeps` steps of `dt`, reward, end, reset
    and observation.

    model, points, ground, terrain, pairs, pair_contact, drives, dt, substeps, integrator, sweeps,
    stops, passive_forces: as in a `Simulation`; friction, springs, joint limits and contact numbers of an
    MJCF file act here too.
    gravity: acceleration of gravity (3,) [m/s²]. In the methods, functions of `robot` use standard
    gravity unless `gravity=` is passed.
    actions: number of actions of the policy, each bounded to ±`largest_action`.
    seconds: length of an episode.
    scales: weight of each reward of `reward` per second, by name.
    rewards: rewards as objects, by name, in addition to those of `reward`.
    numbers: arrays by name that the methods read and a curriculum writes.
    tables: arrays (rows, columns) for lookups, `s.origins.look(row, column)`.
    keep: numbers, arrays, or a `Vary` that is drawn once, which an environment keeps from episode
    to episode, by name.
    groups: terms of the observation by group, the policy's group first, the critic's last; by
    default all terms in one group "policy".
    noise: on terms of the policy's group, by term.
    history: number of the last observations in a group, the oldest first.
    sensed: terms of the policy's group that sensors measure, which `observation_latency` delays; by
    default all of them.
    vary: numbers of the simulation that are drawn (`friction`, `kp`, `mass`, `latency`,
    `pair_friction` ...), by name.
    push: pushes of a free base, or of any link if they are held.
    substep_forces: True if `s` has `mean_forces` and `peak_forces` of all substeps.
    random_start: False on a real robot, where `begin` starts a motion at its beginning instead of
    drawing a place in it.
    commanded: the carried array that is a command; a user gives it when the policy controls a
    robot.
    recipe: numbers for training.
    """

    model: Model
    points: Sequence[ContactPoint] = ()
    ground: Ground = FLAT
    terrain: HeightMap | Plane | None = None
    pairs: Sequence[ContactPair] = ()
    pair_contact: PairContact = RIGID
    drives: PD | None = None
    dt: float = 0.005
    substeps: int = 4
    integrator: Integrator = "semi_implicit"
    sweeps: int = 4
    stops: Stops | None = None
    gravity: Sequence[float] = STANDARD_GRAVITY
    passive_forces: PassiveForces | None = None
    actions: int
    largest_action: float = 6.0
    seconds: float = 20.0
    scales: Mapping[str, float] = {}
    rewards: Mapping[str, Reward] = {}
    numbers: Mapping[str, Any] = {}
    tables: Mapping[str, Any] = {}
    keep: Mapping[str, Any] = {}
    groups: Mapping[str, Sequence[str]] = {}
    noise: Mapping[str, Noise] = {}
    history: Mapping[str, int] = {}
    sensed: Collection[str] = ()
    vary: Mapping[str, Vary] = {}
    push: Push | HeldPush | None = None
    substep_forces: bool = False
    random_start: bool = True
    commanded: str = ""
    recipe: Recipe = Recipe()

    def begin(self, robot: Any, s: EpisodeType) -> dict[str, Any]:  # type: ignore[misc]
        """Fields at the beginning of an episode: q, v, and other arrays carried from step to step,
        by name.

        Here `s` has `random`, the numbers and tables, and the kept numbers. `origin` (3,) is the
        environment's place in a height map.
        """
        raise NotImplementedError

    def control(self, robot: Any, s: EpisodeType) -> dict[str, Any]:  # type: ignore[misc]
        """Meaning of an action: `targets` (joints) of the drives, `tau` (nv), or both.

        `f_ext` may have forces on links, `{"hand": (6,)}`: force, then moment about the link's
        origin, in the link's axes [N, N·m]. A deployed policy ignores them.
        """
        raise NotImplementedError

    def update(self, robot: Any, s: EpisodeType) -> dict[str, Any]:  # type: ignore[misc]
        """Carried fields after the simulation's step: those of `begin`'s names that change."""
        return {}

    def observe(self, robot: Any, s: EpisodeType) -> Any:  # type: ignore[misc]
        """Observation: terms by name, arrays or numbers; or one array."""
        raise NotImplementedError

    def reward(self, robot: Any, s: EpisodeType) -> dict[str, Any]:  # type: ignore[misc]
        """Rewards per second, by the names in `scales`."""
        return {}

    def is_terminal(self, robot: Any, s: EpisodeType) -> Any:  # type: ignore[misc]
        """Condition that ends the episode before its time."""
        return False

    ended = OldMember("ended", "is_terminal")

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        accept_old_override(cls, "ended", "is_terminal")

    def is_complete(self, robot: Any, s: EpisodeType) -> Any:  # type: ignore[misc]
        """Condition that ends the episode as its time limit does: it could have continued."""
        return False

    def promote(self, robot: Any, s: EpisodeType) -> dict[str, Any]:  # type: ignore[misc]
        """Changes of the `keep` numbers at the end of an episode."""
        return {}

    def measure(self, robot: Any, s: EpisodeType) -> dict[str, Any]:  # type: ignore[misc]
        """Measures that an evaluation reports in addition to rewards, by name, from the carried
        fields without forces."""
        return {}

    @property
    def name(self) -> str:
        """The task's name in messages."""
        return type(self).__name__

    @property
    def step_seconds(self) -> float:
        """Time from one action to the next [s]."""
        return self.dt * self.substeps


def check_task(task: Any) -> None:
    """Raise for anything else than a task, with the call that makes one."""
    if isinstance(task, Task):
        return
    remedy = f"; rl.make({task!r}) makes one" if isinstance(task, str) else ""
    if isinstance(task, type) and issubclass(task, Task):
        remedy = f"; make one by {task.__name__}()"
    raise TypeError(f"task must be a warpdyn.rl.Task, got {type(task).__name__}{remedy}")


def gravity_argument(task: Task, s: Any) -> dict[str, Any]:
    """The argument `gravity` for functions of `robot`, with the gravity of the environment; none for
    standard gravity, so that recorded programs stay as they were."""
    if "gravity" in task.vary:
        return {"gravity": s.gravity}
    if tuple(task.gravity) == STANDARD_GRAVITY:
        return {}
    return {"gravity": np.array(task.gravity, dtype=float)}
