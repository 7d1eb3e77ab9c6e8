"""Contacts with pyramidal friction cones that give way as MuJoCo's do.

MuJoCo's documentation, Computation, "Friction cones": four edges n ± mu t, each of which only pushes
and is a soft constraint of its own. An edge that no longer pushes makes the contact softer, so that
normal and friction depend on each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...algebra.scalar import Scalar, is_zero, maximum, select_less, sqrt
from ...algebra.spatial import Vector
from .compliant_contact import CompliantContact, response_along
from .constraint_sweeps import ConstraintRows, RowVelocities
from .contact_rows import PointContact
from .elliptic_contact import elliptic_contact
from .soft_stops import FREE, TINY, SoftPoint, bounded_rates, impedance

EDGES = 4


@dataclass(frozen=True)
class PyramidContact:
    """A contact of four edges, with the numbers that a sweep needs.

    `friction`: mu. `directions`: of the edges, in the contact's axes. `compliance`: R of each edge.
    `shares`: 1 / (G + R) of each. `targets`: the velocities along the edges at which they stop
    pressing [m/s].
    """

    contact: PointContact
    friction: Scalar
    directions: Sequence[Vector]
    compliance: Scalar
    shares: Sequence[Scalar]
    targets: Sequence[Scalar]

    size = EDGES

    @property
    def rows_used(self) -> list[int]:
        """The rows of its edges."""
        return [row for row, x in self.on_rows([1.0, 0.5, 1.0, 0.5]) if not is_zero(x)]

    def on_rows(self, impulse: Sequence[Scalar]) -> Iterator[tuple[int, Scalar]]:
        """The impulses of the edges, on the point's rows."""
        for k, x in enumerate(self.contact.on_rows(Vector(*self.at_point(impulse)))):
            yield self.contact.first + k, x

    def at_point(self, edges: Sequence[Scalar]) -> list[Scalar]:
        """The impulse of the edges in the contact's axes [N s]."""
        total = Vector(0.0, 0.0, 0.0)
        for axis, x in zip(self.directions, edges, strict=True):
            total = total + axis * x
        return [*total]

    def from_point(self, impulse: Sequence[Scalar]) -> list[Scalar]:
        """Impulses of edges that give this impulse at the point, if it is inside the pyramid: half of
        the normal one is that of each pair of edges."""
        x, y, n = impulse
        by_friction = 0.5 / (self.friction * self.friction)
        found: list[Scalar] = []
        for axis in self.directions:
            along = axis.x * x + axis.y * y
            found.append(maximum(n * 0.25 + along * by_friction, 0.0))
        return found

    def update(
        self, before: Sequence[Scalar], seen: RowVelocities
    ) -> tuple[list[Scalar], RowVelocities]:
        """Update the edges one after the other."""
        first, after = self.contact.first, list(before)
        for k, axis in enumerate(self.directions):
            rows = [0.0] * first + list(seen[first : first + self.contact.rows])
            speed = self.contact.velocity(rows).dot(axis)
            wanted = speed - self.targets[k] + self.compliance * after[k]
            pressed = maximum(after[k] - wanted * self.shares[k], 0.0)
            change = axis * (pressed - after[k])
            for j, x in enumerate(self.contact.on_rows(change)):
                if not is_zero(x):
                    seen = seen.after_impulse(first + j, x)
            after[k] = pressed
        return after, seen


def pyramid_contact(
    contact: CompliantContact,
    soft: SoftPoint,
    rows: ConstraintRows,
    before: Sequence[Scalar],
    h: float,
) -> PyramidContact:
    """The pyramid of a point; `before`: velocities of the rows before the step."""
    point, mu = contact.contact, contact.friction
    b, K = bounded_rates(soft, h)
    depth = maximum(-point.height, 0.0)
    d = impedance(soft.impedance, depth)
    # All four edges together have a quarter of the compliance of one.
    R = (1.0 - d) / d * (EDGES * soft.normal)
    velocity, push = point.velocity(before), d * depth * (h * K)
    axes = _edge_directions(point, mu)
    return PyramidContact(
        contact=point,
        friction=mu,
        directions=axes,
        compliance=R,
        shares=[1.0 / (response_along(point, rows, axis) + R) for axis in axes],
        targets=[
            select_less(point.height, 0.0, velocity.dot(axis) * (1.0 - h * b) + push, -FREE)
            for axis in axes
        ],
    )


def soft_contacts(
    contacts: Sequence[CompliantContact],
    soft: Sequence[SoftPoint | None],
    rows: ConstraintRows,
    v: Sequence[Scalar],
    h: float,
) -> list[CompliantContact | PyramidContact]:
    """The contacts, those with a soft law as pyramids or ellipses. `v`: the velocity before the
    step."""
    if not any(soft):
        return [*contacts]
    before = rows.of(v)
    found: list[CompliantContact | PyramidContact] = []
    for each, law in zip(contacts, soft, strict=True):
        if law is None:
            found.append(each)
        elif law.is_pyramidal:
            found.append(pyramid_contact(each, law, rows, before, h))
        else:
            found.append(elliptic_contact(each, law, rows, before, h))
    return found


def begin_of_edges(
    contacts: Sequence[CompliantContact | PyramidContact], impulses: Sequence[Scalar]
) -> list[Scalar]:
    """Impulses of points in the contacts' axes as impulses of the contacts."""
    found: list[Scalar] = []
    at = 0
    for each in contacts:
        width = 3 + each.contact.moments
        found += each.from_point(impulses[at : at + width])
        at += width
    return found


def impulses_of_edges(
    contacts: Sequence[CompliantContact | PyramidContact], impulses: Sequence[Scalar]
) -> list[Scalar]:
    """Impulses of the contacts as impulses of points in the contacts' axes."""
    found: list[Scalar] = []
    at = 0
    for each in contacts:
        found += each.at_point(impulses[at : at + each.size])
        at += each.size
    return found


def _edge_directions(contact: PointContact, mu: Scalar) -> tuple[Vector, Vector, Vector, Vector]:
    """Directions of the edges in the contact's axes: n ± mu t, then n ± mu (n × t). The tangent t is x,
    or the direction `along`, projected onto the ground; x if that is the normal."""
    x, y = mu, 0.0 * mu
    if contact.along is not None:
        a, b, _ = contact.along
        square = a * a + b * b
        scale = mu / sqrt(maximum(square, TINY))
        x, y = select_less(square, TINY, mu, a * scale), select_less(square, TINY, 0.0, b * scale)
    return (Vector(x, y, 1.0), Vector(-x, -y, 1.0), Vector(-y, x, 1.0), Vector(y, -x, 1.0))
