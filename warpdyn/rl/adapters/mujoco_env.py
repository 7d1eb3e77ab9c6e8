"""A task's environments, simulated by MuJoCo C instead of warpdyn."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Mapping
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np

from ...execution.batched import bind
from ...execution.oracle import oracle
from ...functions.dynamics import crba
from ...functions.simulation.ground import with_default_numbers
from ...functions.simulation.moment_numbers import moment_counts
from ...functions.simulation.pair_arrays import described_friction, described_moments
from ...functions.simulation.terrain import HeightMap, Plane
from ...functions.simulation.varied_numbers import is_number
from ...model import Model
from ...model.structure import start_of
from ...model.value_substitution import substitute_values
from ...peers.mujoco_robots import MujocoRobots
from ...peers.mujoco_scene import Drives, Ground, Heights, Slope
from ...peers.peer import NotComparable
from ..task import Episode, Task, TaskError
from ..varied_simulation import LATE, OF_MODEL, OF_MOMENTS, QUADRATIC, with_its_numbers
from ..vec_env import VecEnv

SOFT, STIFF = 0.02, 0.004
"""Time constants of contacts [s]: MuJoCo's own, and that of contacts with a height map and of contact
pairs. With MuJoCo's own, small feet sink below the surface and get stuck between the prisms of the
map, and fingers sink into an object and throw it out of the hand."""

CONTACT_STEPS = 8
"""Number of MuJoCo's default steps in a time constant of its contacts.

