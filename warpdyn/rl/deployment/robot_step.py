"""The functions of a task for a robot: observations from measured states, and commands from
actions."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np

from ...execution.oracle import oracle
from ..environment_step import UPDATE, EnvironmentStep
from ..task import Task, TaskError
from ..task_functions import control
from ..variation import with_defaults

FORCE, TORQUE = 50.0, 5.0
"""Force on every contact point and of every pair [N] and torque on every joint [N·m] of a probe that tests if they
are observed."""


class RobotStep(EnvironmentStep):
    """The functions of a task for a robot: without noise, pushes, terrain and random draws, and
    without simulation, rewards and ends.

    observe: the kernel of the carried arrays and observations, from a state after the last action.
    read: arrays of one robot that the kernel reads in addition to the task's numbers, with their
    shapes.
    """

    def __init__(self, task: Task):
        super().__init__(_without_chance(task), 0)
        self.group = self.observation.policy
        self.read: dict[str, tuple[int, ...]] = {**self.carried, "action": (task.actions,)}
        self.read |= {"q_now": (task.model.nq,), "v_now": (task.model.nv,), "anew": ()}
        self.read |= {f"{n}_now": shape for n, shape in self.results.items()}
        if task.commanded:
            self.read["asked"] = self.carried[task.commanded]
        self.observe = self.kernel_of("deployed_observe", self.read, self._observe_now)
        begun = oracle(self.start, task.model, 0.0, *self.shared_arrays.values())
        self.first: dict[str, np.ndarray] = {
            n: np.reshape(x, self.carried[n])
            for n, x in begun._asdict().items()
            if n in self.carried
        }
        self._check()

    def _command(self, robot: Any, fields: dict[str, Any]) -> dict[str, Any]:
        """Targets and joint forces of an action, without external forces, which are not a command."""
        s = self._acting(fields, self._key(robot, fields))
        wanted = control(self.task, robot, s)
        return {n: x for n, x in wanted.items() if n != "f_ext"}

    def _observe_now(self, robot: Any, fields: dict[str, Any]) -> dict[str, Any]:
        """Carried arrays and observations now; those of a new episode where `anew`."""
        task, seconds = self.task, self.task.step_seconds
        key, anew = self._key(robot, fields), fields["anew"] > 0.5
        before: Any = self._acting(fields, key)
        q, v, age = fields["q_now"], fields["v_now"], before.age + 1.0
        s = before.with_fields(
            q=q,
            v=v,
            last_v=before.v,
            age=age,
            time=age * seconds,
            **{n: fields[f"{n}_now"] for n in self.results},
            random=key.at(UPDATE),
        )
        changed = {n: x for n, x in task.update(robot, s).items() if n not in ("q", "v")}
        now = {"last_action": before.action, "last_v": v, "age": age, **changed}
        begun = {n: getattr(before, n) if n in changed else 0.0 for n in now}
        now = {n: np.where(anew, begun[n], x) for n, x in now.items()}
        if task.commanded:
            now[task.commanded] = fields["asked"]
        s = s.with_fields(**now, time=now["age"] * seconds)
        s = s.with_fields(last_v=np.where(anew, 0.0, before.v))  # as in a step of an environment
        seen = self._observations(robot, s, key, fields, anew)
        return {**now, "q": q, "v": v, "ticks": before.ticks + 1.0, **seen}

    def _check(self) -> None:
        """Raise if the policy observes quantities that a robot does not measure."""
        arrays = {n: np.zeros(shape) for n, shape in self.read.items()}
        arrays |= self.first | {"q_now": self.first["q"], "v_now": self.first["v"]}
        seen = []
        for share in (0.0, 1.0):
            for name, shape in self.results.items():
                size = TORQUE if name == "torques" else FORCE
                arrays[f"{name}_now"] = np.full(shape, share * size)
            found = oracle(
                self.observe, self.task.model, *arrays.values(), *self.shared_arrays.values()
            )
            seen.append(getattr(found, self.group))
        entries = self.observation.entries[self.group]
        ends = np.cumsum(list(entries.values()))
        parts = np.split((seen[0] != seen[1])[-ends[-1] :], ends[:-1])
        if names := [n for n, part in zip(entries, parts, strict=True) if part.any()]:
            raise TaskError(
                f"its policy observes {', '.join(names)}, which depends on contact forces or "
                "drive torques; a robot measures q and v only"
            )


def _without_chance(task: Task) -> Task:
    """The task without noise, pushes, terrain and random draws. Varied numbers are at their
    defaults, and the policy's group is the only one."""
    plain = copy(task)
    plain.noise, plain.push, plain.terrain = {}, None, None
    plain.random_start = False
    plain.vary = with_defaults(task.vary)
    group = next(iter(task.groups), "policy")
    plain.groups = {group: task.groups[group]} if task.groups else {}
    plain.history = {g: n for g, n in task.history.items() if g == group}
    return plain


def limits_of_command(task: Task) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Smallest and largest command, and its largest change per second, in training."""

    def limit(kind: str, default: Any) -> np.ndarray:
        name = f"{task.commanded}_{kind}"
        found = task.numbers.get(name, getattr(task, name, default))
        return np.ravel(np.asarray(found, dtype=float))

    most = np.abs(limit("range", np.inf))
    return limit("lowest", -most), most, np.abs(limit("rate", np.inf))


def gains_of(task: Task, joints: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """kp, kd and the largest effort of each joint."""
    drives = task.drives
    if drives is None:
        return np.zeros(joints), np.zeros(joints), np.full(joints, np.inf)
    effort = drives.effort
    if effort is None:
        effort = task.model.effort_limit[task.model.joint_columns]
    most = np.array(effort, dtype=float) * np.ones(joints)
    most[~(most > 0.0)] = np.inf  # also for NaN: no limit is known
    return drives.kp * np.ones(joints), drives.kd * np.ones(joints), most
