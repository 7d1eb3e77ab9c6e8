"""Measured efforts of one robot: external torques, collisions, identified payload, diagnosis of
gravity."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from warpdyn.functions.dynamics import rnea
from warpdyn.functions.identification.gravity_diagnosis import diagnose_gravity
from warpdyn.functions.identification.payload_identification import identify_payload_in_motion
from warpdyn.functions.regressors import joint_torque_regressor

from ..commands.torque_output import TorqueOutput
from ..settings.node_settings import Settings
from ..states.joint_states import JointStates
from ..states.state import State
from ..torques.friction_compensation import FrictionCompensation
from .collision_guard import CollisionGuard
from .external_torques import ExternalTorques
from .measured_efforts import Efforts
from .motion_record import MotionRecord
from .rest_poses import RestPoses

LEAST_POSES = 3
"""Poses at rest that a diagnosis of gravity needs."""
UNGUARDED = "collision_threshold is set, and no external torque is known"


class EffortWatch:
    """Monitor of the efforts of accepted states. `external` (nv,) is NaN for joints without a known
    torque; `valid` is true if the last state gave external torques.

    `take` stores the efforts of a state. `note` uses them after the torques for that state are
    sent, and before the next state is read.
    """

    def __init__(
        self,
        torques: ExternalTorques,
        friction: FrictionCompensation,
        state: State,
        states: JointStates,
        output: TorqueOutput,
        settings: Settings,
        counts: Counter[str],
    ) -> None:
        model = torques.model
        self._model, self._states, self._output, self._counts = model, states, output, counts
        self._state, self._friction = state, friction
        self._columns = np.array(model.v_indices(output.joints), dtype=int)
        self.efforts = Efforts(model.nv, states, counts)
        self.torques = torques
        self.guard = CollisionGuard(output.joints, list(self._columns), settings)
        self.rest = RestPoses(model.nq, model.nv)
        self.record = MotionRecord(self._identify)
        self._recorded = np.zeros(model.nv, dtype=bool)
        """The joints whose torques were known at the last recorded state."""
        self.external = np.full(model.nv, np.nan)
        self.valid = False
        self.collision = ""
        """The message of a collision, until `Robot.command` has read it; empty if there was none.
        """
        self.guarded_at = -np.inf
        """The last time at which an external torque was compared with its threshold, or could have been [s]."""
        self._settings = settings
        self._begins = self._silent = True
        self._unnoted: tuple[Sequence[float], int, float, np.ndarray | None] | None = None
        """Arguments of `take` until `note` computes with them."""

    def warm(self) -> None:
        """Compile all kernels, including those of the services, so that no callback compiles
        one."""
        self.torques.warm()
        link = self._settings.payload_link
        if self._settings.effort_source != "message":
            return
        q, rest = np.tile(self._model.neutral, (3, 1)), np.zeros((3, self._model.nv))
        self._diagnosis(q, rest)
        if link:
            gravity = self._settings.gravity
            rnea(self._model, q, rest, rest, gravity=gravity)
            joint_torque_regressor(self._model, q, rest, rest, links=[link], gravity=gravity)

    def change(self, settings: Settings) -> None:
        """Use new parameters; ValueError if a list does not fit the joints."""
        self.guard.change(settings)
        self.torques.change(settings)
        if settings.payload_link != self._settings.payload_link:
            self.rest.forget()
        self._settings = settings

    def forget(self) -> None:
        """Start again, for example after a jump of the clock."""
        self.efforts.forget()
        self._unnoted = None

    def take(
        self, effort: Sequence[float], stamp: int, now: float, command: np.ndarray | None
    ) -> None:
        """Store the efforts of the last state; `command` is the last command sent, None if there is none."""
        self._unnoted = effort, stamp, now, None if command is None else command.copy()

    def note(self) -> bool:
        """Compute external torques at the last state and compare them with thresholds. True if
        there is a collision that `Robot.command` has not read."""
        efforts, self._unnoted = self._unnoted, None
        if efforts is not None:
            self._update(*efforts)
        return bool(self.collision)

    def _update(
        self, effort: Sequence[float], stamp: int, now: float, command: np.ndarray | None
    ) -> None:
        if command is None:
            self.collision = ""  # there is nothing to stop
        self._silent = self._settings.effort_source == "command" and command is None
        if self._settings.effort_source == "command":
            self.efforts.command(self._columns, command)
        else:
            self.efforts.read(effort)
        self.efforts.known &= ~self._states.resting_joints(now)
        dt = self.efforts.time_since_last(stamp, now)
        if dt is None:
            return
        v = self._state.v if self._settings.needs_velocity else self._states.observer_v
        known = self.efforts.known
        moving = bool(np.isfinite(v).all())
        if not moving:
            self._counts["effort_no_velocity"] += 1
        self.valid = moving and bool(known.any())
        if not self.valid:
            self._begins = True
            self.external[:] = np.nan
            return
        if self._begins:
            dt, self._begins = 0.0, False
        tau, friction = self.efforts.tau, self._friction
        self.torques.v[0] = v
        self.torques.tau[0] = tau - friction.friction_torques(v) if friction.is_known else tau
        self.torques.update(dt, known)
        self.external[:] = np.where(known, self.torques.external[0], np.nan)
        if dt > 0.0:
            if self.guard.watches(known) or not self.guard.watching:
                self.guarded_at = now
            self.collision = self.guard.collision(self.external, v, known) or self.collision
        self.rest.add(dt, self._state.q, v, tau, known)
        if self.record.listening:
            other = not np.array_equal(known, self._recorded)
            self.record.add(0.0 if other else dt, self._state.q, v, tau)
            self._recorded[:] = known

    def is_unguarded(self, now: float) -> bool:
        """True if collision detection is on and no external torque was known for `state_timeout`."""
        return self.guard.watching and now - self.guarded_at > self._settings.state_timeout

    @property
    def unguarded_message(self) -> str:
        """A message with the joints that have a threshold and no external torque; empty if there are none."""
        if self._silent or not self.guard.watching:
            return ""
        joints = self.guard.unguarded_joints(self.efforts.known & self.valid)
        return f"collisions of {', '.join(joints)} are not detected: no effort" if joints else ""

    @property
    def joints(self) -> list[str]:
        """Joints whose torques are known."""
        known = self.efforts.known[self._model.v_indices(self._states.joints)]
        return [name for name, is_known in zip(self._states.joints, known, strict=True) if is_known]

    def report(self) -> dict[str, str]:
        """Lines of the diagnostics."""
        felt = "none"
        if self.valid:
            k = int(np.nanargmax(np.abs(self.external)))
            felt = f"{self.external[k]:.3g} N·m in {self._model.v_names[k]}"
        return {
            "largest external torque": felt,
            "efforts known of": " ".join(self.joints) or "none",
            "poses at rest": str(len(self.rest)),
        }

    # The services.

    def identify(self) -> tuple[bool, str]:
        """Answer of ~/identify_payload."""
        if problem := self._lacking("payload.link: name the link that carries the load"):
            return False, problem
        return self.record.ask(self._settings.identification_time)

    def diagnose(self) -> tuple[bool, str]:
        """Answer of ~/diagnose_gravity."""
        if problem := self._lacking(""):
            return False, problem
        if len(self.rest) < LEAST_POSES:
            return False, (
                f"{len(self.rest)} poses at rest so far: bring the arm to at least {LEAST_POSES}, "
                "a second each"
            )
        return True, self._diagnosis(self.rest.q, self.rest.tau)

    def _lacking(self, link: str) -> str:
        if self._settings.effort_source != "message":
            return "measured efforts are needed: start the node with effort_source: message"
        return f"set {link}" if link and not self._settings.payload_link else ""

    def _diagnosis(self, q: np.ndarray, tau: np.ndarray) -> str:
        settings = self._settings
        diagnosis = diagnose_gravity(
            self._model,
            q,
            tau,
            link=settings.payload_link or None,
            joints=self.joints or self._states.joints,
            gravity=settings.gravity,
            params=self.torques.payload.params,
        )
        return str(diagnosis)

    def _identify(self, time: np.ndarray, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> str:
        settings = self._settings
        found = identify_payload_in_motion(
            self._model,
            settings.payload_link,
            time,
            q,
            v,
            tau,
            cutoff=settings.identification_cutoff,
            joints=self.joints,
            friction=settings.identification_friction,
            gravity=settings.gravity,
        )
        lines = [str(found), "to set:"]
        unknown = set(found.unknown)
        if "mass" in unknown:
            return str(found) + "\nnothing to set: move more joints, and faster"
        lines.append(f"  payload.mass: {found.mass:.5g}")
        if not unknown & {"com x", "com y", "com z"}:
            lines.append(f"  payload.com: {_format_list(found.com)}")
        if any(name.startswith("I") for name in unknown):
            lines.append("  (payload.inertia: turn the link faster to know it)")
        else:
            lines.append(f"  payload.inertia: {_format_list(found.values[4:])}")
        return "\n".join(lines)


def _format_list(values: np.ndarray) -> str:
    return "[" + ", ".join(f"{x:.5g}" for x in values) + "]"
