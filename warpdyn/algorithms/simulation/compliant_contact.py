"""Compliant contacts with Coulomb friction, as constraints of the sweeps.

The regularised contact of SAP (Castro, Permenter and Han, An unconstrained convex formulation of
compliant contact, IEEE T-RO 39, 2023, arXiv 2110.10107). It is implicit in the normal and the
tangential direction, so that stiffness does not limit the step, and it has Coulomb's cone, at the
level of velocities.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from ...algebra.scalar import Scalar, is_zero, maximum, minimum, rsqrt, select_less
from ...algebra.spatial import Vector
from .constraint_sweeps import ConstraintRows, RowVelocities
from .contact_rows import PointContact, moment_of
from .friction_moments import FrictionMoments, friction_moments
from .soft_stops import SoftPoint, point_row

NEAR_RIGID = 1.0 / (4.0 * math.pi**2)
"""Least compliance of a contact, relative to its inverse mass w: SAP's beta² / (4 pi²) with beta =
1, section V.B. A stiffness above 4 pi² / (w h (h + dissipation)) in the ground acts like this
one."""

BETWEEN_BODIES = 0.1
"""The same between bodies. With the ground's value, piles of three cubes on rigid ground tremble at
four sweeps; with this one piles of five stand at steps of 2 and of 5 ms."""

STICTION = 1e-4
"""Compliance of sticking, relative to w: SAP's sigma, a tenth of the paper's value. A standing
robot creeps in proportion to this compliance: a quadruped by 0.4 mm a minute. The sweeps converge
as well as with the paper's value."""

REBOUND = 2.0 * 9.81
"""Approach speed divided by h above which a point rebounds [m/s²]: a point at rest on the ground
approaches at 9.81 h."""

SMALL = 1e-20
"""Squared impulse below which a tangential impulse counts as zero [N² s²]."""


class Surface(NamedTuple):
    """Contact parameters of one environment.

    `friction`: coefficient of each point. `stiffness` k [N/m]; `dissipation` tau_d [s], acts inside
    the ground only, because above the ground it would hold a foot in the air. `push_out`: the
    largest speed at which a point is pushed out of the ground [m/s]. `restitution`: the part of its
    normal velocity with which each point leaves after an impact (Newton); None: no rebounds.
    `least_compliance`: relative to the contact's inverse mass. `torsional`, `rolling`: coefficients
    of the moments of each point [m], or None. `soft_normal`: MuJoCo's law of the normal force in
    place of stiffness and dissipation, or None.
    """

    friction: Sequence[Scalar]
    stiffness: Scalar
    dissipation: Scalar
    push_out: Scalar
    restitution: Sequence[Scalar] | None = None
    least_compliance: float = NEAR_RIGID
    torsional: Sequence[Scalar] | None = None
    rolling: Sequence[Scalar] | None = None
    soft_normal: SoftPoint | None = None


@dataclass(frozen=True)
class CompliantContact:
    """A contact with the numbers that a sweep needs.

    `normal_share`: 1 / (G_nn + R_n). `tangent_share`: 1 / (max(G_xx, G_yy) + R_t). `target`: v^_n,
    the normal velocity at which it stops pressing [m/s]. `moments`: the laws of its friction
    moments, or None.
    """

    contact: PointContact
    friction: Scalar
    G_nn: Scalar
    R_n: Scalar
    R_t: Scalar
    normal_share: Scalar
    tangent_share: Scalar
    target: Scalar
    moments: FrictionMoments | None = None

    @property
    def size(self) -> int:
        """Three entries of its impulse, and one for each friction moment."""
        return 3 + self.contact.moments

    @property
    def rows_used(self) -> list[int]:
        """The rows of its normal impulse, those of the tangential one, and those of moments."""
        units = [[0.0, 0.0, 1.0], [1.0, 1.0, 0.0]]
        units += [[0.0, 0.0, 0.0, *[1.0] * self.contact.moments]] * (self.moments is not None)
        return [row for unit in units for row, x in self.on_rows(unit) if not is_zero(x)]

    def at_point(self, impulse: Sequence[Scalar]) -> list[Scalar]:
        """Its impulse in the contact's axes: itself."""
        return [*impulse]

    def from_point(self, impulse: Sequence[Scalar]) -> list[Scalar]:
        """Its impulse that gives this one in the contact's axes: itself."""
        return [*impulse]

    def on_rows(self, impulse: Sequence[Scalar]) -> Iterator[tuple[int, Scalar]]:
        """The entries of an impulse, given in the contact's axes, on the point's rows."""
        for k, x in enumerate(self.contact.on_rows(Vector(*impulse[:3]))):
            yield self.contact.first + k, x
        if len(impulse) > 3:
            for k, x in enumerate(self.contact.moment_on_rows(moment_of(impulse[3:]))):
                yield self.contact.first + k, x

    def update(
        self, before: Sequence[Scalar], seen: RowVelocities
    ) -> tuple[list[Scalar], RowVelocities]:
        """Update the normal impulse first, then friction within the cone of the new one, then
        friction moments."""
        x, y, n = before[:3]
        v = self._velocity(seen)
        pressed = maximum(n - (v.z - self.target + self.R_n * n) * self.normal_share, 0.0)
        seen = self._velocities_after([0.0, 0.0, pressed - n], seen)
        v = self._velocity(seen)
        along = x - (v.x + self.R_t * x) * self.tangent_share
        across = y - (v.y + self.R_t * y) * self.tangent_share
        length = rsqrt(along * along + across * across + SMALL)
        share = minimum(self.friction * pressed * length, 1.0)
        along, across = along * share, across * share
        seen = self._velocities_after([along - x, across - y, 0.0], seen)
        if self.moments is None:
            return [along, across, pressed], seen
        moments, seen = self.moments.update(before[3:], pressed, self.contact, seen)
        return [along, across, pressed, *moments], seen

    def _velocity(self, seen: RowVelocities) -> Vector:
        """The velocity of the point."""
        first = self.contact.first
        mine = seen[first : first + self.contact.rows]
        return replace(self.contact, first=0).velocity(mine)

    def _velocities_after(self, impulse: Sequence[Scalar], seen: RowVelocities) -> RowVelocities:
        """Velocities after an impulse at the point."""
        for row, x in self.on_rows(impulse):
            if not is_zero(x):
                seen = seen.after_impulse(row, x)
        return seen


