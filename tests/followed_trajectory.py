"""A trajectory follower of the bundled panda, without a robot."""

from __future__ import annotations

from collections import Counter

import numpy as np
from fleets import MODEL, NAMES, N, Q, panda_settings

from ros2_node.control.references.setpoint import Setpoint
from ros2_node.control.references.trajectory_follower import TrajectoryFollower
from ros2_node.control.references.waypoint_spline import Waypoint

REST = [0.0] * N
STEP = np.array([0.1, -0.1, 0.1, 0.1, -0.1, 0.1, 0.1, 0.01])


class FollowedTrajectory:
    """A follower at Q, and its counters."""

    def __init__(self, model=MODEL, names=NAMES, q=Q, **values):
        self.counts = Counter()
        self.setpoint = Setpoint(model, names, names, self.counts)
        self.follower = TrajectoryFollower(self.setpoint, self.counts)
        self.names, self.q = list(names), np.array(q)
        self.change(**values)
        self.setpoint.stay(self.q)

    def change(self, **values):
        settings = panda_settings(mode="computed_torque", **values)
        self.setpoint.change(settings)
        self.follower.change(settings, followed=True)

    def accept(self, waypoints, start=0.0, now=0.0, enabled=True, names=None, goal=None):
        return self.follower.accept(names or self.names, waypoints, start, now, enabled, goal)

    def at(self, now, q=None, v=None):
        """The setpoint at a time, for a robot that follows it, or that remains at q and moves with
        v."""
        moving = np.zeros(len(self.names)) if v is None else v
        jumped = self.follower.follow(now, self.setpoint.q.copy() if q is None else q, moving)
        assert isinstance(jumped, bool)
        return self.setpoint.q.copy(), self.setpoint.v.copy(), self.setpoint.a.copy()


def there(time=1.0, step=STEP, velocities=REST, accelerations=()):
    """A waypoint all of whose joints are `step` away from Q."""
    return Waypoint(time, (Q + step).tolist(), velocities, accelerations)
