"""Forces of soft contacts: Hunt and Crossley's normal force, and friction by the deformation of the
ground.

Azad and Featherstone, A new nonlinear model of contact normal force (IEEE T-RO 30, 2014) and
Modeling the contact between a rolling sphere and a compliant ground plane (ACRA 2010), in the form
of JaxSim's soft contacts: explicit forces, smooth except for the change between sticking,
slipping and flight.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ...algebra.linear import dot
from ...algebra.scalar import Scalar, exp, log, maximum, rsqrt, select_less, select_less_equal, sqrt
from ...algebra.spatial import Vector
from ...model.tree import Tree
from .contact_rows import ContactPoint, contact_rows
from .uneven_ground import Terrain

LEAST_DEPTH = 2.0**-52
"""Length that is added to depths before powers are taken, so that their derivatives are finite at
zero [m]."""

SMALL = 1e-30
"""Squared force below which a tangential force counts as zero [N²]."""

UPWARDS = Vector(0.0, 0.0, 1.0)


class SoftSurface(NamedTuple):
    """Parameters of the soft ground of one environment.

    `friction`: coefficient of each point. `stiffness` K [N/m^(1 + p)], `damping` D [N s/m^(1 + q)];
    `p`, `q`: exponents of the depth, constants of the program.
    """

    friction: Sequence[Scalar]
    stiffness: Scalar
    damping: Scalar
    p: float
    q: float


class SoftForces(NamedTuple):
    """Forces of the ground on the points, 3 each in the world's axes [N]; rates of the points'
    deformations, 3 each in the world's axes [m/s]; and the joint forces Jᵀ f, nv."""

    forces: list[Scalar]
    rates: list[Scalar]
    on_joints: list[Scalar]


def soft_forces(
    tree: Tree,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    deformation: Sequence[Scalar],
    points: Sequence[ContactPoint],
    surface: SoftSurface,
    terrain: Terrain | None = None,
) -> SoftForces:
    """Forces of all points at a state. `deformation`: 3 for each point, in the world's axes [m]."""
    contacts, rows = contact_rows(tree, q, points, terrain)
    moving = [dot(row, v) for row in rows]
    on_rows: list[Scalar] = [0.0] * len(rows)
    forces: list[Scalar] = []
    rates: list[Scalar] = []
    for n, (contact, friction) in enumerate(zip(contacts, surface.friction, strict=True)):
        force, rate = hunt_crossley(
            contact.height,
            contact.velocity(moving),
            contact.from_world(Vector(*deformation[3 * n : 3 * n + 3])),
            UPWARDS,
            friction * contact.friction,
            surface,
        )
        forces += contact.to_world(force)
        rates += contact.to_world(rate)
        for k, x in enumerate(contact.on_rows(force)):
            on_rows[contact.first + k] = on_rows[contact.first + k] + x
    on_joints = [dot([row[k] for row in rows], on_rows) for k in range(tree.nv)]
    return SoftForces(forces, rates, on_joints)


def hunt_crossley(
    height: Scalar,
    velocity: Vector,
    deformation: Vector,
    normal: Vector,
    friction: Scalar,
    surface: SoftSurface,
) -> tuple[Vector, Vector]:
    """Force on a point, and the rate of its deformation m; δ is the depth in the ground.

        f_n = max(0, K δ^p δ + D δ^q δ')
        f_t = -(K δ^p m_t + D δ^q v_t), no longer than μ f_n
        m'  = v_t - (K/D) m_n where it sticks,   -(f_t + K δ^p m_t) / (D δ^q) where it slips,
              -(K/D) m in the air

    `height`: along the normal, negative inside [m]. `velocity`: of the point that touches.
    """
    depth = maximum(-height, 0.0)
    spring = surface.stiffness * power(depth + LEAST_DEPTH, surface.p)
    damper = surface.damping * power(depth + LEAST_DEPTH, surface.q)
    relaxing = surface.stiffness / surface.damping
    rising = velocity.dot(normal)
    slip = velocity - normal * rising
    m_n = normal * deformation.dot(normal)
    m_t = deformation - m_n
    pressed = maximum(spring * depth - damper * rising, 0.0)
    bound = friction * pressed
    held = -(m_t * spring + slip * damper)
    size, most = held.dot(held), bound * bound
    share = select_less_equal(size, most, 1.0, bound * rsqrt(maximum(size, SMALL)))
    along = held * share
    sticking = slip - m_n * relaxing
    slipping = -(along + m_t * spring) * (1.0 / damper)
    force = [select_less(height, 0.0, x, 0.0) for x in normal * pressed + along]
    rate = [
        select_less(height, 0.0, select_less_equal(size, most, sticks, slips), -(m * relaxing))
        for sticks, slips, m in zip(sticking, slipping, deformation, strict=True)
    ]
    return Vector(*force), Vector(*rate)


def power(x: Scalar, exponent: float) -> Scalar:
    """The power x^exponent of a positive x: products and a root if the exponent is a half of a
    small whole number."""
    whole, half = divmod(exponent, 1.0)
    if half not in (0.0, 0.5) or whole > 3:
        return exp(log(x) * exponent)
    result: Scalar = sqrt(x) if half else 1.0
    for _ in range(int(whole)):
        result = result * x
    return result
