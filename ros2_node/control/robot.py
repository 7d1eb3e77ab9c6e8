"""One robot between its messages: inputs, requests, commands and the watchdog. No ROS."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from .blend_spacing import FLOAT_TIME
from .commands.torque_output import TorqueOutput, command_joints, finite
from .efforts.effort_watch import UNGUARDED, EffortWatch
from .efforts.external_torques import ExternalTorques
from .references.setpoint import Point
from .references.waypoint_spline import Waypoint
from .robot_references import RobotReferences
from .safety.gate import CLOSED, OPEN, STARTING, STOPPING, Gate, GateEvent, Phase
from .safety.joint_limits import JointLimits
from .safety.payload_limits import overload
from .safety.status import SHOWN, Status
from .settings.node_settings import Settings
from .states.base_state import BaseMotion
from .states.external_wrench import ExternalWrench
from .states.filtered_states import FilteredStates
from .states.joint_states import JointStates
from .states.rejection_reasons import NOTICES, REJECTIONS, count_list
from .torques.fleet_dynamics import FleetDynamics
from .torques.policy_law import PolicyLaw

LATE_TIME = 0.1
"""Time after which stamps that are too old stop the robot [s]. A jump of a simulation's clock may
arrive after the states that follow it."""


class Robot:
    """One robot of a fleet: its row of the state, the inputs that fill the row, and its commands.

    Two clocks: `now` is the watchdog's time, `steady` the steady clock, both in seconds. The
    constructor checks the settings and compiles nothing; `warm` compiles.
    """

    def __init__(
        self, dynamics: FleetDynamics, index: int, settings: Settings, counts: Counter[str]
    ) -> None:
        self.dynamics, self.counts = dynamics, counts
        self.state = dynamics.state.row(index)
        model, law = dynamics.model, dynamics.law
        read = FilteredStates if settings.filters_states else JointStates
        self.states = read(model, settings, self.state, counts)
        joints = self.states.joints
        self.output = TorqueOutput(model, command_joints(settings, joints), settings)
        tracked = self.output.joints
        self.limits = JointLimits(model, tracked)
        self.references = RobotReferences(
            model, law, self.state, joints, tracked, settings, index, counts
        )
        self.setpoint, self.pose = self.references.setpoint, self.references.pose
        self.trajectory = self.references.trajectory
        self.wrench = ExternalWrench(model, self.state, settings, counts)
        self.policy = law.policies[index] if isinstance(law, PolicyLaw) else None
        self.effort_watch: EffortWatch | None = None
        if settings.watches_efforts:
            torques = ExternalTorques(
                model, dynamics.state, dynamics.gravity, dynamics.payload, settings, index
            )
            self.effort_watch = EffortWatch(
                torques, dynamics.friction, self.state, self.states, self.output, settings, counts
            )
        self.gate = Gate()
        self.other_publishers = ""  # their names; where there are any, ~/enable is refused
        self.last_fault = ""
        self._watched = np.inf
        """The time of the last call of `watch` [s]."""
        self.change(settings)
        self.start()

    def warm(self) -> None:
        """Compile the kernels of this robot, so that no callback compiles one."""
        self.references.warm()
        if self.effort_watch is not None:
            self.effort_watch.warm()

    def change(self, settings: Settings) -> None:
        """Use new parameters; ValueError if they do not fit this robot."""
        self.output.change(settings)
        self.limits.change(settings, self.output.effort_limit)
        self.references.change(settings)
        self.states.change(settings)
        if self.effort_watch is not None:
            self.effort_watch.change(settings)
        self._settings, self._needs_velocity = settings, settings.needs_velocity
        if not self._needs_velocity:
            self.state.a[:] = 0.0

    @property
    def is_enabled(self) -> bool:
        """True if computed commands are sent."""
        return self.gate.phase in OPEN

    @property
    def idle(self) -> bool:
        """True if no commands are sent, neither computed ones nor those of a stop sequence."""
        return self.gate.phase in CLOSED and self.gate.phase not in STOPPING

    # Inputs.

    def read(
        self,
        names: list[str],
        position: Sequence[float],
        velocity: Sequence[float],
        stamp: int,
        now: float,
        effort: Sequence[float] = (),
    ) -> bool:
        """Read a state and prepare the rows for the next launch. False if the message was rejected.

        `note` follows after the torques are sent, and does the rest.
        """
        if self.effort_watch is not None:
            self.effort_watch.note()  # of the state before, if nobody has called it
        phase = self.gate.phase
        enabled = phase in OPEN
        if enabled and now - self.states.arrived > self._settings.state_timeout:
            # The robot has moved meanwhile, and its controller has applied the last torque. A state
            # that arrives now must not hide that: the watchdog stops the robot.
            self.counts["state_after_gap"] += 1
            return False
        self.states.strict = enabled
        if self.states.take(names, position, velocity, stamp, now) is not None:
            return False
        if self.effort_watch is not None:
            sending = enabled or phase in STOPPING
            self.effort_watch.take(effort, stamp, now, self.output.command if sending else None)
        if self.policy is not None and self.policy.age(now) > self._settings.state_timeout:
            return False
        self.prepare(now)
        return True

    def note(self, ros_now: int) -> bool:
        """The second half of `read`. Stamps are compared with `ros_now` [ns]. True at a collision,
        to which the next `command` responds."""
        self.states.note(ros_now)
        return self.effort_watch is not None and self.effort_watch.note() and self.is_enabled

    def forget(self) -> None:
        """Forget earlier states, for example after a jump of the clock."""
        self.states.forget()
        if self.effort_watch is not None:
            self.effort_watch.forget()

    def prepare(self, now: float) -> None:
        """Fill the row's references, and remove an external wrench that is too old."""
        if self.wrench.active and self.wrench.refresh(now, self._settings.state_timeout):
            self.output.blend(FLOAT_TIME)
        if self.policy is not None:
            if self.policy.prepare(now, self._settings):
                self.counts["policy_late"] += 1
            return
        if not self._needs_velocity:
            return
        if self.references.prepare(now, self.gate.phase is Phase.ENABLED):
            self.output.blend(FLOAT_TIME)

    def refer(self, names: Sequence[str], point: Point, now: float) -> str | None:
        """Read a reference. Returns the reason if it is refused; an enabled robot refuses one far from its position."""
        refused = self.setpoint.read(names, point, now, self.state.q if self.is_enabled else None)
        if self.setpoint.has_crossed:
            self.output.blend(FLOAT_TIME)
        if refused is None:
            self.references.replace_motions("~/reference")
        return refused

    def refer_trajectory(
        self, names: Sequence[str], waypoints: Sequence[Waypoint], delay: float, now: float
    ) -> str | None:
        """Follow waypoints that begin in `delay` seconds. Returns the reason if they are refused."""
        enabled = self.gate.phase is Phase.ENABLED
        return self.references.refer_trajectory(names, waypoints, delay, now, enabled)

    def refer_twist(
        self, frame: str, linear: Sequence[float], angular: Sequence[float], now: float
    ) -> str | None:
        """Move a link with this velocity. Returns the reason if that is refused."""
        enabled = self.gate.phase is Phase.ENABLED
        return self.references.refer_twist(frame, linear, angular, now, enabled)

    def refer_pose(
        self, frame: str, position: Sequence[float], quaternion: Sequence[float]
    ) -> str | None:
        """Read the target pose of a law's frame. Returns the reason if it is refused."""
        return self.references.refer_pose(frame, position, quaternion, self.is_enabled)

    def refer_law_input(self, name: str, numbers: Sequence[float]) -> str | None:
        """Read the target of an input of the law. Returns the reason if it is refused."""
        inputs = self.references.law_inputs
        return None if inputs is None else inputs.read(name, numbers)

    def read_base(self, frame: str, motion: BaseMotion, stamp: int, now: float) -> None:
        """Read the pose and the velocity of the free base of a policy's robot."""
        if self.policy is not None and self.policy.base is not None:
            self._count(self.policy.base.read(frame, motion, stamp, now))

    def read_speeds(self, forward: float, sideways: float, turning: float, now: float) -> None:
        """Read the velocity command of a policy."""
        if self.policy is not None:
            self._count(self.policy.command.read(forward, sideways, turning, now))

    def _count(self, reason: str | None) -> None:
        if reason is not None:
            self.counts[reason] += 1

    def age(self, now: float) -> float:
        """Seconds since the last valid state, of joints and base."""
        base = self.policy.age(now) if self.policy is not None else 0.0
        return max(self.states.age(now), base)

    # The gate.

    def enable(self, now: float, steady: float) -> tuple[bool, str]:
        """Enable the robot; the text gives the reason if it is refused."""
        phase, refusal = self.gate.phase, self.gate.refusal(GateEvent.ENABLE)
        if refusal and phase in CLOSED:
            return False, refusal
        if unfit := self._reason_against_commands(now):
            return False, f"{unfit}; the robot is still enabled" if phase in OPEN else unfit
        if phase in OPEN:  # a robot that floats is refused
            return not refusal, refusal or "already enabled"
        if bad := self._reason_against_start(now):
            return False, bad
        if self.effort_watch is not None:
            self.effort_watch.collision, self.effort_watch.guarded_at = "", now
        self.references.begin(now)
        self.gate.send(GateEvent.ENABLE)
        self.output.start(steady)
        if self.policy is not None:
            self.policy.begin()
        self.prepare(now)  # a launch that comes before the next state is to track what was set here
        unguarded = self.effort_watch.unguarded_message if self.effort_watch is not None else ""
        return True, "; ".join(filter(None, ("enabled", unguarded)))

    def _reason_against_commands(self, now: float) -> str:
        """The reason why states, publishers or payload forbid commands; empty if they do not."""
        if self.states.age(now) > self._settings.state_timeout:
            reasons = self.rejections()
            return "there is no fresh joint_states" + (f": {reasons}" if reasons else "")
        if self.age(now) > self._settings.state_timeout:
            return f"there is no fresh odom, which the policy needs{self._of_base()}"
        return (
            self.states.lateness()
            or self.states.beyond_limits()
            or self.other_publishers
            or self.dynamics.payload.delay(self._settings)
            or overload(self.dynamics.model, self._settings, self.states, self.output)
        )

    def _reason_against_start(self, now: float) -> str:
        """The reason why limits, reference or efforts forbid the first command, else an empty text.
        The reference stays at the robot's position."""
        if self.output.unlimited and not self._settings.unlimited_effort:
            return (
                f"no effort limit for {', '.join(self.output.unlimited)}: give effort_limits, or let "
                "them go unlimited with unlimited_effort"
            )
        self.setpoint.stay(self.state.q, since=now - self._settings.state_timeout)
        if unfit := self.references.missing(now) or self.setpoint.astray(self.state.q):
            return unfit
        watch, by_message = self.effort_watch, self._settings.effort_source == "message"
        if watch is None or not by_message or not watch.is_unguarded(now):
            return ""
        return f"{UNGUARDED}: {watch.unguarded_message or 'states come too seldom'}"

    def replace(self, other: Robot) -> None:
        """Replace another robot: start at its last command, and wait for ~/enable despite `start_enabled`."""
        self.withdraw()
        self.output.continue_from(other.output)

    def start(self) -> None:
        """Let `start_enabled` enable the robot at its next valid state, or, with `command_controller`, when the
        controller has been asked. A latched fault prevents it."""
        self.gate.send(GateEvent.START if self._settings.start_enabled else GateEvent.WITHDRAW)

    def withdraw(self) -> None:
        """Cancel the start that `start_enabled` asks for."""
        self.gate.send(GateEvent.WITHDRAW)

    def disable(self, steady: float) -> tuple[bool, str]:
        """Begin the stop sequence, and cancel a start that `start_enabled` asks for."""
        was_open = self._close(GateEvent.DISABLE, "", steady)
        return True, "disabled" if was_open else "already disabled"

    def reset(self) -> tuple[bool, str]:
        """Clear a latched fault; the gate stays closed."""
        before, reason = self.gate.phase, self.gate.reason
        self.gate.send(GateEvent.RESET)
        return True, f"cleared: {reason}" if self.gate.phase is not before else "there was no fault"

    def fail(self, text: str, steady: float) -> None:
        """Latch a fault and stop."""
        self.last_fault = text
        self.counts["fault"] += 1
        self._close(GateEvent.FAIL, text, steady)

    def _close(self, event: GateEvent, reason: str, steady: float) -> bool:
        """Send an event that closes the gate. True if it was open; a stop sequence then begins."""
        was_open = self.gate.phase in OPEN
        self.gate.send(event, reason)
        if was_open:
            self.output.stop(steady)
        return was_open

    # Outputs.

    def command(self, now: float, steady: float) -> tuple[bool, np.ndarray | None]:
        """True if the torques may be published, and the command to send, if any; for use after `compute`."""
        if not finite(self.state.torque):
            self.fail(self.dynamics.failure(self.state.torque, self._settings), steady)
            return False, None
        phase = self.gate.phase
        if phase in STARTING and not self._settings.command_controller:
            self.enable(now, steady)
            return True, None  # these torques were computed before
        if phase in CLOSED:
            return True, None
        torque = self.output.smooth(self.state.torque, steady)
        if self.limits.active:
            torque = self.limits.add(torque, self.state.q, self.state.v, steady)
        if self.effort_watch is not None:
            collision, self.effort_watch.collision = self.effort_watch.collision, ""
            if collision and phase is Phase.ENABLED:
                self.counts["collision"] += 1
                if self._settings.collision_reaction == "stop":
                    if self._settings.stale_action == "hold":  # not the torques that pushed
                        self.output.settle(self.effort_watch.torques.gravity_torques(), steady)
                    self.fail(collision, steady)
                    return True, self.stop_step(steady)
                self.gate.send(GateEvent.COLLIDE, collision)
                phase, self.last_fault = self.gate.phase, collision
                self.output.blend_again(FLOAT_TIME)
            if phase is Phase.FLOATING:
                torque = self.effort_watch.torques.gravity_torques()
        if phase is Phase.ENABLED and self.references.watched and (far := self.references.astray()):
            self.fail(far, steady)
            return True, None
        command = self.output.compute(torque, steady)
        if command is None:
            self.fail("the command is not finite", steady)
        return True, command

    def watch(self, now: float, steady: float) -> np.ndarray | None:
        """Start a stop sequence if the state is stale. Returns its next command. Call it every STOP_PERIOD."""
        timeout, efforts = self._settings.state_timeout, self.effort_watch
        gap, self._watched = now - self._watched, now
        if self.is_enabled and self.age(now) > timeout:
            joints = self.states.age(now) > timeout
            text = f"no valid {'joint_states' if joints else 'odom'} for {timeout:g} s"
            if gap > timeout:
                text += f": this process did not run for {gap:.2f} s"
            why = f" ({self.rejections()})" if self.rejections() else ""
            self._stop_without_input(text, why if joints else self._of_base(), steady)
        elif self.is_enabled and (missing := self.references.missing(now)):
            self._stop_without_input(missing, "", steady)
        elif self.is_enabled and self.states.late_for(now) > LATE_TIME:
            self._stop_without_input(self.states.lateness(), "", steady)
        elif self.is_enabled and efforts is not None and efforts.is_unguarded(now):
            self.fail(UNGUARDED, steady)
        return self.stop_step(steady)

    def stop_step(self, steady: float) -> np.ndarray | None:
        """The next command of a stop sequence; None when none is running."""
        command = self.output.stop_step(steady)
        if self.gate.phase in STOPPING and not self.output.stopping:
            self.gate.send(GateEvent.STOPPED)
        return command

    def _stop_without_input(self, text: str, why: str, steady: float) -> None:
        """Stop because states or references are missing or late; latched until ~/enable."""
        self.last_fault = text + why
        self.counts["state_lost"] += 1
        self._close(GateEvent.LOSE, text, steady)

    def status(self, now: float) -> Status:
        """The status for the diagnostics; while the gate is closed it depends on the states' age."""
        if shown := SHOWN.get(self.gate.phase):
            return shown
        timeout = self._settings.state_timeout
        if self.states.age(now) > timeout:
            return Status.WAITING
        return Status.READY if self.age(now) <= timeout else Status.WAITING_FOR_BASE

    def rejections(self) -> str:
        """The reasons why messages were rejected, with their counts."""
        return count_list(self.counts, REJECTIONS)

    def _of_base(self) -> str:
        """The reasons why odometry was refused, if any has arrived."""
        counts = count_list(self.counts, [each for each in NOTICES if each.startswith("odometry")])
        return f" ({counts})" if counts else ""