With fewer steps contacts bounce. Of 16 humanoids that are pushed, 6 fall in 10 s here, and 9, 8, 6
and 6 in MuJoCo with 4, 5, 8 and 10 steps. The policy of `panda_push` keeps 93.1, 96.8 and 98.7 % of
its return with 2, 4 and 8 steps."""

LEAST_STEPS = 2
"""Least number of steps in a time constant that MuJoCo takes."""

STEP_OF_DRIVES = 0.75
"""Longest default step, as a share of 1 / ω of the fastest drive (`drive_frequency`). MuJoCo's
integrator is explicit in the positions: at 2 / ω it is unstable. With 5 ms, 2.8 / ω, a panda under
stiff drives (ω = 553 rad/s) kept 71 % of the return of `panda_reach`; with 0.75 / ω it keeps 100 %."""


def drive_frequency(task: Task) -> float:
    """Largest natural frequency of a task's drives [rad/s], without their damping, at the robot's
    start."""
    if task.drives is None:
        return 0.0
    model = task.model
    stiffness = np.zeros(model.nv)
    stiffness[list(model.joint_columns)] = np.asarray(task.drives.kp, dtype=float)
    M = np.asarray(oracle(crba, model, start_of(model)[None]))[0]
    return float(np.sqrt(np.linalg.eigvals(np.linalg.solve(M, np.diag(stiffness))).real.max()))


class MujocoEnv(VecEnv):
    """A `VecEnv` whose robots MuJoCo C simulates. The task's functions, random numbers, rewards and
    ends are the same.

    dt: MuJoCo's step [s]; the task's step must be a multiple of it. None: an eighth of the
    contacts' time constant (`CONTACT_STEPS`), less with stiff drives (`STEP_OF_DRIVES`).
    contact_time: the time constant of its contacts [s]. None: MuJoCo's default, 0.02; with a height
    map or pairs 0.004, and at least two steps. The environments are stepped one after the other.
    """

    def __init__(
        self,
        task: Task,
        envs: int,
        *,
        dt: float | None = None,
        contact_time: float | None = None,
        seed: int = 0,
    ):
        if find_spec("mujoco") is None:
            raise TaskError("MuJoCo is not installed: pip install mujoco")
        stiff = isinstance(task.terrain, HeightMap) or len(task.pairs) > 0
        if dt is None:
            lasts = contact_time or (STIFF if stiff else SOFT)
            longest = min(lasts / CONTACT_STEPS, STEP_OF_DRIVES / max(drive_frequency(task), 1.0))
            dt = task.step_seconds / max(math.ceil(task.step_seconds / longest - 1e-9), 1)
        if contact_time is None and stiff:
            contact_time = max(LEAST_STEPS * dt, STIFF)
        self.steps = round(task.step_seconds / dt)
        if self.steps < 1 or abs(self.steps * dt - task.step_seconds) > 1e-9:
            raise TaskError(f"dt must divide the task's step, {task.step_seconds:g} s; got {dt:g}")
        if task.drives is not None and task.drives.no_load_speed is not None:
            raise TaskError(f"{task.name}.drives: MuJoCo's drives have no speed-torque curve")
        for name, contact in (("ground", task.ground), ("pair_contact", task.pair_contact)):
            if np.any(np.asarray(contact.restitution) != 0):
                raise TaskError(f"{task.name}.{name}: MuJoCo's contacts have no restitution")
        super().__init__(task, envs, seed=seed)
        task = self.task
        self._joints = len(task.model.joint_columns)
        try:
            self.robots = MujocoRobots(
                task.model,
                envs,
                dt,
                points=task.points,
                drives=Drives(1.0, 0.0, np.inf) if task.drives is not None else None,
                ground=_ground_of(task),
                contact_time=contact_time,
                pairs=task.pairs,
            )
        except NotComparable as why:
            raise TaskError(f"{task.name} cannot run in MuJoCo: {why}") from None
        self.dt, self.contact_time = dt, contact_time
        self._models: dict[int, Any] = {}
        self._late = np.zeros((envs, *self.kernels.carried[LATE])) if LATE in self.carried else None
        # Buffers through which MuJoCo's state after a step reaches the task's kernels.
        there = {"q_after": task.model.nq, "v_after": task.model.nv}
        self._there = {n: self._zeros((size,)) for n, size in there.items()}
        self._there |= {
            f"{n}_after": self._zeros(shape) for n, shape in self.kernels.results.items()
        }
        self._asked: Any = None
        self._command: Callable[[], Any] | None = None
        self._settle: list[Callable[[], Any] | None] = [None, None]
        self._runs = {turn: partial(self._move, turn) for turn in range(2)}

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        """Reset all environments; returns observations and an empty dictionary."""
        seen = super().reset(seed=seed, options=options)
        state = self._state()
        for env in range(self.num_envs):
            self._start_episode(env, state, state["v"][env])
        return seen

    def _move(self, turn: int) -> None:
        """A step of all environments; its observations are written to the results of this turn."""
        arrays = (*self.carried.values(), self.action)
        if self._command is None:
            self._command = bind(
                self.kernels.command, self.task.model, *arrays, *self.fixed_arguments
            )
        asked = self._command()
        self._advance({n: x.numpy().astype(float) for n, x in asked._asdict().items()})
        settle = self._settle[turn]
        if settle is None:
            out = {**self.carried, **self._seen[turn]}
            arrays = (*arrays, *self._there.values(), *self.fixed_arguments)
            self._settle[turn] = bind(self.kernels.settle, self.task.model, *arrays, out=out)
        else:
            settle()
        # If an episode began or the task changed the state, MuJoCo's state is out of date.
        state = self._state()
        ends = (self._there[f"{n}_after"].numpy() for n in ("q", "v"))
        same = [(state[n] == end).all(1) for n, end in zip(("q", "v"), ends, strict=True)]
        for env in np.flatnonzero(~(same[0] & same[1])).tolist():
            self._start_episode(env, state, state["v"][env])

    def _advance(self, asked: Mapping[str, np.ndarray]) -> None:
        """MuJoCo's steps under the targets and forces of the action."""
        state, there = self._state(), {n: x.numpy() for n, x in self._there.items()}
        targets, tau = asked.get("targets"), asked.get("tau")
        pushed = asked.get("v")
        for env in range(self.num_envs):
            if any(x is not None and np.isnan(x[env]).any() for x in (targets, tau)):
                # MuJoCo would treat NaN as 0. Here, as in warpdyn's simulation, it ends the
                # episode.
                for x in there.values():
                    x[env] = np.nan
                continue
            if pushed is not None and not np.array_equal(pushed[env], state["v"][env]):
                self._start_episode(env, state, pushed[env])
            reached = self.robots.advance(
                env,
                None if targets is None else self._targets(env, targets[env], state),
                None if tau is None else tau[env],
                self.steps,
                numbers=self._numbers(env, state),
                origin=self._origin(env, state),
                every_step=self.task.substep_forces,
            )
            for name in there:
                there[name][env] = getattr(reached, name.removesuffix("_after"))

    def _targets(
        self, env: int, targets: np.ndarray, state: Mapping[str, np.ndarray]
    ) -> list[np.ndarray]:
        """Targets of the drives in each of the steps; earlier targets if targets are late."""
        if self._late is None:
            return [targets] * self.steps
        if state["age"][env] < 0.5:
            self._late[env] = targets
        launches = [targets, *self._late[env].copy()]
        self._late[env] = launches[:-1]
        late = np.floor(state["latency"][env] / self.dt + 0.5)  # as in warpdyn's simulation
        # The launch whose targets a step uses: this one is 0, the previous one 1, ...
        back = np.ceil((late - np.arange(self.steps)) / self.steps).clip(0, len(launches) - 1)
        return [launches[int(k)] for k in back]

    def _numbers(self, env: int, state: Mapping[str, np.ndarray]) -> dict[str, Any]:
        """The numbers of this environment that are set in MuJoCo's model."""
        numbers: dict[str, Any] = {}
        if self.task.points:
            numbers["friction"] = self._number_of(
                "friction", env, with_default_numbers(self.task.ground).friction
            )
        if self.task.pairs:
            given = described_friction(self.task.pairs, self.task.pair_contact.friction)
            numbers["pair_friction"] = self._number_of("pair_friction", env, given)
        numbers |= self._moment_numbers(env)
        for name in ("gravity", QUADRATIC):
            if name in self.task.vary:
                numbers[name] = state[name][env]
        if self.task.drives is not None:
            numbers |= zip(("kp", "kd", "effort"), self._gains(env), strict=True)
        return numbers

    def _moment_numbers(self, env: int) -> dict[str, Any]:
        """Torsional and rolling friction of points and of pairs in this environment, if there is
        any."""
        task, numbers = self.task, dict[str, Any]()
        ground = task.ground.torsional_friction, task.ground.rolling_friction
        pairs = described_moments(task.pairs, task.pair_contact)
        for prefix, each, given in (("", task.points, ground), ("pair_", task.pairs, pairs)):
            drawn = [
                self._number_of(f"{prefix}{name}", env, 0.0 if x is None else x)
                * np.ones(len(each))
                for name, x in zip(OF_MOMENTS, given, strict=True)
            ]
            counts = moment_counts(drawn[0].tolist(), drawn[1].tolist(), len(each))
            if counts:
                names = (*OF_MOMENTS, "moments")
                numbers |= zip((f"{prefix}{n}" for n in names), (*drawn, counts), strict=True)
        return numbers

    def _gains(self, env: int) -> list[np.ndarray]:
        """Stiffness, damping and largest forces of this environment's drives (joints,)."""
        task: Any = self.task
        effort = task.drives.effort
        if effort is None:
            effort = task.model.effort_limit[task.model.joint_columns]
        strength = self._number_of("strength", env, task.drives.strength)
        defaults = {"kp": task.drives.kp, "kd": task.drives.kd, "effort": effort}
        ones = np.ones(len(task.model.joint_columns))
        return [self._number_of(n, env, x) * strength * ones for n, x in defaults.items()]

    def _number_of(self, name: str, env: int, default: Any) -> np.ndarray:
        """A number of this environment, a number shared by all, or the task's default."""
        if name in self.carried:
            return self.carried[name][env].numpy().astype(float)
        if name in self.numbers:
            return self.numbers[name].numpy().astype(float)
        return np.asarray(default, float)

    def _start_episode(self, env: int, state: Mapping[str, np.ndarray], v: np.ndarray) -> None:
        """Start an episode at a state, with the model numbers that the environment has now."""
        if any(name in self.task.vary for name in OF_MODEL):
            fields = Episode({n: x[env] for n, x in state.items()})
            numbers = with_its_numbers(self.task, _ValueCollector(), fields, moving=False)
            key = repr(numbers)
            if self._models.get(env) != key:
                self._models[env] = key
                self.robots.remodel(env, _with_numbers(self.task.model, numbers))
        self.robots.put(env, state["q"][env], v, self._origin(env, state))

    def _origin(self, env: int, state: Mapping[str, np.ndarray]) -> Any:
        """The environment's place in the height map."""
        return state["origin"][env] if "origin" in state else (0.0, 0.0, 0.0)

    def _state(self) -> dict[str, np.ndarray]:
        """The carried arrays as float64."""
        return {n: x.numpy().astype(float) for n, x in self.carried.items()}


