"""Where points of a robot touch the ground, and how their velocities follow from v: contact
Jacobians, body by body.

A point is the centre of a sphere fixed in a link; it touches where its sphere is lowest. The ground
is the plane z = 0 of the world.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ..algebra.rotations import Rotation, as_matrix
from ..algebra.scalar import Scalar
from ..algebra.spatial import Motion, Placement, Vector
from ..model.tree import WORLD, Tree
from .frames import body_placements, path_beyond

SHARED_FROM = 3
"""Points of one body from which they share its twist: six rows instead of three for each point. A
box of eight corners has rank six, and a foot of four points takes a sixth fewer operations."""


class ContactPoint(NamedTuple):
    """A sphere that may touch the ground: a link, the centre in its frame [m], the radius [m]."""

    link: str
    centre: tuple[float, float, float]
    radius: float


@dataclass(frozen=True)
class PointContact:
    """One point at a configuration.

    `height`: of its lowest point above the ground, negative inside [m]. `first`: its first row.
    `arm`: from the origin of six rows to the point that touches, in the world's axes [m]; None
    where it has three rows of its own.
    """

    height: Scalar
    first: int
    arm: Vector | None

    @property
    def rows(self) -> int:
        """How many rows it has, or shares."""
        return 3 if self.arm is None else 6

    def on_rows(self, impulse: Vector) -> list[Scalar]:
        """What an impulse at the point is on its rows: itself, and its moment where there are six."""
        return [*impulse] if self.arm is None else [*impulse, *self.arm.cross(impulse)]

    def velocity(self, rows: Sequence[Scalar]) -> Vector:
        """Velocity of the point of a vector over all rows."""
        linear = Vector(*rows[self.first : self.first + 3])
        if self.arm is None:
            return linear
        return linear + Vector(*rows[self.first + 3 : self.first + 6]).cross(self.arm)


def contact_rows(
    tree: Tree, q: Sequence[Scalar], points: Sequence[ContactPoint]
) -> tuple[list[PointContact], list[list[Scalar]]]:
    """The points at a configuration, and the rows J of their velocities in the world's axes.

    Rows of a free base's robot are computed in the base's axes, where most of them are shortest,
    and turned at the end. RBDA section 3.3.
    """
    base, turn, up, above = _base(tree, q)
    by_body: dict[int, list[int]] = {}
    for n, point in enumerate(points):
        by_body.setdefault(tree.frames[point.link].body, []).append(n)
    X = body_placements(tree, q, list(by_body), base)
    contacts: dict[int, PointContact] = {}
    rows: list[list[Scalar]] = []
    for body, members in by_body.items():
        shares = len(members) >= SHARED_FROM
        first = len(rows)
        if shares:
            rows += _rows(tree, X, body, base, X[body].p, turn, angular=True)
        for n in members:
            frame = tree.frames[points[n].link]
            inside = frame.placement.point_to_parent(Vector(*points[n].centre))
            centre = X[body].point_to_parent(inside)
            height = up.dot(centre) + above - points[n].radius
            touching = centre - up * points[n].radius
            if shares:
                contacts[n] = PointContact(height, first, turn.to_parent(touching - X[body].p))
            else:
                contacts[n] = PointContact(height, len(rows), None)
                rows += _rows(tree, X, body, base, touching, turn, angular=False)
    return [contacts[n] for n in range(len(points))], rows


def _base(tree: Tree, q: Sequence[Scalar]) -> tuple[int, Rotation, Vector, Scalar]:
    """The body in whose axes rows are computed, its rotation to the world's, the world's z axis in
    its axes, and its origin's height."""
    upwards = Vector(0.0, 0.0, 1.0)
    if not free_base(tree):
        none = Rotation([Vector(*(float(i == j) for j in range(3))) for i in range(3)])
        return WORLD, none, upwards, 0.0
    X = tree.bodies[0].placement(q)
    R = as_matrix(X.R)
    return 0, R, R.to_child(upwards), X.p.z


def free_base(tree: Tree) -> bool:
    """Whether the first body moves freely, with a twist in its own axes as velocity."""
    return bool(tree.bodies) and tree.bodies[0].kind.nv == 6


def _rows(
    tree: Tree,
    X: dict[int, Placement],
    body: int,
    base: int,
    origin: Vector,
    turn: Rotation,
    angular: bool,
) -> list[list[Scalar]]:
    """Rows of the velocity of a body's point at `origin`, and of its angular velocity."""
    columns = [
        (k, Placement(X[i].R, X[i].p - origin).motion_to_parent(S))
        for i in path_beyond(tree, body, base)
        for k, S in tree.bodies[i].subspace
    ]
    if base != WORLD:
        for k, S in tree.bodies[base].subspace:
            columns.append((k, Motion(S.linear + S.angular.cross(origin), S.angular)))
    rows: list[list[Scalar]] = [[0.0] * tree.nv for _ in range(6 if angular else 3)]
    for k, motion in columns:
        parts = [*turn.to_parent(motion.linear)]
        if angular:
            parts += turn.to_parent(motion.angular)
        for row, x in zip(rows, parts, strict=True):
            row[k] = row[k] + x
    return rows
