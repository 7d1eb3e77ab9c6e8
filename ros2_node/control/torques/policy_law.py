"""A trained policy as the control law: its steps, its file and task, and their checks against the robot."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from warpdyn.model import Model
from warpdyn.model.scene.free_bodies import free_joints

from ..references.speed_command import SpeedCommand
from ..settings.node_settings import Settings
from ..states.base_state import BaseState
from ..states.finite_difference import Index
from ..states.name_maps import single_joints
from ..states.state import State
from .payload import Payload

if TYPE_CHECKING:
    from warpdyn.rl.deployed_policy import DeployedPolicy
    from warpdyn.rl.policy import Policy
    from warpdyn.rl.task import Task

SPEEDS = 3
"""Numbers of a command that cmd_vel gives: forward, sideways, turning."""


class RobotPolicy:
    """The policy of one robot. `prepare` runs a step of the policy when it is due, and `apply`
    writes the torques of its drives at each launch.

    task: of the policy. joints: the columns of its joints in q and v of the state. base: the state
    of the free base, None where the task's is fixed.
    """

    deployed: DeployedPolicy
    """The policy with its kernels; `PolicyLaw.deploy` sets it."""

    def __init__(
        self, task: Task, state: State, joints: tuple[Index, Index], base: BaseState | None
    ) -> None:
        self.base, self.command = base, SpeedCommand()
        self._state, (self._q, self._v) = state, joints
        self._scalar_first = task.model.quaternion == "wxyz"
        self._due = -np.inf
        self._before = -np.inf

    def begin(self) -> None:
        """Reset the policy. The next launch runs a step."""
        self.deployed.reset()
        self._due = -np.inf

    def age(self, now: float) -> float:
        """Seconds since the base's last valid state; 0 for a fixed base."""
        return self.base.age(now) if self.base is not None else 0.0

    def prepare(self, now: float, settings: Settings) -> bool:
        """Run a step of the policy, unless the next launch is nearer to its time. True if the step
        is more than half a period late, for example because too few states arrive."""
        spacing, self._before = now - self._before, now
        period = self.deployed.period
        if now + 0.5 * min(spacing, period) < self._due:
            return False
        on_time = abs(now - self._due) <= 0.5 * period
        late = not on_time and bool(np.isfinite(self._due))
        self._due = (self._due if on_time else now) + period
        command = self.command.at(now, settings.reference_timeout)
        q, v = self._state.q[self._q], self._state.v[self._v]
        if self.base is not None:
            place = self.base.place
            if self._scalar_first:
                place = place[[0, 1, 2, 6, 3, 4, 5]]
            q, v = np.concatenate([place, q]), np.concatenate([self.base.speed, v])
        self.deployed.step(q, v, command if self.deployed.commands else None)
        return late

    def apply(self) -> None:
        """Write the torques of the drives at the present state into its row."""
        state = self._state
        state.torque[:] = 0.0
        state.torque[self._v] = self.deployed.torques(state.q[self._q], state.v[self._v])


class PolicyLaw:
    """The policy of `policy` for some robots of one model; `policies` has one for each."""

    tracks = False
    """True if it reads a wanted position, from which the robot may not be too far."""

    def __init__(self, model: Model, settings: Settings, state: State) -> None:
        self._policy, self._task = policy_and_task(settings.policy, settings.policy_task)
        task = self._task
        names = check_joints(model, task, settings)
        check_description(model, self._policy)
        rows = np.array(model.q_indices(names)), np.array(model.v_indices(names))
        base = task.model.root if task.model.floating_base else None
        self.policies = [
            RobotPolicy(
                task,
                state.row(k),
                rows,
                BaseState(base, settings.frame_prefix) if base is not None else None,
            )
            for k in range(len(state.q))
        ]

    def deploy(self) -> None:
        """Compile the policy's kernels, which all robots share."""
        from warpdyn.rl.deployed_policy import DeployedPolicy

        first = DeployedPolicy(self._task, self._policy)
        for k, policy in enumerate(self.policies):
            policy.deployed = first.twin() if k else first

    def bind(self, payload: Payload) -> Callable[[], object]:
        """A function that writes the torques of all robots. A policy does not use the payload."""
        if not hasattr(self.policies[0], "deployed"):
            self.deploy()

        def apply() -> None:
            for policy in self.policies:
                policy.apply()

        return apply

    def check(self, settings: Settings) -> None:
        """A policy has no parameters that change while the node runs."""

    def change(self, settings: Settings) -> None:
        """A policy has no parameters that change while the node runs."""


