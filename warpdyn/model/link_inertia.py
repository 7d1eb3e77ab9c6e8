"""A link's contribution to the inertia of its body. The link's numbers may be symbols."""

from __future__ import annotations

from dataclasses import dataclass

from ..algebra.scalar import Scalar, as_number, is_number
from ..algebra.spatial import (
    ZERO,
    ZERO_INERTIA,
    Inertia,
    Placement,
    Rotation,
    Symmetric,
    TwoRotations,
    Vector,
    as_matrix,
)


@dataclass(frozen=True)
class Point:
    """A link's mass as a point at its centre of mass, kept apart from its body's known inertia
    if it differs between environments.

    Known inertia can be regrouped. Numbers that vary cost least at the centre of mass.
    """

    placement: Placement
    mass: Scalar
    com: Vector

    @property
    def centre(self) -> Vector:
        """The centre of mass, in the body's frame."""
        return self.placement.point_to_parent(self.com)

    @property
    def inertia(self) -> Inertia:
        return Inertia.at_com(self.mass, self.centre, ZERO_INERTIA.J)


@dataclass(frozen=True)
class Spread:
    """Second moments of links about their centres of mass, in axes that the links share; kept apart
    like a `Point`."""

    R: Rotation
    J: Symmetric

    @property
    def second_moments(self) -> Symmetric:
        """The second moments, in the body's axes."""
        return self.R.symmetric_to_parent(self.J)

    @property
    def inertia(self) -> Inertia:
        return Inertia(0.0, ZERO, self.second_moments)

    def in_parent(self, X: Placement) -> Spread:
        """The same spread in the parent of a body placed by X."""
        return Spread(as_matrix(TwoRotations(X.R, self.R)), self.J)

    def shares_axes(self, other: Spread) -> bool:
        mine, theirs = (
            [x for row in spread.R.matrix.rows for x in row] for spread in (self, other)
        )
        return all(x is y or _same_number(x, y) for x, y in zip(mine, theirs, strict=True))


def _same_number(x: Scalar, y: Scalar) -> bool:
    return is_number(x) and is_number(y) and abs(as_number(x) - as_number(y)) < 1e-14


def all_numbers(inertia: Inertia) -> bool:
    """True if all its numbers are known while recording."""
    return all(map(is_number, (inertia.mass, *inertia.h, *inertia.J.entries)))
