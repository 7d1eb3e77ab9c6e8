"""A policy on a robot: its observations, and the meaning of its actions, from the functions of its
task."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any, Literal, NamedTuple

import numpy as np

from ..execution.batched import bind
from ..execution.oracle import oracle
from .environment_step import UPDATE, EnvironmentStep
from .policy import Policy
from .task import Task, TaskError
from .variation import Vary
from .varied_sensors import OBSERVATION_LATENCY

FORCE, TORQUE = 50.0, 5.0
"""Force on every contact point and of every pair [N] and torque on every joint [N·m] of a probe that tests if they
are observed."""


class PolicyCommand(NamedTuple):
    """Command of a policy to a robot: targets (joints,) of its drives, None if the task has no
    targets, and additional joint forces (joints,)."""

    targets: np.ndarray | None
    tau: np.ndarray


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
            if task.commanded not in self.carried:
                raise TaskError(
                    f"{task.name}.commanded is {task.commanded!r}, which begin does not name"
                )
            self.read["asked"] = self.carried[task.commanded]
        self.observe = self.kernel_of("deployed_observe", self.read, self._observe_now)
        begun = oracle(self.start, task.model, 0.0, *self.given.values())
        self.first: dict[str, np.ndarray] = {
            n: np.reshape(x, self.carried[n])
            for n, x in begun._asdict().items()
            if n in self.carried
        }
        self._check()

    def _observe_now(self, robot: Any, fields: dict[str, Any]) -> dict[str, Any]:
        """Carried arrays and observations now; those of a new episode where `anew`."""
        task, seconds = self.task, self.task.step_seconds
        key, anew = self._key(robot, fields), fields["anew"] > 0.5
        before = self._acting(fields, key)
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
        seen = self.observation.with_history(self._now(robot, s, key), fields, anew)
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
            found = oracle(self.observe, self.task.model, *arrays.values(), *self.given.values())
            seen.append(getattr(found, self.group))
        entries = self.observation.entries[self.group]
        ends = np.cumsum(list(entries.values()))
        parts = np.split((seen[0] != seen[1])[-ends[-1] :], ends[:-1])
        if names := [n for n, part in zip(entries, parts, strict=True) if part.any()]:
            raise TaskError(
                f"its policy observes {', '.join(names)}, which comes of contact forces or of "
                "the drives' torques; of a robot q and v are known"
            )


class Deployed:
    """A policy that controls one robot, with the observations of its training but without their
    noise.

    `step(q, v, command)` every `period` seconds returns the command for the drives until the next
    step. `torques(q, v)` returns the torques that the drives then apply, as often as the robot
    asks. q (nq,) and v (nv,) are those of `task.model`. The task's `update` advances the arrays
    that it carries from step to step (the last action, earlier observations, a phase). Contact
    forces and torques, which a robot does not measure, are zero there. A policy that observes them
    raises an error.

    command: values of the task's `commanded` array, clamped to ± the task's number
    `<commanded>_range`; it follows them by at most `<commanded>_rate` per second, if the task has
    these numbers.
    commands: the number of its values, 0 without a command.
    observation (n,): the last observation.
    """

    def __init__(self, task: Task, policy: Policy):
        self.task, self.policy, self.period = task, policy, task.step_seconds
        try:
            text = RobotStep(task)
        except Exception as error:  # a task's function may raise any error
            raise TaskError(f"{task.name} cannot move a robot: {error}") from error
        (width,) = text.observations[text.group]
        policy.check(task, width)
        self.joints = text.joints
        self.commands = int(np.prod(text.read["asked"], dtype=int)) if task.commanded else 0
        self._limit = _bounds(task, "range")
        self._most = _bounds(task, "rate") * self.period
        self._gains = _gains(task, self.joints)
        self._text = text
        self._start()

    @property
    def observation(self) -> np.ndarray:
        return self._seen[0]

    def twin(self) -> Deployed:
        """The same policy for another robot, with the same kernels."""
        other = copy(self)
        other._start()
        return other

    def reset(self) -> None:
        """Reset to the start of an episode, without earlier actions and observations."""
        for name in self._text.carried:
            self._arrays[name][0] = self._text.first.get(name, 0.0)
        for name in self._text.read.keys() & {"action", "asked"}:
            self._arrays[name][:] = 0.0
        self._arrays["anew"][:] = 1.0
        self.wanted = PolicyCommand(None, np.zeros(self.joints))

    def step(self, q: Any, v: Any, command: Any = None) -> PolicyCommand:
        """The policy's command in this state; call it every `period` seconds."""
        arrays = self._arrays
        arrays["q_now"][0], arrays["v_now"][0] = q, v
        if self.commands:
            asked = np.zeros(self.commands) if command is None else np.ravel(command)
            now = arrays["asked"].reshape(-1)
            change = np.clip(asked, -self._limit, self._limit) - now
            now += np.clip(change, -self._most, self._most)
        self._look()
        arrays["anew"][:] = 0.0
        arrays["action"][0] = self.policy(self._seen[0])
        given = self._ask()._asdict()
        driven = self.task.model.joint_columns
        tau = given["tau"][0, driven] if "tau" in given else np.zeros(self.joints)
        self.wanted = PolicyCommand(given["targets"][0] if "targets" in given else None, tau)
        return self.wanted

    def torques(self, q: Any, v: Any) -> np.ndarray:
        """Torques of the drives at positions and velocities of the joints (joints,), within their
        efforts [N·m, N]; zero until the first step."""
        targets, tau = self.wanted
        if targets is None:
            return np.array(tau)
        kp, kd, effort = self._gains
        driven: np.ndarray = np.clip(kp * (targets - q) - kd * np.asarray(v), -effort, effort)
        return driven + tau

    def _start(self) -> None:
        """Allocate its arrays, and bind the kernels to them."""
        text = self._text
        self._arrays = {n: np.zeros((1, *shape)) for n, shape in text.read.items()}
        self._seen = np.zeros((1, self.policy.width))
        self._look, self._ask = self._bind_kernels()
        self.reset()

    def _bind_kernels(self) -> tuple[Callable[[], Any], Callable[[], Any]]:
        """Both kernels, compiled: the observation, and the command for an action."""
        text, model, arrays = self._text, self.task.model, self._arrays
        given = text.given.values()
        called = text.observe.describe(model, *arrays.values(), *given)
        out = {n: self._seen if n == text.group else arrays[n] for n in called.results}
        look = bind(text.observe, model, *arrays.values(), *given, out=out)
        acting = [arrays[n] for n in (*text.carried, "action")]
        return look, bind(text.command, model, *acting, *given)


def _without_chance(task: Task) -> Task:
    """The task without noise, pushes, terrain and random draws. Varied numbers are at their
    defaults, and the policy's group is the only one."""
    plain = copy(task)
    plain.noise, plain.push, plain.terrain = {}, None, None
    plain.vary = {
        n: Vary(0.0, 0.0)
        if n in ("latency", OBSERVATION_LATENCY)
        else Vary(1.0, 1.0, how="scale", of=each.of)
        for n, each in task.vary.items()
    }
    group = next(iter(task.groups), "policy")
    plain.groups = {group: task.groups[group]} if task.groups else {}
    plain.history = {g: n for g, n in task.history.items() if g == group}
    return plain


def _bounds(task: Task, kind: Literal["range", "rate"]) -> np.ndarray:
    """Largest size of a command, or of its rate, in training."""
    known = task.numbers.get(f"{task.commanded}_{kind}", np.inf)
    return np.ravel(np.abs(np.asarray(known, dtype=float)))


def _gains(task: Task, joints: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
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