@cache
def policy_and_task(policy: str, named: str) -> tuple[Policy, Task]:
    """A policy and its task, read once; ValueError if there is none. `policy` is a file, or the
    name of a policy that comes with warpdyn; `named` is its task if the file has none."""
    path = Path(policy)
    try:
        from warpdyn.rl.bundled_policies import bundled_policy
        from warpdyn.rl.policy import Policy

        read = Policy(path if path.suffix or path.exists() else bundled_policy(policy))
        return read, _task(read, named)
    except (ValueError, ImportError) as error:
        raise ValueError(f"policy: {error}") from error


def _task(policy: Policy, named: str) -> Task:
    """The named task, or else the one in the policy's file."""
    from warpdyn.rl.tasks import TASKS, make

    if named:
        return make(named)
    of = policy.about.get("task")
    names = [n for n, each in TASKS.items() if of in (n, each.__name__)]
    if not names:
        raise ValueError(
            f"{policy.path} is of {of or 'a task that it does not name'}, which does not come with "
            "warpdyn: name it, policy_task:=package.module:Task"
        )
    return make(names[0])


def check_description(model: Model, policy: Policy) -> None:
    """Raise ValueError if the kinds of the robot's joints differ from those in the policy's file,
    or if their limits exclude the stance of its training. A file without a record is not compared."""
    joints = policy.deployment.get("joints")
    if not isinstance(joints, dict):
        return
    kinds = {joint.name: joint.kind.name for joint in model.joints}
    # The file may come from anywhere: its entries are read before they are compared.
    try:
        stance = joints["stance"] or [None] * len(joints["names"])
        rows = list(zip(joints["names"], joints["kinds"], stance, strict=True))
        angles = [None if angle is None else float(angle) for *_, angle in rows]
        unknown = [name for name, *_ in rows if name not in kinds]
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{policy.path}: its deployment record cannot be read: {error}") from None
    if unknown:
        raise ValueError(f"{policy.path} moves {unknown[0]!r}, which {model.name} does not have")
    for (name, kind, _), angle in zip(rows, angles, strict=True):
        if (kind == "prismatic") != (kinds[name] == "prismatic"):
            raise ValueError(
                f"{policy.path} was trained with {name!r} as a {kind} joint; that of {model.name} "
                f"is {kinds[name]}"
            )
        at = model.coordinates[name].q.start
        low, high = model.position_lower[at], model.position_upper[at]
        if angle is not None and not low <= angle <= high:
            raise ValueError(
                f"{policy.path} stands with {name!r} at {angle:g}; the limits of {model.name} are "
                f"{low:g} to {high:g}"
            )


def check_joints(model: Model, task: Task, settings: Settings) -> tuple[str, ...]:
    """The task's joints by name; ValueError if the policy cannot move the robot."""
    names = task.model.joint_names
    objects = [joint for joint in free_joints(task.model) if joint.name != task.model.base_joint]
    if objects:
        raise ValueError(
            f"{task.name} observes the pose of {objects[0].child!r}, an object, and no topic has it"
        )
    commanded = settings.command_joints or settings.joints or single_joints(model)
    for name in names:
        if name not in model.joint_names:
            raise ValueError(
                f"policy {settings.policy} moves {name!r} of {task.model.name}, and {model.name} has "
                f"no such joint; its joints are {', '.join(model.joint_names)}"
            )
        if name not in commanded:
            raise ValueError(
                f"policy {settings.policy} moves {name!r}: it must be among joints and command_joints"
            )
    # The torque of a joint that the policy does not move is zero, so such a joint would sink.
    for name in commanded:
        if name not in names:
            raise ValueError(
                f"policy {settings.policy} does not move {name!r}: leave it out of command_joints"
            )
    if task.model.base_velocity != "local":
        raise ValueError(
            f"{task.name} has its base's velocities as {task.model.base_velocity!r}; odometry gives "
            'the base\'s own axes, "local"'
        )
    if task.commanded and not task.model.floating_base:
        raise ValueError(
            f"{task.name} is commanded by {task.commanded!r}, and cmd_vel has the speeds of a free "
            "base alone"
        )
    return names
