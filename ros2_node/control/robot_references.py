"""All references of one robot, and the rows of its state that they fill before a launch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from .references.pose_reference import PoseReference
from .references.setpoint import Setpoint
from .references.trajectory_follower import TrajectoryFollower
from .settings.node_settings import Settings
from .states.state import State
from .torques.fleet_dynamics import FleetDynamics
from .torques.law import Law


class RobotReferences:
    """The setpoint of one robot, the trajectory that moves it, and the wanted pose of a law's frame."""

    def __init__(
        self,
        dynamics: FleetDynamics,
        state: State,
        joints: Sequence[str],
        tracked: Sequence[str],
        counts: Counter[str],
    ) -> None:
        """joints: those that references may name; tracked: those that commands move."""
        model = dynamics.model
        self._state, self._law = state, dynamics.law
        self.setpoint = Setpoint(model, joints, tracked, counts)
        self.trajectory = TrajectoryFollower(self.setpoint, counts)
        law = dynamics.law
        frame = law.frame if isinstance(law, Law) else None
        self.pose = PoseReference(model, frame, state, counts) if frame is not None else None

    def change(self, settings: Settings) -> None:
        """Use new parameters; ValueError when they do not fit this robot."""
        law = self._law
        self.setpoint.change(settings, tracked=law is not None and law.tracks)
        follows = isinstance(law, Law) and law.follows
        self.trajectory.change(settings, follows or settings.mode == "computed_torque")
        if self.pose is not None:
            self.pose.change(settings)
        self._settings = settings

    def prepare(self, now: float, enabled: bool) -> bool:
        """Fill the rows of the state from the references. Returns whether a reference jumped, so that the commands
        blend."""
        settings, state, wanted = self._settings, self._state, self.setpoint
        jumped = False
        if self.trajectory.active:
            if enabled:
                jumped = self.trajectory.follow(now, state.q)
            else:
                self.trajectory.end("ended: the robot was disabled")
        jumped |= wanted.ends(now, settings.reference_timeout)
        if settings.law:
            wanted.compare(state.q)
            wanted.write(state)
            if self.pose is not None:
                if enabled:
                    self.pose.compare()
                else:
                    self.pose.stay()
            return jumped
        state.a[:] = wanted.a
        if settings.mode == "computed_torque":
            wanted.track(state.q, state.v, state.a)
        return jumped

    def astray(self) -> str:
        """The joints or the frame that are too far from their references; empty when none is."""
        text = self.setpoint.astray()
        return text if text or self.pose is None else self.pose.astray()
