"""The virtual body of the law admittance: its motion under a measured force."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from ..settings.node_settings import Settings
from ..states.state import State
from .pose_reference import PoseReference, rotation_of, turn_between, turn_by
from .wrench_sensor import WrenchSensor

LONGEST_STEP = 0.05
"""Longest time that one step counts [s]."""


class VirtualBody:
    """The virtual body of one robot, in its rows `pose_compliant`, `twist_compliant` and `acceleration_compliant`.

    M z¨ + D z˙ + K z = F by axis, in implicit steps: z˙' = (M z˙ + dt (F - K z)) / (M + dt D + dt²
    K). They are stable for all values and cycle times. The speed is at most `twist_max_speed`, and
    the body leads the frame by at most LEAD times `max_pose_error`.
    """

    def __init__(
        self,
        inputs: Mapping[str, np.ndarray],
        index: int,
        state: State,
        pose: PoseReference,
        sensor: WrenchSensor,
    ) -> None:
        """inputs: inputs of the law by name, with a row for each robot."""
        self.sensor = sensor
        self._pose, self._state = pose, state
        self._mass, self._damping, self._stiffness = (
            inputs[f"virtual_{name}"][index] for name in ("mass", "damping", "stiffness")
        )
        self._displacement = np.zeros(6)
        self._then = -np.inf

    def change(self, settings: Settings) -> None:
        """Use other bounds."""
        self.sensor.change(settings)
        self._most = settings.twist_max_speed
        self._timeout = settings.state_timeout

    def missing(self, now: float) -> str:
        """A message if the wrench is too old, else empty."""
        if now - self.sensor.arrived <= self._timeout:
            return ""
        why = f" ({self.sensor.refusal})" if self.sensor.refusal else ""
        return f"no ft_wrench for {self._timeout:g} s{why}"

    def begin(self) -> None:
        """Start at rest at the frame's pose."""
        self._state.pose_compliant[:] = self._state.pose_desired
        self._state.twist_compliant[:] = self._state.acceleration_compliant[:] = 0.0
        self._state.contact_wrench[:] = 0.0

    def follow(self, now: float, enabled: bool) -> None:
        """Advance the body to this time [s]; the body of a robot that is not enabled stays at its frame."""
        passed, self._then = min(max(now - self._then, 0.0), LONGEST_STEP), now
        state = self._state
        self.sensor.update(rotation_of(self._pose.place[3:]), passed)
        if not enabled:
            self.begin()
            return
        state.contact_wrench[:] = self.sensor.contact
        body, twist = state.pose_compliant, state.twist_compliant
        displacement = self._displacement
        displacement[:3] = body[:3] - state.pose_desired[:3]
        displacement[3:] = turn_between(state.pose_desired[3:], body[3:])
        before = twist.copy()
        push = self.sensor.contact - self._stiffness * displacement
        twist[:] = (self._mass * twist + passed * push) / (
            self._mass + passed * self._damping + passed**2 * self._stiffness
        )
        for part, most in zip(twist.reshape(2, 3), self._most, strict=True):
            size = math.sqrt(part @ part)
            if size > most:
                part *= most / size
        moved = np.concatenate(
            [body[:3] + passed * twist[:3], turn_by(body[3:], passed * twist[3:])]
        )
        led = self._pose.lead_to(moved)
        body[:] = led
        if led is not moved:  # the frame does not follow, so the body waits for it
            twist[:] = state.acceleration_compliant[:] = 0.0
        elif passed:
            np.divide(twist - before, passed, out=state.acceleration_compliant)
