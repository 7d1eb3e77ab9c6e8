"""One step of a task's environments as one kernel, from an action to the next observations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..execution.oracle import oracle
from ..user_kernels import random_numbers
from ..user_kernels.own_kernel import OwnKernel
from ..user_kernels.random_numbers import LARGEST, Key
from ..user_kernels.signature import SharedArray, Table
from .external_forces import PUSH, wanted_and_forces, wanted_in_joints
from .late_observations import LateObservations
from .observation import Observation, terms_of
from .random_streams import check_seed, draw_again, random_streams
from .task import Episode, Task, TaskError
from .task_functions import (
    as_measured,
    begin,
    check_begin,
    check_numbers,
    control,
    ends,
    episode_steps,
    promote,
    push_base,
    reward,
    update,
    weights_of,
)
from .variation import Push, Vary
from .varied_simulation import (
    SimulatedRobot,
    as_described,
    contact_memory,
    contact_results,
    defaults,
    late_shape,
    place_terrain,
    simulate_steps,
    terrain_tables,
)

BEGIN, UPDATE, OBSERVE, REWARD, CONTROL, _, PROMOTE = range(7)
"""Streams of random numbers of the task's functions; others are `random_streams`."""

Shapes = Mapping[str, tuple[int, ...]]


class Transition(NamedTuple):
    """An environment before a step, and after simulation and update. fields: the kernel's arrays.
    before: the episode with all carried arrays, also those that tasks do not read.
    v: velocity at the end of the simulation, which an update may change. age: number of steps of
    the episode, including this one."""

    fields: dict[str, Any]
    key: Key
    before: Any
    after: Episode
    v: Any
    age: Any
    finite: Any


class Ends(NamedTuple):
    """Conditions at the end of a step. done: terminated or truncated. begins: a new episode begins.
    odd_action: the action was not finite. failed: the state is not. rewards: those of the step.
    sums: those of the episode."""

    terminated: Any
    truncated: Any
    done: Any
    begins: Any
    odd_action: Any
    failed: Any
    rewards: Any
    sums: Any