class _ValueCollector:
    """Stand-in for a robot that collects the numbers given to `with_values`."""

    def with_values(self, **quantities: Any) -> dict[str, dict[str, Any]]:
        return quantities


def _with_numbers(model: Model, quantities: Mapping[str, Mapping[str, Any]]) -> Model:
    names = {quantity: tuple(each) for quantity, each in quantities.items()}
    values = {
        quantity: [np.asarray(x, float).tolist() for x in each.values()]
        for quantity, each in quantities.items()
    }
    return substitute_values(model, names, values)


def _ground_of(task: Task) -> Ground | None:
    """The task's terrain in the form that MuJoCo's robots take."""
    terrain = task.terrain
    if isinstance(terrain, HeightMap):
        if terrain.friction is not None:
            raise TaskError(f"{task.name}.terrain: MuJoCo's height fields have one friction")
        return Heights(np.asarray(terrain.heights, float), terrain.cell, terrain.origin)
    if isinstance(terrain, Plane):
        numbers = (*terrain.slope, terrain.level) if len(terrain.slope) == 2 else ()
        if not numbers or not all(is_number(x) for x in numbers):
            raise TaskError(f"{task.name}.terrain: MuJoCo has one plane for all environments")
        return Slope(terrain.slope, terrain.level)
    return None


def without_noise(task: Task) -> Task:
    """The same task without noise in the policy's observations."""
    clear = copy.copy(task)
    clear.noise = {}
    return clear
