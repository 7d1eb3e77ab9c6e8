"""Impulses of compliant contacts with Coulomb friction, by sweeps of block Gauss-Seidel.

The regularised contact of SAP (Castro, Permenter and Han, An unconstrained convex formulation of
compliant contact, IEEE T-RO 39, 2023, arXiv 2110.10107): implicit in the normal and the tangential
direction, so that stiffness does not bound the step, with Coulomb's cone, at the level of
velocities; a fixed number of sweeps that begin at the last step's impulses.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ..algebra.linear import Factors, dot
from ..algebra.scalar import Scalar, is_number, maximum, minimum, repeat, rsqrt, select_less
from ..algebra.spatial import Vector
from .contact_rows import PointContact

NEAR_RIGID = 1.0 / (4.0 * math.pi**2)
"""Least compliance of a contact, of its inverse mass w: SAP's beta² / (4 pi²) with beta = 1, section
V.B. It makes stiffness above 4 pi² / (w h²) inert."""

STICTION = 1e-4
"""Compliance of sticking, of w: SAP's sigma, a tenth of what they take. A standing robot creeps in
proportion to it: a quadruped by 0.4 mm a minute; sweeps leave no more undone than with theirs."""

SMALL = 1e-20
"""Squared impulse beside which a tangential impulse is none [N² s²]."""


class Surface(NamedTuple):
    """What the contacts of one environment are made of.

    `friction`: coefficient of each point. `stiffness` k [N/m]; `dissipation` tau_d [s], acts inside
    the ground only: above it a foot would be caught in the air. `push_out`: the largest speed at
    which a point is pushed out of the ground [m/s].
    """

    friction: Sequence[Scalar]
    stiffness: Scalar
    dissipation: Scalar
    push_out: Scalar


@dataclass(frozen=True)
class _Update:
    """A contact with the numbers that a sweep needs."""

    contact: PointContact
    friction: Scalar
    R_n: Scalar
    R_t: Scalar
    normal_share: Scalar
    """1 / (G_nn + R_n)."""
    tangent_share: Scalar
    """1 / (max(G_xx, G_yy) + R_t)."""
    target: Scalar
    """v^_n: the normal velocity at which it presses no more [m/s]."""


def contact_impulses(
    mass: Factors,
    rows: Sequence[Sequence[Scalar]],
    contacts: Sequence[PointContact],
    free: Sequence[Scalar],
    warm: Sequence[Scalar],
    surface: Surface,
    h: float,
    sweeps: int,
) -> tuple[list[Scalar], list[Scalar]]:
    """Impulses on the points in the contacts' axes, 3 each [N s], and the velocities v+ that they
    leave.

    `mass`: factors of M^, implicit effects included. `rows`: J. `free`: velocity without contacts.
    `warm`: impulses to begin with.
    """
    # G = J M^-1 Jᵀ from y = L⁻ᵀ Jᵀ, which is zero beyond each point's path to the root.
    Y = [mass.transposed_solve(row) for row in rows]
    Z = [mass.scaled(y) for y in Y]
    G = [[0.0] * len(rows) for _ in rows]
    for a in range(len(rows)):
        for b in range(a, len(rows)):
            G[a][b] = G[b][a] = _sparse_dot(Z[a], Y[b])  # type: ignore[assignment]
    points = [
        _point(contact, mu * contact.friction, G, surface, h)
        for contact, mu in zip(contacts, surface.friction, strict=True)
    ]
    moved = _on_all_rows(contacts, warm, len(rows))
    seen = [_sparse_dot(row, free) + _sparse_dot(g, moved) for row, g in zip(rows, G, strict=True)]
    count = len(warm)

    def sweep(state: list[Scalar]) -> list[Scalar]:
        impulses, velocities = list(state[:count]), list(state[count:])
        for n, point in enumerate(points):
            before = impulses[3 * n : 3 * n + 3]
            after, velocities = _updated(point, before, velocities, G)
            impulses[3 * n : 3 * n + 3] = after
        return [*impulses, *velocities]

    impulses = repeat(sweep, [*warm, *seen], sweeps)[:count]
    total = _on_all_rows(contacts, impulses, len(rows))
    pushed: list[Scalar] = [0.0] * len(free)
    for z, x in zip(Z, total, strict=True):
        pushed = [p if _zero(e) else p + e * x for p, e in zip(pushed, z, strict=True)]
    after = mass.solve(pushed)
    return impulses, [v + dv for v, dv in zip(free, after, strict=True)]


def _point(
    contact: PointContact,
    friction: Scalar,
    G: Sequence[Sequence[Scalar]],
    surface: Surface,
    h: float,
) -> _Update:
    """Compliances and the target velocity of a point: SAP sections IV.B and V."""
    xx, yy, zz = (_entry(contact, G, axis) for axis in range(3))
    w = (xx + yy + zz) * (1.0 / 3.0)
    inside = 1.0 / (h + surface.dissipation)
    stiff = 1.0 / (h * surface.stiffness)
    rate = select_less(contact.height, 0.0, inside, 1.0 / h)
    soft = stiff * rate
    R_n, R_t = maximum(w * NEAR_RIGID, soft), w * STICTION
    return _Update(
        contact=contact,
        friction=friction,
        R_n=R_n,
        R_t=R_t,
        normal_share=1.0 / (zz + R_n),
        tangent_share=1.0 / (maximum(xx, yy) + R_t),
        target=-maximum(contact.height * rate, -surface.push_out),
    )


def _updated(
    point: _Update,
    before: Sequence[Scalar],
    velocities: list[Scalar],
    G: Sequence[Sequence[Scalar]],
) -> tuple[list[Scalar], list[Scalar]]:
    """A point's impulse after its turn, and all velocities: first the normal one, then friction
    within the cone of the new one."""
    contact = point.contact
    x, y, n = before
    seen = contact.velocity(velocities)
    pressed = maximum(0.0, n - (seen.z - point.target + point.R_n * n) * point.normal_share)
    velocities = _pushed(contact, Vector(0.0, 0.0, pressed - n), velocities, G)
    seen = contact.velocity(velocities)
    along = x - (seen.x + point.R_t * x) * point.tangent_share
    across = y - (seen.y + point.R_t * y) * point.tangent_share
    length = rsqrt(along * along + across * across + SMALL)
    share = minimum(1.0, point.friction * pressed * length)
    along, across = along * share, across * share
    velocities = _pushed(contact, Vector(along - x, across - y, 0.0), velocities, G)
    return [along, across, pressed], velocities


def _pushed(
    contact: PointContact, impulse: Vector, velocities: list[Scalar], G: Sequence[Sequence[Scalar]]
) -> list[Scalar]:
    """Velocities of all rows after an impulse at a point."""
    for k, x in enumerate(contact.on_rows(impulse)):
        if not _zero(x):
            column = [row[contact.first + k] for row in G]
            velocities = [v + g * x for v, g in zip(velocities, column, strict=True)]
    return velocities


def _entry(contact: PointContact, G: Sequence[Sequence[Scalar]], axis: int) -> Scalar:
    """Velocity of a point along an axis for a unit impulse along it."""
    unit = contact.on_rows(Vector(*(float(k == axis) for k in range(3))))
    total: Scalar = 0.0
    for i, a in enumerate(unit):
        for j, b in enumerate(unit):
            if not (_zero(a) or _zero(b)):
                total = total + a * b * G[contact.first + i][contact.first + j]
    return total


def _on_all_rows(
    contacts: Sequence[PointContact], impulses: Sequence[Scalar], rows: int
) -> list[Scalar]:
    """Impulses of all points as one vector over the rows."""
    total: list[Scalar] = [0.0] * rows
    for n, contact in enumerate(contacts):
        for k, x in enumerate(contact.on_rows(Vector(*impulses[3 * n : 3 * n + 3]))):
            total[contact.first + k] = total[contact.first + k] + x
    return total


def _sparse_dot(a: Sequence[Scalar], b: Sequence[Scalar]) -> Scalar:
    """Sum of a_i b_i over entries that are not known to be zero."""
    pairs = [(x, y) for x, y in zip(a, b, strict=True) if not (_zero(x) or _zero(y))]
    return dot([x for x, _ in pairs], [y for _, y in pairs])


def _zero(x: Scalar) -> bool:
    return is_number(x) and x == 0.0
