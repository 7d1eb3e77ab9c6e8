"""A policy on a robot: the functions of its task compute its observations and turn its actions into
commands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..execution.batched import bind
from .deployment.deployment_record import deployment_record
from .deployment.policy_match import check_match
from .deployment.robot_step import RobotStep, gains_of, limits_of_command
from .policy import Policy
from .task import Task, TaskError


class PolicyCommand(NamedTuple):
    """Command of a policy to a robot: targets (joints,) of its drives, None if the task has no
    targets, and additional joint forces (joints,)."""

    targets: np.ndarray | None
    tau: np.ndarray


class DeployedPolicy:
    """A policy that controls one robot, with the observations of its training but without their
    noise.

    `step(q, v, command)` every `period` seconds returns the command for the drives until the next
    step. `torques(q, v)` returns the torques that the drives then apply, as often as the robot
    asks. q (nq,) and v (nv,) are those of `task.model`. The task's `update` advances the arrays
    that it carries from step to step (the last action, earlier observations, a phase). Contact
    forces and torques, which a robot does not measure, are zero there. A policy that observes them
    raises an error.

    command: values of the task's `commanded` array, clamped to ± the task's number
    `<commanded>_range`, or from `<commanded>_lowest` to it; it follows them by at most
    `<commanded>_rate` per second, if the task has these numbers.
    commands: the number of its values, 0 without a command.
    ValueError: q, v or the command has another size, is not finite, or the task has no command; the
    arrays that the policy carries stay as they are.
    observation (n,): the last observation.
    """

    def __init__(self, task: Task, policy: Policy):
        if not isinstance(task, Task):
            raise TypeError(f"task must be a warpdyn.rl.Task, such as rl.make(name), got {task!r}")
        if not isinstance(policy, Policy):
            raise TypeError(
                f"policy must be a warpdyn.rl.Policy, such as rl.Policy(file), got {policy!r}"
            )
        self.task, self.policy, self.period = task, policy, task.step_seconds
        try:
            robot_step = RobotStep(task)
        except Exception as error:  # a task's functions may raise any error
            raise TaskError(f"{task.name} cannot control a robot: {error}") from error
        (width,) = robot_step.observations[robot_step.group]
        policy.check(task, width)
        if policy.deployment:
            check_match(policy.path, policy.deployment, deployment_record(task, robot_step))
        self.joints = robot_step.joints
        self.commands = int(np.prod(robot_step.read["asked"], dtype=int)) if task.commanded else 0
        self._least, self._limit, rate = limits_of_command(task)
        self._most = rate * self.period
        self._gains = gains_of(task, self.joints)
        self._robot_step = robot_step
        self._start()

    @property
    def observation(self) -> np.ndarray:
        return self._observation_row[0]

    def twin(self) -> DeployedPolicy:
        """The same policy for another robot, with the same kernels."""
        other: DeployedPolicy = object.__new__(DeployedPolicy)
        other.__dict__.update(self.__dict__)
        other._start()
        return other

    def reset(self) -> None:
        """Reset to the start of an episode, without earlier actions and observations."""
        for name in self._robot_step.carried:
            self._arrays[name][0] = self._robot_step.first.get(name, 0.0)
        for name in self._robot_step.read.keys() & {"action", "asked"}:
            self._arrays[name][:] = 0.0
        self._arrays["anew"][:] = 1.0
        self.wanted = PolicyCommand(None, np.zeros(self.joints))

    def step(self, q: Any, v: Any, command: Any = None) -> PolicyCommand:
        """The policy's command in this state; call it every `period` seconds."""
        arrays, model = self._arrays, self.task.model
        q, v = _finite("q", q, model.nq), _finite("v", v, model.nv)
        asked = self._checked_command(command)
        arrays["q_now"][0], arrays["v_now"][0] = q, v
        if self.commands:
            now = arrays["asked"].reshape(-1)
            change = np.clip(asked, self._least, self._limit) - now
            now += np.clip(change, -self._most, self._most)
        self._observe()
        arrays["anew"][:] = 0.0
        arrays["action"][0] = self.policy(self._observation_row[0])
        given = self._command()._asdict()
        driven = self.task.model.joint_columns
        tau = given["tau"][0, driven] if "tau" in given else np.zeros(self.joints)
        self.wanted = PolicyCommand(given["targets"][0] if "targets" in given else None, tau)
        return self.wanted

    def torques(self, q: Any, v: Any) -> np.ndarray:
        """Torques of the drives at positions and velocities of the joints (joints,), within their
        efforts, plus the task's own `tau`, which has no bound [N·m, N]; zero until the first step.
        """
        q, v = (_row(name, x, self.joints) for name, x in (("q", q), ("v", v)))
        targets, tau = self.wanted
        if targets is None:
            return np.array(tau)
        kp, kd, effort = self._gains
        driven: np.ndarray = np.clip(kp * (targets - q) - kd * v, -effort, effort)
        return driven + tau

    def __reduce_ex__(self, _: Any) -> Any:
        """Refuse `copy` and `pickle`: the kernels are bound to memory of this process."""
        raise TypeError(
            "a DeployedPolicy cannot be pickled or copied: its kernels are bound to its arrays in this "
            "process; use twin() for another robot, and make it from its task and file elsewhere"
        )

    def _checked_command(self, command: Any) -> np.ndarray:
        """The command as (commands,); zeros for None."""
        if command is None:
            return np.zeros(self.commands)
        if not self.commands:
            raise ValueError(f"{self.task.name} has no command; leave it out, got {command!r}")
        return _finite("command", np.ravel(command), self.commands)

    def _start(self) -> None:
        """Allocate its arrays, and bind the kernels to them."""
        robot_step = self._robot_step
        self._arrays = {n: np.zeros((1, *shape)) for n, shape in robot_step.read.items()}
        self._observation_row = np.zeros((1, self.policy.width))
        self._observe, self._command = self._bind_kernels()
        self.reset()

    def _bind_kernels(self) -> tuple[Callable[[], Any], Callable[[], Any]]:
        """Both kernels, compiled: the observation, and the command for an action."""
        robot_step, model, arrays = self._robot_step, self.task.model, self._arrays
        given = robot_step.shared_arrays.values()
        called = robot_step.observe.describe(model, *arrays.values(), *given)
        out = {
            n: self._observation_row if n == robot_step.group else arrays[n] for n in called.results
        }
        observe = bind(robot_step.observe, model, *arrays.values(), *given, out=out)
        acting = [arrays[n] for n in (*robot_step.carried, "action")]
        return observe, bind(robot_step.command, model, *acting, *given)


def _row(name: str, values: Any, width: int) -> np.ndarray:
    try:
        row = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be {width} numbers, got {values!r}") from None
    if row.shape not in ((width,), (1, width)):
        raise ValueError(f"{name} must be ({width},), got {row.shape}")
    return row.reshape(width)


def _finite(name: str, values: Any, width: int) -> np.ndarray:
    """Values as an array (width,), all finite: the policy would carry others to its next steps."""
    row = _row(name, values, width)
    if not np.isfinite(row).all():
        raise ValueError(f"{name} must be finite numbers, got {row}")
    return row
