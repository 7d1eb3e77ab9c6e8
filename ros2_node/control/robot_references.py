"""All references of one robot, and the rows of its state that they fill before a launch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from warpdyn.model import Model

from .references.pose_reference import PoseReference
from .references.setpoint import Setpoint
from .references.trajectory_follower import TrajectoryFollower
from .references.trajectory_goal import TrajectoryGoal
from .references.twist_reference import TwistReference
from .references.virtual_body import VirtualBody
from .references.waypoint_spline import Waypoint
from .references.wrench_sensor import WrenchSensor
from .settings.node_settings import Settings
from .states.finite_difference import short_way
from .states.state import State
from .torques.law import Law
from .torques.law_input_targets import LawInputTargets, has_topics
from .torques.policy_law import PolicyLaw

POSTURE_SPEED = 2.0
"""Speed with which a posture follows ~/reference where a joint has no velocity limit [rad/s, m/s]."""
NOT_FOLLOWED = "ended: the robot no longer follows references"
"""The state of a trajectory of a robot that has stopped."""
LONGEST_CYCLE = 0.05
"""Longest time for which a posture moves in one cycle [s]."""


class RobotReferences:
    """The setpoint of one robot, the trajectory that moves it, and the wanted pose of a law's frame."""

    def __init__(
        self,
        model: Model,
        law: Law | PolicyLaw | None,
        state: State,
        joints: Sequence[str],
        tracked: Sequence[str],
        settings: Settings,
        index: int,
        counts: Counter[str],
    ) -> None:
        """index: the number of the robot. joints: the joints that references may name; tracked: the
        joints that commands move."""
        self._state, self._law = state, law
        self._model, self._counts = model, counts
        self.setpoint = Setpoint(model, joints, tracked, counts)
        self.trajectory = TrajectoryFollower(self.setpoint, counts)
        frame = law.frame if isinstance(law, Law) else None
        # The frame of an admittance follows its virtual body, and not the wanted pose itself.
        followed = state.pose_compliant if isinstance(law, Law) and law.is_compliant else None
        self.pose = (
            PoseReference(model, frame, state, counts, followed) if frame is not None else None
        )
        self.body: VirtualBody | None = None
        if isinstance(law, Law) and followed is not None:
            assert frame is not None and self.pose is not None
            sensor = WrenchSensor(model, frame, settings, counts)
            self.body = VirtualBody(law.inputs, index, state, self.pose, sensor)
        self.law_inputs: LawInputTargets | None = None
        if isinstance(law, Law) and has_topics(law, settings):
            self.law_inputs = LawInputTargets(law, index, counts)
        self.twist = self._twist_reference(frame, settings)
        self._moves_posture = isinstance(law, Law) and law.follows and not law.tracks
        self._posture, self._then = state.q_desired.copy(), -np.inf
        limits = self.setpoint.limits_of(joints)
        speed = np.where(np.isfinite(limits.fastest), limits.fastest, POSTURE_SPEED)
        self._posture_speed = np.full(model.nq, POSTURE_SPEED)
        self._posture_speed[limits.rows] = speed
        self._turns = np.zeros(model.nq, dtype=bool)
        self._turns[limits.rows] = limits.turns
        self._turning = bool(self._turns.any())

    def change(self, settings: Settings) -> None:
        """Use new parameters; ValueError if they do not fit this robot."""
        law = self._law
        self.setpoint.change(settings, tracked=law is not None and law.tracks)
        self.watched = self.setpoint.watched or self.pose is not None
        follows = isinstance(law, Law) and law.follows
        self.trajectory.change(settings, follows or settings.mode == "computed_torque")
        if self.pose is not None:
            self.pose.change(settings)
        if self.law_inputs is not None:
            self.law_inputs.change(settings)
        if self.body is not None:
            self.body.change(settings)
        if self.twist is not None:
            tracks = law is not None and law.tracks
            self.twist.change(
                settings, tracks or self.pose is not None or settings.mode == "computed_torque"
            )
        self._settings = settings

    def warm(self) -> None:
        """Compile the kernels of this robot alone."""
        for part in (self.pose, self.twist):
            if part is not None:
                part.warm()

    def prepare(self, now: float, enabled: bool) -> bool:
        """Fill the rows of the state from the references. Returns true if a reference jumped, so
        that the commands blend."""
        settings, state, wanted = self._settings, self._state, self.setpoint
        jumped = False
        if self.trajectory.active:
            if enabled:
                jumped = self.trajectory.follow(now, state.q, state.v) and wanted.may_blend(now)
            else:
                self.trajectory.end(NOT_FOLLOWED)
        twist = self.twist
        if twist is not None and twist.active:
            if enabled:
                twist.follow(now)
            else:
                twist.end()
        # Only now, because a motion has just refreshed the setpoint.
        if wanted.ends(now, settings.reference_timeout):
            jumped |= wanted.may_blend(now)
        if settings.law:
            wanted.write(state)
            if self._moves_posture:
                self._follow_posture(now, enabled)
            if self.law_inputs is not None and self.law_inputs.active:
                self.law_inputs.follow(now)
            if self.pose is not None:
                if enabled:
                    self.pose.compare()
                else:
                    self.pose.stay()
            if self.body is not None:
                self.body.follow(now, enabled)
            return jumped
        state.a[:] = wanted.a
        if settings.mode == "computed_torque":
            wanted.track(state.q, state.v, state.a)
        return jumped

    def track_again(self) -> None:
        """Write the accelerations of mode computed_torque at the present state, for other gains."""
        state, wanted = self._state, self.setpoint
        if self._settings.mode == "computed_torque":
            state.a[:] = wanted.a
            wanted.track(state.q, state.v, state.a)

    def _twist_reference(self, frame: str | None, settings: Settings) -> TwistReference | None:
        """The twist of `twist_link`; ValueError if the law cannot follow one."""
        link, law = settings.twist_link, self._law
        if not link:
            return None
        if frame is not None and link != frame:
            raise ValueError(
                f"twist_link {link!r} must be the frame that the law holds, {frame!r}, or empty"
            )
        if law is not None and frame is None and not law.tracks:
            raise ValueError(
                f"twist_link is set, and {settings.law_name} tracks neither joints nor a frame"
            )
        return TwistReference(self._model, link, self.setpoint, self.pose, self._counts)

    def refer_trajectory(
        self,
        names: Sequence[str],
        waypoints: Sequence[Waypoint],
        delay: float,
        now: float,
        enabled: bool,
        goal: TrajectoryGoal | None = None,
    ) -> str | None:
        """Follow waypoints that start in `delay` seconds. Returns the reason if they are refused.
        goal: see `TrajectoryFollower.accept`."""
        refused = self.trajectory.accept(names, waypoints, now + delay, now, enabled, goal)
        if refused is None and waypoints and self.twist is not None and self.pose is None:
            self.twist.release()
        return refused

    def refer_pose(
        self, frame: str, position: Sequence[float], quaternion: Sequence[float], enabled: bool
    ) -> str | None:
        """Set the wanted pose of a law's frame. Returns the reason if it is refused."""
        if self.pose is None:
            return None
        refused = self.pose.read(frame, position, quaternion, enabled)
        if refused is None and enabled and self.twist is not None:
            self.twist.end()
        return refused

    def refer_twist(
        self,
        frame: str,
        linear: Sequence[float],
        angular: Sequence[float],
        now: float,
        enabled: bool,
    ) -> str | None:
        """Move a link with this velocity. Returns the reason if it is refused."""
        if self.twist is None:
            return None
        refused = self.twist.read(frame, linear, angular, now, enabled)
        if refused is None and self.pose is None and self.trajectory.active:
            self.trajectory.release("replaced by ~/twist")
        return refused

    def replace_motions(self, topic: str) -> None:
        """End the trajectory and the twist, because another topic has sent a reference."""
        self.trajectory.release(f"replaced by {topic}")
        if self.twist is not None and self.pose is None:
            self.twist.release()

    def begin(self, now: float) -> None:
        """Start at the robot's position, with the law's inputs from the parameters."""
        if self.pose is not None:
            self.pose.stay()
        if self.body is not None:
            self.body.begin()
        if self.law_inputs is not None:
            self.law_inputs.restore()
        self._posture[:], self._then = self._state.q, now

    def _follow_posture(self, now: float, enabled: bool) -> None:
        """Move the posture of a law to the setpoint, no joint faster than its velocity limit."""
        posture, last = self._state.q_desired, self._posture
        passed, self._then = min(max(now - self._then, 0.0), LONGEST_CYCLE), now
        if enabled:
            if self._turning:  # the last posture, in the turn of the setpoint
                last = posture - short_way(posture - last, self._turns)
            most = passed * self._posture_speed
            np.minimum(np.maximum(posture, last - most), last + most, out=posture)
            if self._turning:  # the law has the way that is shorter
                posture[:] = self._state.q + short_way(posture - self._state.q, self._turns)
        self._posture[:] = posture

    def missing(self, now: float) -> str:
        """A message with the inputs that the law needs and no topic has sent; empty if there are none."""
        return "" if self.body is None else self.body.missing(now)

    def astray(self) -> str:
        """A message with the joints or the frame that are too far from their references; empty if
        there are none, or if nothing is `watched`."""
        text = self.setpoint.astray()
        return text if text or self.pose is None else self.pose.astray()