class EnvironmentStep:
    """The functions of a task combined into kernels, and the arrays that they read and write.

    carried: arrays from step to step, by name, with the shape of one environment's part. numbers:
    arrays that serve all environments; "seed" also holds the index of the first environment.
    tables: arrays for lookups. observations: by group. rewards: names, in the order of `scales`.
    results: forces and torques of a step, by name, with their shapes; they are not carried.
    """

    def __init__(self, task: Task, seed: int, wait: bool = False, first: int = 0):
        check_numbers(task)
        task = as_described(task)
        self.task, self.seed, self.wait = task, seed, wait
        weights = weights_of(task)
        self.rewards = tuple(weights)
        self.joints = len(task.model.joint_columns)
        self.length = episode_steps(task)
        self.numbers: dict[str, np.ndarray] = {
            "scales": np.array(list(weights.values()), dtype=float),
            "seed": np.array([float(check_seed(seed)), float(first)]),
        }
        self.numbers |= {n: np.asarray(x, dtype=float) for n, x in task.numbers.items()}
        self.results = contact_results(task)
        self.tables = terrain_tables(task)
        self._defaults = defaults(task)
        self._streams = random_streams(task, len(self._defaults))
        # Running the task's functions once gives the shapes of carried arrays and observations.
        shapes_begun = self._begin_shapes()
        nv = task.model.nv
        self.carried: dict[str, tuple[int, ...]] = {"q": (task.model.nq,), "v": (nv,)}
        self.carried |= {"last_v": (nv,), "last_action": (task.actions,)}
        self.carried |= contact_memory(task)
        self.carried |= {"age": (), "ticks": (), "over": (), "sums": (len(self.rewards),)}
        self.carried |= shapes_begun | late_shape(task)
        self.own = tuple(
            n for n in shapes_begun if n not in ("q", "v", *task.keep, *self._defaults)
        )
        self.observation = Observation(task, self._terms())
        policy = self.observation.policy
        self.late = LateObservations(task, policy, self.observation.entries[policy])
        self.carried |= self.observation.carried | self.late.carried
        self.observations = self.observation.shapes
        shapes = {**self.carried, "action": (task.actions,)}
        self.step: OwnKernel = self.kernel_of("environment_step", shapes, self._step)
        self.start: OwnKernel = self.kernel_of("environment_start", {"ticks": ()}, self._start)
        self.measure: OwnKernel = self.kernel_of(
            "environment_measure", self.carried, self._measures
        )
        # Another simulator uses `command` before its own step, and `settle` after it.
        there: dict[str, tuple[int, ...]] = {"q_after": (task.model.nq,), "v_after": (nv,)}
        there |= {f"{n}_after": shape for n, shape in self.results.items()}
        self.command: OwnKernel = self.kernel_of("environment_command", shapes, self._command)
        self.settle: OwnKernel = self.kernel_of(
            "environment_settle", {**shapes, **there}, self._settle
        )

    @property
    def shared_arrays(self) -> dict[str, np.ndarray]:
        """Numbers and tables, the last arguments of every kernel, in their order."""
        return {**self.numbers, **self.tables}

    def kernel_of(self, name: str, arrays: Shapes, function: Callable[..., Any]) -> OwnKernel:
        """A kernel of a function over arrays by name, and over the task's numbers and tables."""
        numbers = {n: SharedArray(x.shape) for n, x in self.numbers.items()}
        tables = {n: Table(x.shape) for n, x in self.tables.items()}
        names = [*arrays, *numbers, *tables]
        if twice := sorted({n for n in names if names.count(n) > 1}):
            raise TaskError(
                f"{self.task.name}: {', '.join(twice)} names more than one array, number or table"
            )
        return OwnKernel.of_shapes(name, {**arrays, **numbers, **tables}, function)

    def _begin_shapes(self) -> dict[str, tuple[int, ...]]:
        """Names and shapes of the arrays with which an episode begins."""
        shapes: dict[str, tuple[int, ...]] = {}

        def note_shapes(robot: Any, fields: dict[str, Any]) -> Any:
            fresh = self._first(robot, fields, random_numbers.key(0, 0, fields["ticks"]))
            shapes.update({n: np.shape(x) for n, x in fresh.items()})
            return fresh["q"]

        probe = self.kernel_of("begin", {"ticks": ()}, note_shapes)
        oracle(probe, self.task.model, 0.0, *self.shared_arrays.values())
        check_begin(self.task, shapes)
        return shapes

    def _terms(self) -> dict[str, tuple[int, ...]]:
        """Terms of the observation and their shapes."""
        terms: dict[str, tuple[int, ...]] = {}

        def note_terms(robot: Any, fields: dict[str, Any]) -> Any:
            key = random_numbers.key(0, 0, fields["ticks"])
            s = self._first_episode(robot, fields, key).with_fields(random=key.at(OBSERVE))
            found = terms_of(self.task.observe(robot, s))
            terms.update({n: np.shape(x) for n, x in found.items()})
            return fields["ticks"]

        probe = self.kernel_of("observe", {"ticks": ()}, note_terms)
        oracle(probe, self.task.model, 0.0, *self.shared_arrays.values())
        return terms

    # The functions of one robot that become kernels: `fields` are its arrays by name.

    def _start(self, robot: Any, fields: dict[str, Any]) -> dict[str, Any]:
        """All carried arrays at the beginning of a first episode, and the observations."""
        key = self._key(robot, fields)
        s = self._first_episode(robot, fields, key)
        # Not the key of the first step, whose observation would have the same noise.
        earlier = key._replace(count=LARGEST - 1.0 - key.count)
        seen = self._observations(robot, s, earlier, vars(s), True)
        state = {n: getattr(s, n) for n in self.carried if n not in ("ticks", *seen)}
        return {**state, **seen}

    def _first_episode(self, robot: Any, fields: dict[str, Any], key: Key) -> Episode:
        task = self.task
        fresh = self._first(robot, fields, key)
        nothing = {n: np.zeros(shape) for n, shape in self.carried.items() if n not in fresh}
        sight: dict[str, Any] = {n: np.zeros(shape) for n, shape in self.results.items()}
        sight |= {"time": 0.0, "action": np.zeros(task.actions)}
        known = {**self._shared_fields(fields), **nothing, **fresh, **sight}
        s = Episode(known | {"ticks": fields["ticks"]})
        return self._at_its_place(s, fields)

    def _shared_fields(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        return {n: fields[n] for n in (*self.numbers, *self.task.tables)} | {"_task": self.task}

    def _at_its_place(self, s: Episode, fields: Mapping[str, Any]) -> Episode:
        """The episode with the terrain at the environment's place."""
        return s.with_fields(terrain=place_terrain(self.task, fields, vars(s).get("origin")))

    def _first(self, robot: Any, fields: dict[str, Any], key: Key) -> dict[str, Any]:
        """Arrays at the beginning of a first episode, and all kept numbers."""
        keep = {
            name: first.draw(key.at(self._streams.keep + k), 0.0)
            if isinstance(first, Vary)
            else np.asarray(first, dtype=float)
            for k, (name, first) in enumerate(self.task.keep.items())
        }
        return {**self._fresh(robot, {**self._shared_fields(fields), **keep}, key, {}), **keep}

    def _fresh(
        self, robot: Any, known: Mapping[str, Any], key: Key, kept: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Arrays at the beginning of an episode. Numbers that are drawn only once come from `kept`."""
        task = self.task
        arrays = begin(task, robot, Episode({**known, "random": key.at(BEGIN)}))
        varied = {
            name: kept[name]
            if kept and task.vary[name].when == "startup"
            else task.vary[name].draw(key.at(self._streams.vary + k), default)
            for k, (name, default) in enumerate(self._defaults.items())
        }
        return {**arrays, **varied}

    def _step(self, robot: Any, fields: dict[str, Any]) -> dict[str, Any]:
        """All carried arrays after a step, its rewards, and the observations."""

        def here(robot: Any, s: Episode) -> SimulatedRobot:
            key, wanted = partial(self._key, robot, fields), control(self.task, robot, s)
            forced = wanted_and_forces(self.task, robot, s, wanted, key)
            return simulate_steps(self.task, robot, s, *forced)

        return self._after(robot, fields, here)

    def _command(self, robot: Any, fields: dict[str, Any]) -> dict[str, Any]:
        """Targets and forces that the action commands, and v after a push, for another simulator or
        a robot."""
        s = self._acting(fields, self._key(robot, fields))
        key, wanted = partial(self._key, robot, fields), control(self.task, robot, s)
        wanted = wanted_in_joints(self.task, robot, s, wanted, key)
        return {**wanted, **({"v": s.v} if isinstance(self.task.push, Push) else {})}

    def _settle(self, robot: Any, fields: dict[str, Any]) -> dict[str, Any]:
        """Results of `_step`, from another simulator's state after the command."""

        def elsewhere(robot: Any, s: Episode) -> SimulatedRobot:
            results = {n: fields[f"{n}_after"] for n in self.results}
            return SimulatedRobot(fields["q_after"], fields["v_after"], results)

        return self._after(robot, fields, elsewhere)

    def episode(self, robot: Any, fields: Mapping[str, Any]) -> Episode:
        """The episode that one function of the task receives: all fields, and its own key of random
        numbers."""
        s = Episode(
            {n: x for n, x in fields.items() if n not in self.tables} | self._shared_fields(fields)
        )
        return self._at_its_place(s.with_fields(random=self._key(robot, fields)), fields)

    def _measures(self, robot: Any, fields: dict[str, Any]) -> dict[str, Any]:
        """Measures of an evaluation, from the carried state."""
        s = Episode({n: fields[n] for n in self.carried} | self._shared_fields(fields))
        s = s.with_fields(time=fields["age"] * self.task.step_seconds)
        found = self.task.measure(robot, self._at_its_place(s, fields))
        return {n: np.asarray(x) + 0.0 for n, x in found.items()} or {"none": fields["age"]}

    def _key(self, robot: Any, fields: Mapping[str, Any]) -> Key:
        seed, first = fields["seed"]
        return random_numbers.key(seed, first + robot.env, fields["ticks"])

    def _acting(self, fields: Mapping[str, Any], key: Key) -> Episode:
        """The episode that `control` receives."""
        task, seconds = self.task, self.task.step_seconds
        action = np.clip(fields["action"], -task.largest_action, task.largest_action)
        s = Episode({n: fields[n] for n in self.carried} | self._shared_fields(fields))
        s = s.with_fields(action=action, time=s.age * seconds, random=key.at(CONTROL))
        if isinstance(task.push, Push):
            s = s.with_fields(v=push_base(task, task.push, s, key.at(PUSH)))
        return self._at_its_place(s, fields)

    def _after(
        self, robot: Any, fields: dict[str, Any], simulate: Callable[[Any, Episode], SimulatedRobot]
    ) -> dict[str, Any]:
        """Results of a step in which `simulate` moves the robot."""
        step = self._simulate(robot, fields, simulate)
        ends = self._end(robot, step, self._reward(robot, step))
        over, last = ends.done & step.finite, step.after  # with the kept numbers of its episode
        s = last.with_fields(random=step.key.at(PROMOTE))
        step = step._replace(after=last.with_fields(**promote(self.task, robot, s, over)))
        carried, s = self._reset(robot, step, ends)
        last = last.with_fields(last_action=step.before.action)
        final = self._observations(robot, last, step.key, step.fields, False)
        # Operations are recorded in the order of these lines. A training recognises its task by the
        # hash of the program (`task_program`), so another order would make it another task.
        found = {
            **carried,
            "reward": ends.rewards.sum(),
            "terminated": ends.terminated,
            "truncated": ends.truncated,
            "ended_sums": np.where(ends.done, ends.sums, 0.0),
            "ended_age": np.where(ends.done, step.age, 0.0),
            "failed": ends.failed,
            "odd_action": ends.odd_action,
            **self._observations(robot, s, step.key, step.fields, ends.begins),
        }
        # A learner that stores final observations must not store NaN.
        finite = {n: np.where(step.finite, final[n], 0.0) for n in self.observations}
        if self.wait:  # an episode's last observation, before the next one begins
            found |= {n: np.where(ends.done, finite[n], found[n]) for n in finite}
        return found | {f"final_{n}": x for n, x in finite.items()}

    def _simulate(
        self, robot: Any, fields: dict[str, Any], simulate: Callable[[Any, Episode], SimulatedRobot]
    ) -> Transition:
        """The robot's motion under the action, then the task's update."""
        key = self._key(robot, fields)
        before = self._acting(fields, key)
        moved = simulate(robot, before)
        finite = np.isfinite(moved.q).all() & np.isfinite(moved.v).all()
        age = before.age + 1.0
        s = before.with_fields(
            q=moved.q,
            v=moved.v,
            **moved.others,
            last_v=before.v,
            age=age,
            time=age * self.task.step_seconds,
            random=key.at(UPDATE),
        )
        after = update(self.task, robot, s, {*self.own, "q", "v"})
        return Transition(fields, key, before, after, moved.v, age, finite)

    def _reward(self, robot: Any, step: Transition) -> Any:
        """The step's rewards in the order of `scales`; zero if the state is not finite."""
        s = step.after.with_fields(random=step.key.at(REWARD))
        earned = reward(self.task, robot, s, self.rewards)
        return np.where(step.finite, earned * step.fields["scales"] * self.task.step_seconds, 0.0)

    def _end(self, robot: Any, step: Transition, rewards: Any) -> Ends:
        """Conditions: the episode ends, and the next one begins."""
        fell, late = ends(self.task, robot, step.after, step.finite, step.age > self.length - 0.5)
        odd, failed = ~np.isfinite(step.fields["action"]).all(), ~step.finite
        sums = step.before.sums + rewards
        begins = fell | late
        if self.wait:
            # The episode ended in the step before this one, whose action has no effect.
            begins = step.before.over > 0.5
            fell, late = fell & ~begins, late & ~begins
            rewards = np.where(begins, 0.0, rewards)
            odd, failed = odd & ~begins, failed & ~begins
        return Ends(fell, late, fell | late, begins, odd, failed, rewards, sums)

    def _reset(self, robot: Any, step: Transition, ends: Ends) -> tuple[dict[str, Any], Episode]:
        """The carried arrays after the step, and the episode with them; those of a new episode
        where one begins."""
        s = step.after
        fresh = self._fresh(robot, vars(s), step.key, step.fields)
        now = {n: getattr(s, n) for n in self.carried} | {
            "last_action": step.before.action,
            "sums": ends.sums,
            "last_v": step.v,
            "over": np.where(ends.done, 1.0, 0.0),
        }
        first = {n: np.zeros(shape) for n, shape in self.carried.items()}
        first |= {n: now[n] for n in self.task.keep} | fresh
        carried = {n: np.where(ends.begins, first[n], now[n]) for n in self.carried}
        draw_again(self.task, self._defaults, self._streams.vary, carried, step.age, step.key)
        carried["ticks"] = step.before.ticks + 1.0
        s = s.with_fields(**carried, time=carried["age"] * self.task.step_seconds)
        of_step = {n: np.where(ends.begins, 0.0, getattr(step.after, n)) for n in self.results}
        s = self._at_its_place(s.with_fields(**of_step), step.fields)
        # `observe` compares v with the velocity before the step; the next step carries v itself.
        others = {n: x for n, x in vars(s).items() if n != "last_v"}
        last_v = partial(np.where, ends.begins, 0.0, step.after.last_v)
        return carried, Episode({**others, "_unread": {"last_v": last_v}})

    def _observations(
        self, robot: Any, s: Episode, key: Key, before: Mapping[str, Any], anew: Any
    ) -> dict[str, Any]:
        """Observations by group, with delays and history, and the arrays that the next step needs
        for them."""
        s = as_measured(self.task, s.with_fields(random=key.at(OBSERVE)))
        terms = terms_of(self.task.observe(robot, s))
        present = self.observation.present_observations(terms, key.at(self._streams.noise))
        now, earlier = self.late.delay(present, before, anew, s)
        return {**self.observation.with_history(now, before, anew), **earlier}
