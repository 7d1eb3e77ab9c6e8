"""Shapes of uniform density: their volumes, and their moments of inertia."""

from __future__ import annotations

import math
from typing import NamedTuple

from ..description import Geometry

Moments = tuple[float, tuple[float, float, float]]
"""Volume [m³], and moments of inertia about x, y, z through the centre at density 1 [m⁵]."""


class Box(NamedTuple):
    """A box with its centre at the origin of its body: lengths along x, y, z [m]."""

    x: float
    y: float
    z: float

    @property
    def moments(self) -> Moments:
        """m/12 (y² + z²) about x, and so on."""
        x, y, z = self
        V = x * y * z
        return V, (V / 12 * (y * y + z * z), V / 12 * (x * x + z * z), V / 12 * (x * x + y * y))


class Sphere(NamedTuple):
    """A ball with its centre at the origin of its body: the radius [m]."""

    radius: float

    @property
    def moments(self) -> Moments:
        """2/5 m r² about every axis."""
        V = 4 / 3 * math.pi * self.radius**3
        return V, (0.4 * V * self.radius**2,) * 3


class Cylinder(NamedTuple):
    """A cylinder about z with its centre at the origin of its body: radius and length [m]."""

    radius: float
    length: float

    @property
    def moments(self) -> Moments:
        """m/12 (3 r² + l²) across, m/2 r² along the axis."""
        r, length = self
        V = math.pi * r * r * length
        across = V / 12 * (3 * r * r + length * length)
        return V, (across, across, V / 2 * r * r)


class Capsule(NamedTuple):
    """A cylinder about z between two half balls, with its centre at the origin of its body: the
    radius, and the length between the centres of the half balls [m]."""

    radius: float
    length: float

    @property
    def moments(self) -> Moments:
        """Those of the cylinder and of the half balls, whose centres of mass lie 3/8 r outside."""
        r, length = self
        V, (across, _, along) = Cylinder(r, length).moments
        S = 4 / 3 * math.pi * r**3
        across += S * (0.4 * r * r + length * length / 4 + 0.375 * length * r)
        return V + S, (across, across, along + 0.4 * S * r * r)


Solid = Box | Sphere | Cylinder | Capsule
"""A shape of an object."""


def geometry_of(shape: Solid, color: tuple[float, float, float, float] | None = None) -> Geometry:
    """The shape as part of a link. Raises ValueError for sizes that are not positive."""
    try:
        sizes = tuple(float(x) for x in shape)
    except (TypeError, ValueError):
        sizes = (math.nan,)
    kind = type(shape).__name__
    if not all(0.0 < x < math.inf for x in sizes):
        raise ValueError(f"the sizes of a {kind} are lengths above 0 in metres; got {shape}")
    return Geometry(kind.lower(), sizes, color=color)
