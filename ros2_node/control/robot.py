"""One robot between its messages: the enable gate, the watchdog and the faults. No ROS."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from enum import Enum

import numpy as np

from .external_wrench import ExternalWrench
from .fleet_dynamics import FleetDynamics
from .joint_states import JointStates
from .reasons import REJECTIONS
from .setpoint import Setpoint
from .settings import Settings
from .torque_output import TorqueOutput, finite, per_joint


class Phase(Enum):
    """Where a robot stands; the value is its word in the diagnostics."""

    WAITING = "waiting for joint_states"
    READY = "ready, disabled"
    ENABLED = "enabled"
    STOPPING = "stopping"
    LOST = "state lost"
    FAULT = "fault"


class Robot:
    """One row of the state of `dynamics`, with the inputs that fill it and the commands that come
    of it.

    Two clocks: `now` is the watchdog's time, `steady` the steady clock, both in seconds.
    """

    def __init__(
        self, dynamics: FleetDynamics, index: int, settings: Settings, counts: Counter[str]
    ) -> None:
        self.dynamics = dynamics
        self.counts = counts
        self.state = dynamics.state.row(index)
        self.states = JointStates(dynamics.model, settings, self.state, counts)
        for name in settings.command_joints:
            if name not in self.states.joints:
                read = ", ".join(self.states.joints)
                raise ValueError(
                    f"command_joints names {name!r}, which is not among the joints read: {read}"
                )
        self.output = TorqueOutput(
            dynamics.model, settings.command_joints or self.states.joints, settings
        )
        self.setpoint = Setpoint(dynamics.model, self.states.joints, counts)
        self.wrench = ExternalWrench(dynamics.model, self.state, settings, counts)
        self._command_q = np.array(dynamics.model.q_indices(self.output.joints), dtype=int)
        self._command_v = np.array(dynamics.model.v_indices(self.output.joints), dtype=int)
        self.enabled = False
        self.lost = ""
        self.fault = ""
        self.last_fault = ""
        self._start_by_itself = settings.start_enabled
        self.change(settings)

    def change(self, settings: Settings) -> None:
        """Use new parameters; ValueError when they do not fit this robot."""
        n = len(self.output.joints)
        kp, kd = per_joint("kp", settings.kp, n), per_joint("kd", settings.kd, n)
        self.output.change(settings)
        self.states.change(settings)
        self._kp, self._kd = kp, kd
        self._settings = settings
        self.state.v[:] = 0.0
        self.state.a[:] = 0.0

    # Inputs.

    def read(
        self,
        names: list[str],
        position: Sequence[float],
        velocity: Sequence[float],
        stamp: int,
        now: float,
    ) -> bool:
        """Read a state and prepare the rows for the next launch. False when the message was
        rejected.

        `note` follows when the torques are out (`JointStates` says why).
        """
        if self.states.take(names, position, velocity, stamp, now) is not None:
            return False
        self.prepare(now)
        return True

    def note(self, ros_now: int) -> None:
        """The second half of `read`; `ros_now` is what stamps are compared with [ns]."""
        self.states.note(ros_now)

    def prepare(self, now: float) -> None:
        """Fill the acceleration row from the reference, and let an old wrench go."""
        settings = self._settings
        self.wrench.refresh(now, settings.state_timeout)
        if settings.mode == "gravity":
            return
        wanted, state = self.setpoint, self.state
        if settings.reference_timeout and now - wanted.arrived > settings.reference_timeout:
            wanted.rest()
        state.a[:] = wanted.a
        if settings.mode == "computed_torque" and wanted.placed:
            q, v = state.q[self._command_q], state.v[self._command_v]
            error, rate = wanted.q[self._command_q] - q, wanted.v[self._command_v] - v
            state.a[self._command_v] += self._kp * error + self._kd * rate

    # The gate.

    def enable(self, now: float, steady: float) -> tuple[bool, str]:
        """Let commands out; the text says why not."""
        if self.fault:
            return False, f"a fault is latched, call ~/reset first: {self.fault}"
        if self.output.stopping:
            return False, "the stop sequence is still running"
        if self.states.age(now) > self._settings.state_timeout:
            return False, "there is no fresh joint_states" + (
                f": {self.rejections()}" if self.rejections() else ""
            )
        if self.enabled:
            return True, "already enabled"
        if self.setpoint.arrived < now - self._settings.state_timeout:
            self.setpoint.stay(self.state.q)
        self.lost = ""
        self.enabled = True
        self.output.start(steady)
        return True, "enabled"

    def wait_for_enable(self) -> None:
        """Do not start by itself, whatever `start_enabled` says: this model replaces another."""
        self._start_by_itself = False

    def disable(self, steady: float) -> tuple[bool, str]:
        """Begin the stop sequence."""
        if not self.enabled:
            return True, "already disabled"
        self.enabled = False
        self.output.stop(steady)
        return True, "disabled"

    def reset(self) -> tuple[bool, str]:
        """Forget a latched fault; the gate stays closed."""
        text = (
            f"cleared: {self.fault or self.lost}"
            if self.fault or self.lost
            else "there was no fault"
        )
        self.fault = self.lost = ""
        return True, text

    def fail(self, text: str, steady: float) -> None:
        """Latch a fault and stop."""
        self.fault = self.last_fault = text
        self.counts["fault"] += 1
        self.disable(steady)

    # Outputs.

    def command(self, now: float, steady: float) -> tuple[bool, np.ndarray | None]:
        """After `compute`: whether the torques may be shown, and the command to send, if any."""
        if not finite(self.state.torque):
            bad = [
                j
                for j, x in zip(self.dynamics.model.v_names, self.state.torque, strict=True)
                if not np.isfinite(x)
            ]
            self.fail(f"the computed torque of {', '.join(bad)} is not finite", steady)
            return False, None
        if self._start_by_itself:
            self._start_by_itself = not self.enable(now, steady)[0]
        if not self.enabled:
            return True, None
        command = self.output.compute(self.state.torque, steady)
        if command is None:
            self.fail("the command is not finite", steady)
        return True, command

    def watch(self, now: float, steady: float) -> np.ndarray | None:
        """Call it every STOP_PERIOD: begins a stop when the state is stale; returns a stop
        sequence's next command."""
        if self.enabled and self.states.age(now) > self._settings.state_timeout:
            self.lost = f"no valid joint_states for {self._settings.state_timeout:g} s"
            self.last_fault = self.lost + (f" ({self.rejections()})" if self.rejections() else "")
            self.counts["state_lost"] += 1
            self.disable(steady)
        return self.output.stop_step(steady) if self.output.stopping else None

    # What it is like.

    def phase(self, now: float) -> Phase:
        """Where the robot stands; a fault hides all else."""
        if self.fault:
            return Phase.FAULT
        if self.output.stopping:
            return Phase.STOPPING
        if self.lost:
            return Phase.LOST
        if self.enabled:
            return Phase.ENABLED
        fresh = self.states.age(now) <= self._settings.state_timeout
        return Phase.READY if fresh else Phase.WAITING

    def rejections(self) -> str:
        """The reasons for which messages were rejected, with their counts."""
        return ", ".join(
            f"{reason} {self.counts[reason]}" for reason in REJECTIONS if self.counts[reason]
        )
