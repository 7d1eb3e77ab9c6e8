"""One step of a task's environments as one kernel: simulation, rewards, ends, resets,
observations."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..execution.oracle import oracle
from ..functions.simulation.drives import base_coordinates
from ..user_kernels import random_numbers
from ..user_kernels.own_kernel import OwnKernel, kernel
from ..user_kernels.random_numbers import Key
from ..user_kernels.signature import SharedArray, Table
from .observation import Observation, terms_of
from .task import Episode, Task, TaskError
from .terms import every, world_to_base
from .variation import Push, Vary
from .varied_simulation import (
    SimulatedRobot,
    as_described,
    defaults,
    late_shape,
    place_terrain,
    simulate_steps,
    terrain_tables,
)

BEGIN, UPDATE, OBSERVE, REWARD, CONTROL, PUSH, PROMOTE = range(7)
VARY, NOISE, KEEP = 7, 17, 27
"""Streams of random numbers, below 32: one for each function of the task, then one for each varied
number, each term with noise, and each kept number."""

Shapes = Mapping[str, tuple[int, ...]]


class EnvironmentStep:
    """The functions of a task combined into kernels, and the arrays that they read and write.

    carried: arrays from step to step, by name, with the shape of one environment's part. numbers:
    arrays that serve all environments; "seed" also holds the index of the first environment.
    tables: arrays for lookups. observations: by group. rewards: names, in the order of `scales`.
    """

    def __init__(self, task: Task, seed: int, wait: bool = False, first: int = 0):
        task = as_described(task)
        self.task, self.seed, self.wait = task, seed, wait
        self.rewards = tuple(task.scales)
        self.joints = task.model.nv - base_coordinates(task.model)
        self.length = round(task.seconds / task.step_seconds)
        self.numbers: dict[str, np.ndarray] = {
            "scales": np.array(list(task.scales.values()), dtype=float),
            "seed": np.array([float(seed), float(first)]),
        }
        self.numbers |= {n: np.asarray(x, dtype=float) for n, x in task.numbers.items()}
        self.tables = terrain_tables(task)
        self._defaults = defaults(task)
        # The shapes of the carried arrays and of the observations come from running the task's
        # functions once.
        begun = self._begun()
        nv = task.model.nv
        self.carried: dict[str, tuple[int, ...]] = {}
        self.carried |= {"q": (task.model.nq,), "v": (nv,), "last_v": (nv,)}
        self.carried |= {"last_action": (task.actions,)}
        self.carried |= {"impulses": (len(task.points), 3)}
        self.carried |= {"age": (), "ticks": (), "over": (), "sums": (len(self.rewards),)}
        self.carried |= begun | late_shape(task)
        self.own = tuple(n for n in begun if n not in ("q", "v", *task.keep, *self._defaults))
        self.observation = Observation(task, self._terms())
        self.carried |= self.observation.carried
        self.observations = self.observation.shapes
        shapes = {**self.carried, "action": (task.actions,)}
        self.step: OwnKernel = self.kernel_of("environment_step", shapes, self._step)
        self.start: OwnKernel = self.kernel_of("environment_start", {"ticks": ()}, self._start)
        self.measure: OwnKernel = self.kernel_of(
            "environment_measure", self.carried, self._measured
        )
        # Another simulator uses two kernels instead of `step`: `command` before its step, and
        # `settle` after it.
        there: dict[str, tuple[int, ...]] = {"q_after": (task.model.nq,), "v_after": (nv,)}
        there |= {"forces_after": (len(task.points), 3), "torques_after": (self.joints,)}
        self.command: OwnKernel = self.kernel_of("environment_command", shapes, self._command)
        self.settle: OwnKernel = self.kernel_of(
            "environment_settle", {**shapes, **there}, self._settle
        )

    @property
    def given(self) -> dict[str, np.ndarray]:
        """Numbers and tables, the last arguments of every kernel, in their order."""
        return {**self.numbers, **self.tables}

    def kernel_of(self, name: str, arrays: Shapes, text: Callable[..., Any]) -> OwnKernel:
        """A kernel of a function over arrays by name, and over the task's numbers and tables."""
        numbers = {n: x.shape for n, x in self.numbers.items()}
        tables = {n: x.shape for n, x in self.tables.items()}
        return _kernel(name, arrays, numbers, tables, text)

    def _begun(self) -> dict[str, tuple[int, ...]]:
        """Names and shapes of the arrays with which an episode begins."""
        shapes: dict[str, tuple[int, ...]] = {}

        def text(robot: Any, fields: dict[str, Any]) -> Any:
            fresh = self._first(robot, fields, random_numbers.key(0, 0, fields["ticks"]))
            shapes.update({n: np.shape(x) for n, x in fresh.items()})
            return fresh["q"]

        oracle(
            self.kernel_of("begin", {"ticks": ()}, text), self.task.model, 0.0, *self.given.values()
        )
        for name, size in (("q", self.task.model.nq), ("v", self.task.model.nv)):
            if shapes[name] != (size,):
                raise TaskError(
                    f"{self.task.name}.begin: {name} must be ({size},) for {self.task.model.name}, "
                    f"got {shapes[name]}"
                )
        return shapes

    def _terms(self) -> dict[str, tuple[int, ...]]:
        """Terms of the observation and their shapes."""
        terms: dict[str, tuple[int, ...]] = {}

        def text(robot: Any, fields: dict[str, Any]) -> Any:
            key = random_numbers.key(0, 0, fields["ticks"])
            s = self._started(robot, fields, key).with_fields(random=key.at(OBSERVE))
            found = terms_of(self.task.observe(robot, s))
            terms.update({n: np.shape(x) for n, x in found.items()})
            return fields["ticks"]

        probe = self.kernel_of("observe", {"ticks": ()}, text)
        oracle(probe, self.task.model, 0.0, *self.given.values())
        return terms

    # The functions of one robot that become kernels: `fields` are its arrays by name.

    def _start(self, robot: Any, fields: dict[str, Any]) -> dict[str, Any]:
        """All carried arrays at the beginning of a first episode, and the observations."""
        key = self._key(robot, fields)
        s = self._started(robot, fields, key)
        seen = self.observation.with_history(self._now(robot, s, key), vars(s), True)
        state = {n: getattr(s, n) for n in self.carried if n not in ("ticks", *seen)}
        return {**state, **seen}

    def _started(self, robot: Any, fields: dict[str, Any], key: Key) -> Episode:
        task = self.task
        fresh = self._first(robot, fields, key)
        nothing = {n: np.zeros(shape) for n, shape in self.carried.items() if n not in fresh}
        sight = {"forces": np.zeros((len(task.points), 3)), "time": 0.0}
        sight |= {"torques": np.zeros(self.joints), "action": np.zeros(task.actions)}
        s = Episode({**self._shared(fields), **nothing, **fresh, **sight, "ticks": fields["ticks"]})
        return self._at_its_place(s, fields)

    def _shared(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        return {n: fields[n] for n in (*self.numbers, *self.task.tables)}

    def _at_its_place(self, s: Episode, fields: Mapping[str, Any]) -> Episode:
        """The episode with the terrain at the environment's place."""
        return s.with_fields(terrain=place_terrain(self.task, fields, vars(s).get("origin")))

    def _first(self, robot: Any, fields: dict[str, Any], key: Key) -> dict[str, Any]:
        """Arrays at the beginning of a first episode, and all kept numbers."""
        keep = {
            name: first.drawn(key.at(KEEP + k), 0.0)
            if isinstance(first, Vary)
            else np.asarray(first, dtype=float)
            for k, (name, first) in enumerate(self.task.keep.items())
        }
        return {**self._fresh(robot, {**self._shared(fields), **keep}, key, {}), **keep}

    def _fresh(
        self, robot: Any, known: Mapping[str, Any], key: Key, kept: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Arrays at the beginning of an episode; numbers that are drawn only once are taken from
        `kept`."""
        task = self.task
        begun = task.begin(robot, Episode({**known, "random": key.at(BEGIN)}))
        if not {"q", "v"} <= set(begun):
            raise TaskError(f"{task.name}.begin must name q and v; it named {', '.join(begun)}")
        if both := set(begun) & set(task.keep):
            raise TaskError(
                f"{task.name}.begin names {', '.join(sorted(both))}, which keep has; what is kept "
                "changes in promote"
            )
        varied = {
            name: kept[name]
            if kept and task.vary[name].when == "startup"
            else task.vary[name].drawn(key.at(VARY + k), default)
            for k, (name, default) in enumerate(self._defaults.items())
        }
        return {**begun, **varied}

    def _step(self, robot: Any, fields: dict[str, Any]) -> dict[str, Any]:
        """All carried arrays after a step, its rewards, and the observations."""

        def here(robot: Any, s: Episode) -> SimulatedRobot:
            return simulate_steps(self.task, robot, s, self._wanted(robot, s))

        return self._after(robot, fields, here)

    def _command(self, robot: Any, fields: dict[str, Any]) -> dict[str, Any]:
        """Targets and forces that the action commands, and v after a push, for another simulator or
        a robot."""
        s = self._acting(fields, self._key(robot, fields))
        pushed = {} if self.task.push is None else {"v": s.v}
        return {**self._wanted(robot, s), **pushed}

    def _settle(self, robot: Any, fields: dict[str, Any]) -> dict[str, Any]:
        """Results of `_step`, from another simulator's state after the command."""

        def elsewhere(robot: Any, s: Episode) -> SimulatedRobot:
            q, v, forces, torques = (fields[f"{n}_after"] for n in ("q", "v", "forces", "torques"))
            return SimulatedRobot(q, v, s.impulses, forces, torques, {})

        return self._after(robot, fields, elsewhere)

    def episode(self, robot: Any, fields: Mapping[str, Any]) -> Episode:
        """All fields in the form that one function of the task sees, with a key of random
        numbers."""
        s = Episode(
            {n: x for n, x in fields.items() if n not in self.tables} | self._shared(fields)
        )
        return self._at_its_place(s.with_fields(random=self._key(robot, fields)), fields)

    def _measured(self, robot: Any, fields: dict[str, Any]) -> dict[str, Any]:
        """Measures of an evaluation, from the carried state."""
        s = Episode({n: fields[n] for n in self.carried} | self._shared(fields))
        s = self._at_its_place(s, fields)
        time = fields["age"] * self.task.step_seconds
        found = self.task.measure(robot, s.with_fields(time=time))
        return {n: np.asarray(x) + 0.0 for n, x in found.items()} or {"none": fields["age"]}

    def _key(self, robot: Any, fields: Mapping[str, Any]) -> Key:
        seed, first = fields["seed"]
        return random_numbers.key(seed, first + robot.env, fields["ticks"])

    def _acting(self, fields: Mapping[str, Any], key: Key) -> Episode:
        """The environment in the form that `control` sees."""
        task, seconds = self.task, self.task.step_seconds
        action = np.clip(fields["action"], -task.largest_action, task.largest_action)
        s = Episode({n: fields[n] for n in self.carried} | self._shared(fields))
        s = s.with_fields(action=action, time=s.age * seconds, random=key.at(CONTROL))
        if task.push is not None:
            s = s.with_fields(v=self._pushed(task.push, s, key))
        return self._at_its_place(s, fields)

    def _after(
        self, robot: Any, fields: dict[str, Any], simulate: Callable[[Any, Episode], SimulatedRobot]
    ) -> dict[str, Any]:
        """Results of a step in which `simulate` moves the robot."""
        task, seconds = self.task, self.task.step_seconds
        key = self._key(robot, fields)
        before = self._acting(fields, key)
        end = simulate(robot, before)
        finite = np.isfinite(end.q).all() & np.isfinite(end.v).all()
        age = before.age + 1.0
        s = before.with_fields(
            q=end.q,
            v=end.v,
            forces=end.forces,
            torques=end.torques,
            impulses=end.impulses,
            last_v=before.v,
            age=age,
            time=age * seconds,
            **end.late,
            random=key.at(UPDATE),
        )
        changed = task.update(robot, s)
        if unknown := set(changed) - {*self.own, "q", "v"}:
            raise TaskError(
                f"{task.name}.update changes {', '.join(sorted(unknown))}, which begin does not name"
            )
        s = s.with_fields(**changed)
        earned = self._earned(robot, s, key)
        parts = np.where(finite, earned * fields["scales"] * seconds, 0.0)
        fell = task.ended(robot, s) | ~finite
        odd = ~np.isfinite(fields["action"]).all()
        late = (age > self.length - 0.5) & ~fell
        sums = before.sums + parts
        begins = fell | late
        if self.wait:
            begins = before.over > 0.5
            fell, late = fell & ~begins, late & ~begins
            parts = np.where(begins, 0.0, parts)
            odd = odd & ~begins
        done = fell | late
        s = s.with_fields(**self._promoted(robot, s, done & finite, key))
        fresh = self._fresh(robot, vars(s), key, fields)
        now = {n: getattr(s, n) for n in self.carried} | {
            "last_action": before.action,
            "sums": sums,
            "last_v": end.v,
            "over": np.where(done, 1.0, 0.0),
        }
        zero = {n: np.zeros(shape) for n, shape in self.carried.items()}
        zero |= {n: now[n] for n in task.keep}
        after = {n: np.where(begins, fresh.get(n, zero[n]), now[n]) for n in self.carried}
        after = self._varied(after, age, key)
        after["ticks"] = before.ticks + 1.0
        seen = s.with_fields(**after, time=after["age"] * seconds)
        seen = seen.with_fields(
            forces=np.where(begins, 0.0, s.forces), torques=np.where(begins, 0.0, s.torques)
        )
        seen = self._at_its_place(seen, fields)
        last = self._now(robot, s.with_fields(last_action=before.action), key)
        final = self.observation.with_history(last, fields, False)
        return {
            **after,
            "reward": parts.sum(),
            "terminated": fell,
            "truncated": late,
            "ended_sums": np.where(done, sums, 0.0),
            "ended_age": np.where(done, age, 0.0),
            "failed": ~finite,
            "odd_action": odd,
            **self.observation.with_history(self._now(robot, seen, key), fields, begins),
            # A learner that stores final observations must not store NaN.
            **{f"final_{n}": np.where(finite, final[n], 0.0) for n in self.observations},
        }

    def _wanted(self, robot: Any, s: Episode) -> dict[str, Any]:
        """The checked result of `control`."""
        task = self.task
        wanted = task.control(robot, s)
        if not wanted or set(wanted) - {"targets", "tau"}:
            raise TaskError(
                f"{task.name}.control must give targets, tau, or both; "
                f"it gave {', '.join(wanted) or 'nothing'}"
            )
        return wanted

    def _promoted(self, robot: Any, s: Episode, done: Any, key: Key) -> dict[str, Any]:
        """Kept numbers, changed where an episode is over."""
        task = self.task
        changed = task.promote(robot, s.with_fields(random=key.at(PROMOTE)))
        if unknown := set(changed) - set(task.keep):
            raise TaskError(
                f"{task.name}.promote changes {', '.join(sorted(unknown))}, which keep does not have"
            )
        return {n: np.where(done, x, getattr(s, n)) for n, x in changed.items()}

    def _earned(self, robot: Any, s: Episode, key: Key) -> Any:
        """Rewards in the order of `scales`."""
        rewards = self.task.reward(robot, s.with_fields(random=key.at(REWARD)))
        if set(rewards) != set(self.rewards):
            missing = set(self.rewards) ^ set(rewards)
            raise TaskError(
                f"{self.task.name}: reward and scales must name the same rewards; "
                f"only one of them names {', '.join(sorted(missing))}"
            )
        return np.stack([np.asarray(rewards[n]) + 0.0 for n in self.rewards])

    def _now(self, robot: Any, s: Episode, key: Key) -> dict[str, Any]:
        """Present observations, by group."""
        found = terms_of(self.task.observe(robot, s.with_fields(random=key.at(OBSERVE))))
        return self.observation.present_observations(found, key.at(NOISE))

    def _pushed(self, push: Push, s: Episode, key: Key) -> Any:
        """Velocities after a push, if one is due."""
        if not self.task.model.floating_base:
            raise TaskError(f"{self.task.name}.push: {self.task.model.name} has no free base")
        draws = random_numbers.uniform(key.at(PUSH), 2, [0.0, 0.0], [2 * np.pi, push.speed])
        level = np.stack([np.cos(draws[0]), np.sin(draws[0]), 0.0]) * draws[1]
        kick = world_to_base(s.q, level)
        now = every(s.age, push.seconds / self.task.step_seconds)
        return np.concatenate([s.v[:3] + np.where(now, kick, 0.0), s.v[3:]])

    def _varied(self, after: dict[str, Any], age: Any, key: Key) -> dict[str, Any]:
        """The arrays with new draws of the numbers whose interval has passed."""
        for k, (name, default) in enumerate(self._defaults.items()):
            vary = self.task.vary[name]
            if vary.when == "interval":
                now = every(age, vary.seconds / self.task.step_seconds)
                after[name] = np.where(now, vary.drawn(key.at(VARY + k), default), after[name])
        return after


def _kernel(
    name: str,
    arrays: Shapes,
    numbers: Shapes,
    tables: Shapes,
    text: Callable[[Any, dict[str, Any]], Any],
) -> OwnKernel:
    """A kernel whose arrays are named by a task."""

    def whole(robot: Any, *values: Any) -> Any:
        return text(robot, dict(zip((*arrays, *numbers, *tables), values, strict=True)))

    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = [inspect.Parameter("robot", kind)]
    parameters += [inspect.Parameter(n, kind, annotation=shape) for n, shape in arrays.items()]
    shared = {n: SharedArray(x) for n, x in numbers.items()}
    parameters += [inspect.Parameter(n, kind, annotation=x) for n, x in shared.items()]
    parameters += [inspect.Parameter(n, kind, annotation=Table(x)) for n, x in tables.items()]
    whole.__name__ = whole.__qualname__ = name
    whole.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return kernel(whole)
