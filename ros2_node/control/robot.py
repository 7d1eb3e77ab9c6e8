"""One robot between its messages: the enable gate, the watchdog and the faults. No ROS."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from enum import Enum

import numpy as np

from .dynamics import Dynamics
from .joint_states import JointStates
from .references import Reference, Wrench
from .settings import Settings
from .torque_output import TorqueOutput, finite, per_joint


class State(Enum):
    """Where a robot stands; the value is its word in the diagnostics."""

    WAITING = "waiting for joint_states"
    READY = "ready, disabled"
    ENABLED = "enabled"
    STOPPING = "stopping"
    LOST = "state lost"
    FAULT = "fault"


class Robot:
    """Row `index` of the arrays of `dynamics`, with the inputs that fill it and the commands that come of it.

    Two clocks: `now` is the watchdog's time, `steady` the steady clock, both in seconds.
    """

    def __init__(
        self, dynamics: Dynamics, index: int, settings: Settings, counts: Counter[str]
    ) -> None:
        self.dynamics, self.index = dynamics, index
        self.counts = counts
        self.states = JointStates(dynamics.model, settings, dynamics.q[index], dynamics.v[index])
        self.states.counts = counts
        for name in settings.command_joints:
            if name not in self.states.joints:
                read = ", ".join(self.states.joints)
                raise ValueError(
                    f"command_joints names {name!r}, which is not among the joints read: {read}"
                )
        self.output = TorqueOutput(
            dynamics.model, settings.command_joints or self.states.joints, settings
        )
        self.reference = Reference(dynamics.model, self.states.joints, counts)
        self.wrench = Wrench(dynamics.model, dynamics.wrenches[index], settings, counts)
        self.torque = dynamics.torque[index]
        self._acceleration = dynamics.a[index]
        self._command_q = np.array(dynamics.model.q_indices(self.output.joints), dtype=int)
        self._command_v = np.array(dynamics.model.v_indices(self.output.joints), dtype=int)
        self.enabled = False
        self.lost = ""
        self.fault = ""
        self.last_fault = ""
        self._start_by_itself = settings.start_enabled
        self.change(settings)

    def change(self, settings: Settings) -> None:
        """Take new parameters; ValueError when they do not fit this robot."""
        n = len(self.output.joints)
        kp, kd = per_joint("kp", settings.kp, n), per_joint("kd", settings.kd, n)
        self.output.change(settings)
        self.states.change(settings)
        self._kp, self._kd = kp, kd
        self._settings = settings
        self.dynamics.v[self.index] = 0.0
        self._acceleration[:] = 0.0

    # Inputs.

    def read(
        self,
        names: list[str],
        position: Sequence[float],
        velocity: Sequence[float],
        stamp: int,
        now: float,
    ) -> bool:
        """Take a state and prepare the row of the next `compute`. False when the message was rejected."""
        if self.states.take(names, position, velocity, stamp, now) is not None:
            return False
        self.prepare(now)
        return True

    def prepare(self, now: float) -> None:
        """Fill the acceleration row from the reference, and let an old wrench go."""
        settings = self._settings
        self.wrench.refresh(now, settings.state_timeout)
        if settings.mode == "gravity":
            return
        reference, a = self.reference, self._acceleration
        if settings.reference_timeout and now - reference.arrived > settings.reference_timeout:
            reference.rest()
        a[:] = reference.a
        if settings.mode == "computed_torque" and reference.placed:
            q, v = self.states.q[self._command_q], self.states.v[self._command_v]
            error, rate = reference.q[self._command_q] - q, reference.v[self._command_v] - v
            a[self._command_v] += self._kp * error + self._kd * rate

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
        if self.reference.arrived < now - self._settings.state_timeout:
            self.reference.stay(self.states.q)
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
        if not finite(self.torque):
            bad = [
                j
                for j, x in zip(self.dynamics.model.v_names, self.torque, strict=True)
                if not np.isfinite(x)
            ]
            self.fail(f"the computed torque of {', '.join(bad)} is not finite", steady)
            return False, None
        if self._start_by_itself:
            self._start_by_itself = not self.enable(now, steady)[0]
        if not self.enabled:
            return True, None
        command = self.output.compute(self.torque, steady)
        if command is None:
            self.fail("the command is not finite", steady)
        return True, command

    def watch(self, now: float, steady: float) -> np.ndarray | None:
        """Call it every STOP_PERIOD: begins a stop when the state is stale; returns a stop sequence's next command."""
        if self.enabled and self.states.age(now) > self._settings.state_timeout:
            self.lost = f"no valid joint_states for {self._settings.state_timeout:g} s"
            self.last_fault = self.lost + (f" ({self.rejections()})" if self.rejections() else "")
            self.counts["state_lost"] += 1
            self.disable(steady)
        return self.output.stop_step(steady) if self.output.stopping else None

    # What it is like.

    def state(self, now: float) -> State:
        if self.fault:
            return State.FAULT
        if self.output.stopping:
            return State.STOPPING
        if self.lost:
            return State.LOST
        if self.enabled:
            return State.ENABLED
        fresh = self.states.age(now) <= self._settings.state_timeout
        return State.READY if fresh else State.WAITING

    def rejections(self) -> str:
        """The reasons for which messages were rejected, with their counts."""
        return ", ".join(
            f"{reason} {self.counts[reason]}" for reason in REJECTIONS if self.counts[reason]
        )


REJECTIONS = (
    "empty_message",
    "wrong_length",
    "duplicate_name",
    "no_known_joint",
    "missing_joint",
    "nonfinite_position",
    "position_out_of_range",
    "missing_velocity",
    "nonfinite_velocity",
)
"""Why a joint_states message is rejected."""
NOTICES = (
    "unknown_joint",
    "mimic_mismatch",
    "repeated_message",
    "stamp_backwards",
    "stamp_future",
    "position_jump",
    "reference_wrong_length",
    "reference_duplicate_name",
    "reference_unknown_joint",
    "reference_nonfinite",
    "wrench_unknown_link",
    "wrench_nonfinite",
    "batch_rejected",
    "batch_bad_robot",
    "qos_mismatch",
    "description_refused",
    "clock_jump",
)
"""What is counted besides: odd things that do not reject a state, and other inputs refused."""
