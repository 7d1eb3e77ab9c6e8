"""One robot under a policy: its base, its command, and the time of the policy's next step."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..references.speed_command import SpeedCommand
from ..settings.node_settings import Settings
from ..states.base_state import BaseState
from ..states.finite_difference import Index
from ..states.state import State

if TYPE_CHECKING:
    from warpdyn.rl.deployed_policy import DeployedPolicy
    from warpdyn.rl.task import Task


class RobotPolicy:
    """The policy of one robot: `prepare` carries out a step of it when its time has come, `apply`
    writes the torques of its drives, at each launch.

    task: of the policy. joints: the columns of its joints in q and v of the state. base: the state
    of the free base, None where the task's is fixed.
    """

    deployed: DeployedPolicy
    """The policy with its kernels; `PolicyLaw.deploy` sets it."""

    def __init__(
        self,
        task: Task,
        state: State,
        joints: tuple[Index, Index],
        base: BaseState | None,
    ) -> None:
        self.base, self.command = base, SpeedCommand()
        self._state, (self._q, self._v) = state, joints
        self._scalar_first = task.model.quaternion == "wxyz"
        self._due = -np.inf
        self._before = -np.inf

    def begin(self) -> None:
        """Reset the policy. The next launch carries out a step."""
        self.deployed.reset()
        self._due = -np.inf

    def age(self, now: float) -> float:
        """Seconds since the base's last good state; 0 where the base is fixed."""
        return self.base.age(now) if self.base is not None else 0.0

    def prepare(self, now: float, settings: Settings) -> bool:
        """Carry out a step of the policy, unless the next launch is nearer to its time. True if the step
        came more than half a period late, for example because too few states arrive."""
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
        """The torques of the drives at the present state, into its row."""
        state = self._state
        state.torque[:] = 0.0
        state.torque[self._v] = self.deployed.torques(state.q[self._q], state.v[self._v])
