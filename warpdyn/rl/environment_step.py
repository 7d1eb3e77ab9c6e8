"""A step of a task's environments as one text: simulation, rewards, ends, resets, observations."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..execution.oracle import oracle
from ..functions.drives import base_coordinates
from ..kernels import random_numbers
from ..kernels.own_kernel import OwnKernel, kernel
from ..kernels.random_numbers import Key
from ..kernels.signature import Shared
from .task import Episode, Push, Task, TaskError
from .terms import every, world_to_base

BEGIN, UPDATE, OBSERVE, REWARD, CONTROL, PUSH, VARY = range(7)
"""Streams of random numbers: one for each text, then one for each number that varies."""

DRIVEN, TOUCHED = ("kp", "kd", "effort"), ("friction", "stiffness", "dissipation")
"""Numbers of drives and of the ground that may vary, or be carried under these names."""

Shapes = Mapping[str, tuple[int, ...]]


class Moved(NamedTuple):
    """A robot after a step, with what is carried and seen of it."""

    q: Any
    v: Any
    impulses: Any
    forces: Any
    torques: Any


class EnvironmentStep:
    """The texts of a task put together, and the arrays that they read and write.

    carried: from step to step, by name, with the shape of one environment's part. numbers: arrays
    that serve all. observations: by group. rewards: names, in the order of `scales`.
    """

    def __init__(self, task: Task, seed: int, wait: bool = False):
        self.task, self.seed, self.wait = task, seed, wait
        self.rewards = tuple(task.scales)
        self.joints = task.model.nv - base_coordinates(task.model)
        self.length = round(task.seconds / task.step_seconds)
        self.numbers: dict[str, np.ndarray] = {
            "scales": np.array(list(task.scales.values()), dtype=float),
            "seed": np.array([float(seed)]),
        }
        self.numbers |= {n: np.asarray(x, dtype=float) for n, x in task.numbers.items()}
        self._defaults = _defaults(task)
        number_shapes = {n: x.shape for n, x in self.numbers.items()}
        begun = self._begun(number_shapes)
        nv = task.model.nv
        self.carried: dict[str, tuple[int, ...]] = {}
        self.carried |= {"q": (task.model.nq,), "v": (nv,), "last_v": (nv,)}
        self.carried |= {"last_action": (task.actions,)}
        self.carried |= {"impulses": (len(task.points), 3)}
        self.carried |= {"age": (), "ticks": (), "over": (), "sums": (len(self.rewards),)}
        self.carried |= begun
        self.own = tuple(n for n in begun if n not in ("q", "v", *self._defaults))
        shapes = {**self.carried, "action": (task.actions,)}
        self.step: OwnKernel = _kernel("environment_step", shapes, number_shapes, self._step)
        self.start: OwnKernel = _kernel(
            "environment_start", {"ticks": ()}, number_shapes, self._start
        )
        there: dict[str, tuple[int, ...]] = {"q_after": (task.model.nq,), "v_after": (nv,)}
        there |= {"forces_after": (len(task.points), 3), "torques_after": (self.joints,)}
        self.command: OwnKernel = _kernel(
            "environment_command", shapes, number_shapes, self._command
        )
        self.settle: OwnKernel = _kernel(
            "environment_settle", {**shapes, **there}, number_shapes, self._settle
        )
        self.observations = self._observed(number_shapes)

    def _begun(self, numbers: Shapes) -> dict[str, tuple[int, ...]]:
        """Names and shapes of what an episode begins with."""
        shapes: dict[str, tuple[int, ...]] = {}

        def text(robot: Any, fields: dict[str, Any]) -> Any:
            fresh = self._fresh(robot, fields, random_numbers.key(0, 0, fields["ticks"]), {})
            shapes.update({n: np.shape(x) for n, x in fresh.items()})
            return fresh["q"]

        oracle(_kernel("begin", {"ticks": ()}, numbers, text), self.task.model, 0.0, *self._given())
        for name, size in (("q", self.task.model.nq), ("v", self.task.model.nv)):
            if shapes[name] != (size,):
                raise TaskError(
                    f"{self.task.name}.begin: {name} must be ({size},) for {self.task.model.name}, "
                    f"got {shapes[name]}"
                )
        return shapes

    def _observed(self, numbers: Shapes) -> dict[str, tuple[int, ...]]:
        """Groups of observations and their shapes."""
        groups: dict[str, tuple[int, ...]] = {}

        def text(robot: Any, fields: dict[str, Any]) -> Any:
            key = random_numbers.key(0, 0, fields["ticks"])
            found = self._observe(robot, self._started(robot, fields, key), key)
            groups.update({n: np.shape(x) for n, x in found.items()})
            return fields["ticks"]

        probe = _kernel("observe", {"ticks": ()}, numbers, text)
        oracle(probe, self.task.model, 0.0, *self._given())
        return groups

    def _given(self) -> list[np.ndarray]:
        return list(self.numbers.values())

    # The texts, on one robot: `fields` are its arrays by name.

    def _start(self, robot: Any, fields: dict[str, Any]) -> dict[str, Any]:
        """All that is carried, at the beginning of a first episode, and what is observed."""
        key = random_numbers.key(fields["seed"][0], robot.env, fields["ticks"])
        s = self._started(robot, fields, key)
        state = {n: getattr(s, n) for n in self.carried if n != "ticks"}
        return {**state, **self._observe(robot, s, key)}

    def _started(self, robot: Any, fields: dict[str, Any], key: Key) -> Episode:
        task = self.task
        numbers = {n: fields[n] for n in self.numbers}
        fresh = self._fresh(robot, numbers, key, {})
        nothing = {n: np.zeros(shape) for n, shape in self.carried.items() if n not in fresh}
        sight = {"forces": np.zeros((len(task.points), 3)), "time": 0.0}
        sight |= {"torques": np.zeros(self.joints), "action": np.zeros(task.actions)}
        return Episode({**numbers, **nothing, **fresh, **sight, "ticks": fields["ticks"]})

    def _fresh(
        self, robot: Any, numbers: Mapping[str, Any], key: Key, kept: Mapping[str, Any]
    ) -> dict[str, Any]:
        """What an episode begins with; numbers that are drawn once only are those of `kept`."""
        task = self.task
        begun = task.begin(robot, Episode({**numbers, "random": key.at(BEGIN)}))
        if not {"q", "v"} <= set(begun):
            raise TaskError(f"{task.name}.begin must name q and v; it named {', '.join(begun)}")
        varied = {
            name: kept[name]
            if kept and task.vary[name].when == "startup"
            else task.vary[name].drawn(key.at(VARY + k), default)
            for k, (name, default) in enumerate(self._defaults.items())
        }
        return {**begun, **varied}

    def _step(self, robot: Any, fields: dict[str, Any]) -> dict[str, Any]:
        """All that is carried after a step, what it earned, and what is observed then."""
        return self._after(robot, fields, self._simulated)

    def _command(self, robot: Any, fields: dict[str, Any]) -> dict[str, Any]:
        """What the action asks of the drives: for another simulator, or a robot."""
        wanted: dict[str, Any] = {}

        def elsewhere(robot: Any, s: Episode) -> Moved:
            wanted.update(self._wanted(robot, s))
            forces = np.zeros((len(self.task.points), 3))
            return Moved(s.q, s.v, s.impulses, forces, np.zeros(self.joints))

        self._after(robot, fields, elsewhere)
        return wanted

    def _settle(self, robot: Any, fields: dict[str, Any]) -> dict[str, Any]:
        """As `_step`, of what another simulator has made of the command."""

        def elsewhere(robot: Any, s: Episode) -> Moved:
            q, v, forces, torques = (fields[f"{n}_after"] for n in ("q", "v", "forces", "torques"))
            return Moved(q, v, s.impulses, forces, torques)

        return self._after(robot, fields, elsewhere)

    def _after(
        self, robot: Any, fields: dict[str, Any], simulate: Callable[[Any, Episode], Any]
    ) -> dict[str, Any]:
        """What is carried after a step of the robot that `simulate` moves on."""
        task = self.task
        numbers = {n: fields[n] for n in self.numbers}
        key = random_numbers.key(fields["seed"][0], robot.env, fields["ticks"])
        action = np.clip(fields["action"], -task.largest_action, task.largest_action)
        before = {n: fields[n] for n in self.carried} | numbers
        seconds = task.step_seconds
        if task.push is not None:
            before["v"] = self._pushed(task.push, before, key)
        s = Episode(
            {**before, "action": action, "time": before["age"] * seconds, "random": key.at(CONTROL)}
        )
        end = simulate(robot, s)
        finite = np.isfinite(end.q).all() & np.isfinite(end.v).all()
        age = before["age"] + 1.0
        s = s.with_fields(
            **{"q": end.q, "v": end.v, "forces": end.forces, "torques": end.torques},
            **{"impulses": end.impulses, "last_v": before["v"], "age": age, "time": age * seconds},
            random=key.at(UPDATE),
        )
        changed = task.update(robot, s)
        if unknown := set(changed) - {*self.own, "q", "v"}:
            raise TaskError(
                f"{task.name}.update changes {', '.join(sorted(unknown))}, which begin does not name"
            )
        s = s.with_fields(**changed)
        earned = self._earned(robot, s, key)
        parts = np.where(finite, earned * numbers["scales"] * seconds, 0.0)
        fell = task.ended(robot, s) | ~finite
        late = (age > self.length - 0.5) & ~fell
        sums = before["sums"] + parts
        begins = fell | late
        if self.wait:
            begins = before["over"] > 0.5
            fell, late = fell & ~begins, late & ~begins
            parts = np.where(begins, 0.0, parts)
        done = fell | late
        fresh = self._fresh(robot, numbers, key, before)
        now = {n: getattr(s, n) for n in self.carried} | {
            **{"last_action": action, "sums": sums, "last_v": end.v},
            "over": np.where(done, 1.0, 0.0),
        }
        zero = {n: np.zeros(shape) for n, shape in self.carried.items()}
        after = {n: np.where(begins, fresh.get(n, zero[n]), now[n]) for n in self.carried}
        after = self._varied(after, age, key)
        after["ticks"] = before["ticks"] + 1.0
        seen = s.with_fields(**after, time=after["age"] * seconds)
        seen = seen.with_fields(
            forces=np.where(begins, 0.0, s.forces),
            torques=np.where(begins, 0.0, s.torques),
        )
        final = self._observe(robot, s.with_fields(last_action=action), key)
        return {
            **after,
            **{"reward": parts.sum(), "terminated": fell, "truncated": late},
            **{"ended_sums": np.where(done, sums, 0.0), "ended_age": np.where(done, age, 0.0)},
            **{"failed": ~finite},
            **self._observe(robot, seen, key),
            **{f"final_{n}": x for n, x in final.items()},
        }

    def _simulated(self, robot: Any, s: Episode) -> Any:
        """The simulation's steps, with the numbers that vary in the place of the task's."""
        task, wanted = self.task, self._wanted(robot, s)
        more: dict[str, Any] = {}
        if "targets" in wanted:
            drives = task.drives
            if drives is None:
                raise TaskError(
                    f"{task.name}.control gives targets, but the task has no drives = wd.PD(kp, kd)"
                )
            changed = {n: x * np.ones(self.joints) for n, x in self._named(s, DRIVEN).items()}
            more |= {"control": drives._replace(**changed), "targets": wanted["targets"]}
        if task.points:
            changed = self._named(s, TOUCHED)
            if "friction" in changed:
                changed["friction"] = changed["friction"] * np.ones(len(task.points))
            more |= {"points": task.points, "impulses": s.impulses}
            more["ground"] = task.ground._replace(**changed)
        if "gravity" in self.carried:
            more["gravity"] = s.gravity
        tau = wanted.get("tau", np.zeros(task.model.nv))
        times = {"dt": task.dt, "substeps": task.substeps, "sweeps": task.sweeps}
        return robot.step(s.q, s.v, tau, **times, **more)

    def _wanted(self, robot: Any, s: Episode) -> dict[str, Any]:
        """What `control` gives, checked."""
        task = self.task
        wanted = task.control(robot, s)
        if not wanted or set(wanted) - {"targets", "tau"}:
            raise TaskError(
                f"{task.name}.control must give targets, tau, or both; "
                f"it gave {', '.join(wanted) or 'nothing'}"
            )
        return wanted

    def _named(self, s: Episode, names: Sequence[str]) -> dict[str, Any]:
        """Those of the numbers that the task carries, or has for all environments."""
        return {n: getattr(s, n) for n in names if n in self.carried or n in self.numbers}

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

    def _observe(self, robot: Any, s: Episode, key: Key) -> dict[str, Any]:
        found = self.task.observe(robot, s.with_fields(random=key.at(OBSERVE)))
        return dict(found) if isinstance(found, Mapping) else {"policy": found}

    def _pushed(self, push: Push, before: Mapping[str, Any], key: Key) -> Any:
        """Velocities after a push, if it is time for one."""
        if not self.task.model.floating_base:
            raise TaskError(f"{self.task.name}.push: {self.task.model.name} has no free base")
        draws = random_numbers.uniform(key.at(PUSH), 2, [0.0, 0.0], [2 * np.pi, push.speed])
        level = np.stack([np.cos(draws[0]), np.sin(draws[0]), 0.0]) * draws[1]
        kick = world_to_base(before["q"], level)
        now = every(before["age"], push.seconds / self.task.step_seconds)
        return np.concatenate([before["v"][:3] + np.where(now, kick, 0.0), before["v"][3:]])

    def _varied(self, after: dict[str, Any], age: Any, key: Key) -> dict[str, Any]:
        """Numbers that change by time are drawn anew when it has come."""
        for k, (name, default) in enumerate(self._defaults.items()):
            vary = self.task.vary[name]
            if vary.when == "interval":
                now = every(age, vary.seconds / self.task.step_seconds)
                after[name] = np.where(now, vary.drawn(key.at(VARY + k), default), after[name])
        return after


def _defaults(task: Task) -> dict[str, np.ndarray]:
    """What the numbers that vary are without."""
    defaults: dict[str, np.ndarray] = {}
    for name in task.vary:
        if name == "gravity":
            value: Any = (0.0, 0.0, -9.81)
        elif name in DRIVEN and task.drives is not None:
            value = getattr(task.drives, name)
            if value is None:
                value = task.model.effort_limit[base_coordinates(task.model) :]
        elif name in TOUCHED and getattr(task.ground, name, None) is not None:
            value = getattr(task.ground, name)
        else:
            raise TaskError(
                f"{task.name}.vary: {name!r} is no number that can be drawn; there are gravity, "
                f"{', '.join((*DRIVEN, *TOUCHED))}, those of the drives where the task has some"
            )
        defaults[name] = np.asarray(value, dtype=float)
    return defaults


def _kernel(
    name: str, arrays: Shapes, numbers: Shapes, text: Callable[[Any, dict[str, Any]], Any]
) -> OwnKernel:
    """A kernel whose arrays are named by a task."""

    def whole(robot: Any, *values: Any) -> Any:
        return text(robot, dict(zip((*arrays, *numbers), values, strict=True)))

    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = [inspect.Parameter("robot", kind)]
    parameters += [inspect.Parameter(n, kind, annotation=shape) for n, shape in arrays.items()]
    parameters += [inspect.Parameter(n, kind, annotation=Shared(x)) for n, x in numbers.items()]
    whole.__name__ = whole.__qualname__ = name
    whole.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return kernel(whole)
