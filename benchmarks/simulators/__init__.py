"""Scenes on the ground in several simulators, one file each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

import warpdyn as wd

GRAVITY = 9.81
DISSIPATION = 0.01
"""Time in which a point in the ground loses its speed [s], where a simulator has such a number."""


@dataclass(frozen=True)
class OnGround:
    """A robot on the plane z = 0, which every simulator builds.

    Gravity leans by `slope` [rad] towards +x, as seen in the axes of an inclined plane.
    """

    name: str
    urdf: str
    points: Sequence[wd.ContactPoint]
    start: Sequence[float]
    """(nq,): x y z, quaternion x y z w, joints in the order of the model."""
    speed: Sequence[float] = (0.0, 0.0, 0.0)
    """Of the base, in the world [m/s]."""
    slope: float = 0.0
    friction: float = 0.8
    stiffness: float = 5e4
    """Of one point [N/m], where a simulator has such a number."""
    gains: tuple[float, float] | None = None
    """kp, kd of all joints; their targets are where they start."""
    armature: float = 0.0
    seconds: float = 1.0
    free: bool = True
    """Without a free base it stands in the air: nothing of it touches."""

    @property
    def model(self) -> wd.Model:
        model = wd.load_urdf(self.urdf, floating_base=self.free)
        return model.with_armature(self.armature) if self.armature else model

    @property
    def gravity(self) -> np.ndarray:
        """Gravity (3,) [m/s²]."""
        return GRAVITY * np.array([np.sin(self.slope), 0.0, -np.cos(self.slope)])


class Motion(NamedTuple):
    """Motion of a base and the forces on it, after each step of `dt`."""

    dt: float
    positions: np.ndarray
    """(steps, 3) [m]."""
    velocities: np.ndarray
    """(steps, 3) of the base's origin, in the world [m/s]."""
    forces: np.ndarray
    """(steps, 3): all of the ground on the robot [N]."""

    def at(self, seconds: float) -> int:
        """Index of the step that ends at a time."""
        return round(seconds / self.dt) - 1


@dataclass(frozen=True)
class Setting:
    """A simulator with its settings for a run."""

    simulator: str
    """A module of this folder."""
    label: str
    dt: float
    options: Mapping[str, Any] = field(default_factory=dict)


def collect(dt: float, rows: Sequence[tuple[Any, Any, Any]]) -> Motion:
    """Motion from rows of (position, velocity, force)."""
    positions, velocities, forces = (np.array(x, float) for x in zip(*rows, strict=True))
    return Motion(dt, positions, velocities, forces)
