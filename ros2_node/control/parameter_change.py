"""Changes of parameters while robots are enabled: the commands make no step, and follow the
motion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from .commands.bumpless_transfer import Transfer
from .commands.torque_output import TorqueOutput
from .safety.gate import Gate, Phase
from .safety.joint_limits import JointLimits
from .settings.node_settings import Settings
from .states.state import State
from .torques.fleet_dynamics import FleetDynamics

LATER = ("velocity_source", "velocity_cutoff", "missing_joint_policy", "ft_cutoff", "ft_deadband")
"""Fields of `Settings` that change the torques with the next message, not at the present state."""


class References(Protocol):
    """The references of a robot."""

    def track_again(self) -> None:
        """Write the accelerations for other gains."""


class ChangingRobot(Protocol):
    """The parts of a `Robot` from which its command follows."""

    state: State
    gate: Gate
    limits: JointLimits
    output: TorqueOutput
    effort_watch: Any

    @property
    def references(self) -> References:
        """The references of the robot."""

    @property
    def is_enabled(self) -> bool:
        """True if computed commands are sent."""


class ParameterChange:
    """A change of parameters or payload, from before it until `finish` or `cancel`.

    Both computed torques, of the old parameters and of the new ones, are those of the present
    state. Their difference is the step that the commands must not make. A step from the last
    command to the next one would contain the motion of the robot between them. Changes in every
    cycle would then keep the commands constant while the robot moves.

    Nothing is computed for robots that are not enabled.
    """

    def __init__(self, dynamics: FleetDynamics, robots: Sequence[ChangingRobot]) -> None:
        self._dynamics = dynamics
        self._robots = [robot for robot in robots if robot.is_enabled]
        self._pending = [robot.output.pending for robot in self._robots]
        self._torques, self._targets = self._compute()

    def cancel(self) -> None:
        """Nothing has changed."""
        for robot, pending in zip(self._robots, self._pending, strict=True):
            robot.output.transfer(pending)

    def finish(self, before: Settings, after: Settings) -> None:
        """Let the commands of enabled robots continue where the old parameters would lead them. The
        settings are those before and after the change."""
        later = any(getattr(before, name) != getattr(after, name) for name in LATER)
        for robot in self._robots:
            robot.references.track_again()
        torques, targets = self._compute()
        steps = zip(self._robots, self._pending, torques, targets, strict=True)
        for k, (robot, pending, torque, target) in enumerate(steps):
            if later and robot.output.may_begin_at_last():
                continue  # the transfer that `Robot.change` has begun
            begun, step = robot.output.pending, target - self._targets[k]
            assert begun is not None  # each change begins a transfer
            if not np.isfinite(step).all():
                continue
            if pending is not None and pending.step is None:
                continue  # another change has begun a transfer from the last command
            if pending is not None:
                step = step + pending.step
            robot.output.transfer(Transfer(begun.duration, step), torque - self._torques[k])

    def _compute(self) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Torques (nv,) and wanted commands (n,) of each robot at its present state."""
        if self._robots:
            self._dynamics.compute()
        torques = [robot.state.torque.copy() for robot in self._robots]
        return torques, [_target(robot) for robot in self._robots]


def _target(robot: ChangingRobot) -> np.ndarray:
    """The wanted command (n,) for the computed torques of a robot, without the filter of torques."""
    torque, state, watch = robot.state.torque, robot.state, robot.effort_watch
    if robot.gate.phase is Phase.FLOATING and watch is not None:
        torque = watch.torques.gravity_torques()
    else:
        torque = robot.limits.add(torque, state.q, state.v)
    return robot.output.target(torque)