def compliant_contacts(
    contacts: Sequence[PointContact],
    surface: Surface,
    rows: ConstraintRows,
    v: Sequence[Scalar],
    free: Sequence[Scalar],
    h: float,
) -> list[CompliantContact]:
    """Compliances and target velocities of points: SAP sections IV.B and V.

    `v`: the velocity before the step; `free`: after it, without constraints.
    """
    found = [
        _compliant_contact(contact, n, mu * contact.friction, surface, rows, h)
        for n, (contact, mu) in enumerate(zip(contacts, surface.friction, strict=True))
    ]
    if surface.soft_normal is not None:
        before = rows.of(v)
        return [_with_soft_normal(each, surface.soft_normal, before, h) for each in found]
    if surface.restitution is None:
        return found
    before, free = rows.of(v), rows.of(free)
    return [
        _with_rebound(each, e, each.contact.velocity(before).z, each.contact.velocity(free).z, h)
        for each, e in zip(found, surface.restitution, strict=True)
    ]


def _compliant_contact(
    contact: PointContact,
    number: int,
    friction: Scalar,
    surface: Surface,
    rows: ConstraintRows,
    h: float,
) -> CompliantContact:
    units = (Vector(*(float(k == axis) for k in range(3))) for axis in range(3))
    xx, yy, zz = (_response(contact, rows, contact.on_rows(unit)) for unit in units)
    w = (xx + yy + zz) * (1.0 / 3.0)
    inside = 1.0 / (h + surface.dissipation)
    stiff = 1.0 / (h * surface.stiffness)
    rate = select_less(contact.height, 0.0, inside, 1.0 / h)
    soft = stiff * rate
    R_n, R_t = maximum(soft, w * surface.least_compliance), w * STICTION
    return CompliantContact(
        contact=contact,
        friction=friction,
        G_nn=zz,
        R_n=R_n,
        R_t=R_t,
        normal_share=1.0 / (zz + R_n),
        tangent_share=1.0 / (maximum(xx, yy) + R_t),
        target=-maximum(contact.height * rate, -surface.push_out),
        moments=_moments(contact, number, surface, rows) if contact.moments else None,
    )


def _with_soft_normal(
    contact: CompliantContact, soft: SoftPoint, before: Sequence[Scalar], h: float
) -> CompliantContact:
    """The contact with MuJoCo's law of its normal force, and friction as without it."""
    row = point_row(soft, contact.contact.height, contact.contact.velocity(before), h)
    share = 1.0 / (contact.G_nn + row.R_n)
    return replace(contact, R_n=row.R_n, normal_share=share, target=row.target)


def _moments(
    contact: PointContact, number: int, surface: Surface, rows: ConstraintRows
) -> FrictionMoments:
    assert surface.torsional is not None
    rolling: Scalar = 0.0 if surface.rolling is None else surface.rolling[number]
    about = [
        _response(contact, rows, contact.moment_on_rows(Vector(*(float(k == j) for k in range(3)))))
        for j in range(3)[-contact.moments :]
    ]
    share = contact.friction
    return friction_moments(surface.torsional[number] * share, rolling * share, about, STICTION)


def _with_rebound(
    contact: CompliantContact, restitution: Scalar, before: Scalar, free: Scalar, h: float
) -> CompliantContact:
    """The contact with its rebound. A point that arrives fast, and would press in this step, leaves
    with its part of the speed, without compliance. `before` and `free` are normal velocities before
    the step and after it."""
    leaves = select_less(before, -REBOUND * h, -before * restitution, 0.0)
    leaves = select_less(free, contact.target, leaves, 0.0)
    R_n = select_less(0.0, leaves, 0.0, contact.R_n)
    return replace(
        contact,
        R_n=R_n,
        normal_share=1.0 / (contact.G_nn + R_n),
        target=select_less(0.0, leaves, maximum(contact.target, leaves), contact.target),
    )


def response_along(contact: PointContact, rows: ConstraintRows, axis: Vector) -> Scalar:
    """Velocity of a point along an axis of its contact for an impulse along it."""
    return _response(contact, rows, contact.on_rows(axis))


def _response(contact: PointContact, rows: ConstraintRows, unit: Sequence[Scalar]) -> Scalar:
    """Velocity along a unit impulse, which has these entries on the contact's rows."""
    return response_between(contact, rows, unit, unit)


def response_between(
    contact: PointContact, rows: ConstraintRows, a: Sequence[Scalar], b: Sequence[Scalar]
) -> Scalar:
    """Velocity along `a` for an impulse along `b`, both given by their entries on the contact's
    rows."""
    total: Scalar = 0.0
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            if not (is_zero(x) or is_zero(y)):
                total = total + x * y * rows.response(contact.first + i, contact.first + j)
    return total
