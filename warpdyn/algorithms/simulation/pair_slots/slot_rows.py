"""The rows of the contacts in a slot, scaled by the mass matrix for the sweeps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ....algebra.linear import Factors
from ....algebra.scalar import Scalar, absolute, is_zero, sqrt
from ....algebra.spatial import Vector
from ...collision.contact import Contact
from ..constraint_sweeps import ConstraintRows, Matrix, sparse_dot
from ..contact_rows import components

SHARED = 3
"""Number of contacts with one normal from which their rows follow from those of a twist."""


def scaled_rows(J: Matrix, mass: Factors) -> ConstraintRows:
    """Rows with `Y` = |D|^-1/2 L^-T J^T and `Z` = S Y, where S has the signs of D."""
    roots = [sqrt(absolute(x)) for x in mass.reciprocal]
    solved = (mass.solve_transposed(row) for row in J)
    Y = [[y * x for y, x in zip(row, roots, strict=True)] for row in solved]
    Z = [[y * sign for y, sign in zip(row, mass.signs, strict=True)] for row in Y]
    return ConstraintRows(J, mass, Y, Z)


@dataclass(frozen=True)
class RowsAlongTwist(ConstraintRows):
    """Scaled rows of contacts of one pair whose axes are equal. They follow from the rows of the
    relative twist at the first contact, so that only these are divided by the mass matrix.

    `twist`: three rows of the linear velocity and three of the angular one, along the axes.
    `offsets`: from the first contact to each one, in the axes [m]. `moments`: the number of friction
    moments of each contact.
    """

    twist: ConstraintRows
    offsets: tuple[Vector, ...]
    moments: int

    @classmethod
    def at(
        cls, twist: Matrix, offsets: Sequence[Vector], moments: int, mass: Factors
    ) -> RowsAlongTwist:
        """The rows of contacts, from those of the twist."""
        six = scaled_rows(twist, mass)
        J, Y, Z = (
            [row for d in offsets for row in _rows_at(rows, d, moments)]
            for rows in (six.J, six.Y, six.Z)
        )
        return cls(J, mass, Y, Z, six, tuple(offsets), moments)

    def of(self, v: Sequence[Scalar]) -> list[Scalar]:
        """J v."""
        velocity = [[sparse_dot(row, v)] for row in self.twist.J]
        moved = (_rows_at(velocity, d, self.moments) for d in self.offsets)
        return [x for rows in moved for (x,) in rows]


def have_one_normal(contacts: Sequence[Contact]) -> bool:
    """True if many contacts have the same normal."""
    first = contacts[0].normal
    return len(contacts) >= SHARED and all(
        is_zero(x - y) for each in contacts[1:] for x, y in zip(each.normal, first, strict=True)
    )


def _rows_at(twist: Matrix, offset: Vector, moments: int) -> list[list[Scalar]]:
    """Rows of the velocity of a point, and of its friction moments, from the rows of a twist.
    `offset`: from the place of the twist to the point."""
    linear, angular = (zip(*twist[k : k + 3], strict=True) for k in (0, 3))
    columns = []
    for v, w in zip(linear, angular, strict=True):
        turning = Vector(*w)
        velocity = Vector(*v) + turning.cross(offset)
        columns.append([*velocity, *components(turning, moments)])
    return [list(row) for row in zip(*columns, strict=True)]
