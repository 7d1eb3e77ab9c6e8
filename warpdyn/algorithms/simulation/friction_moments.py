"""Friction moments of a contact: torsional friction about its normal, rolling friction about its
tangents.

A contact patch resists turning as well as sliding. With a normal force f_n the moment about the
normal is at most torsional f_n, and that about the tangents at most rolling f_n. Both coefficients
are lengths. MuJoCo's documentation, Computation, chapter "Contact", uses the same names; in MuJoCo,
one cone bounds sliding and both moments together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from ...algebra.scalar import Scalar, is_zero, maximum, minimum, rsqrt
from ...algebra.spatial import Vector
from .constraint_sweeps import RowVelocities
from .contact_rows import PointContact

SMALLEST = 1e-28
"""Squared impulse below which a rolling moment counts as zero [N² m² s²]."""


LEAST_COMPLIANCE = 1e-30
"""The least compliance of sticking [1/(kg m²)], so that it is not zero where a body cannot turn: a
body on sliders about any axis, one on a hinge about axes across the hinge."""


class FrictionMoments(NamedTuple):
    """The laws of a contact's moments.

    `torsional`, `rolling`: coefficients [m]. `R_spin`, `R_roll`: compliances of sticking.
    `spin_share`: 1 / (G_zz + R_spin) of the angular velocity. `roll_share`: 1 / (max(G_xx, G_yy) +
    R_roll). Contacts with one moment have no rolling friction.
    """

    torsional: Scalar
    R_spin: Scalar
    spin_share: Scalar
    rolling: Scalar = 0.0
    R_roll: Scalar = 0.0
    roll_share: Scalar = 0.0

    @classmethod
    def size(cls, moments: int) -> int:
        """The number of values of a contact with this many moments."""
        return 2 * moments if moments == 3 else 3 * moments

    def update(
        self, before: Sequence[Scalar], pressed: Scalar, contact: PointContact, seen: RowVelocities
    ) -> tuple[list[Scalar], RowVelocities]:
        """The updated moments, and the velocities after this update. `before`: the moments before
        it, about the tangents if there is rolling friction, then about the normal [N m s].
        `pressed`: the normal impulse [N s]."""
        *tangential, m = before
        most = self.torsional * pressed
        held = m - (_spin(contact, seen).z + self.R_spin * m) * self.spin_share
        held = maximum(minimum(held, most), -most)
        seen = _velocities_after(contact, Vector(0.0, 0.0, held - m), seen)
        if not tangential:
            return [held], seen
        x, y = tangential
        turning = _spin(contact, seen)
        along = x - (turning.x + self.R_roll * x) * self.roll_share
        across = y - (turning.y + self.R_roll * y) * self.roll_share
        length = rsqrt(along * along + across * across + SMALLEST)
        share = minimum(self.rolling * pressed * length, 1.0)
        along, across = along * share, across * share
        seen = _velocities_after(contact, Vector(along - x, across - y, 0.0), seen)
        return [along, across, held], seen


def friction_moments(
    torsional: Scalar, rolling: Scalar, response: Sequence[Scalar], stiction: float
) -> FrictionMoments:
    """The laws of a contact. `response`: angular velocities about its axes for unit moments about
    them; with one moment, that about the normal alone. `stiction`: compliance of sticking relative
    to these."""
    *tangents, zz = response
    R = maximum(zz * stiction, LEAST_COMPLIANCE)
    spin = torsional, R, 1.0 / (zz + R)
    if not tangents:
        return FrictionMoments(*spin)
    most = maximum(*tangents)
    R = maximum(most * stiction, LEAST_COMPLIANCE)
    return FrictionMoments(*spin, rolling, R, 1.0 / (most + R))


def _spin(contact: PointContact, seen: RowVelocities) -> Vector:
    """Angular velocity at a contact, in its axes."""
    mine = seen[contact.first : contact.first + contact.rows]
    return replace(contact, first=0).spin(mine)


def _velocities_after(contact: PointContact, moment: Vector, seen: RowVelocities) -> RowVelocities:
    """Velocities after a moment at a contact."""
    for row, x in enumerate(contact.moment_on_rows(moment), contact.first):
        if not is_zero(x):
            seen = seen.after_impulse(row, x)
    return seen
