"""The motion of a free base in a step: straight, with its momentum kept exactly and its energy to
third order."""

from __future__ import annotations

from collections.abc import Sequence

from ...algebra.linear import inverse_symmetric
from ...algebra.quaternions import normalize_vector, quaternion_product, quaternion_rotation
from ...algebra.scalar import Scalar, minimum, rsqrt
from ...algebra.spatial import Inertia, Symmetric, Vector
from ..composite_inertia import about_com

LARGEST_HALF = 0.6
"""Tangent of half the largest rotation of a base in a step, 1.08 rad. Up to there Newton's slope is
regular for every body, because no moment of inertia is more than the sum of the other two."""

SLOW = 1e-20
"""Squared angular velocity below which a base does not turn [rad²/s²]."""

AXES = (Vector(1.0, 0.0, 0.0), Vector(0.0, 1.0, 0.0), Vector(0.0, 0.0, 1.0))


def base_step(
    pose: Sequence[Scalar],
    seen: Sequence[Scalar],
    twist: Sequence[Scalar],
    H: Sequence[Sequence[Scalar]],
    h: float,
) -> tuple[list[Scalar], list[Scalar]]:
    """Pose after h seconds, 7, and the twist in the base's axes at that time, 6.

    `twist`: in the axes at the beginning of the step, after all forces have acted on it, including
    gyroscopic ones at the velocity `seen`. H: mass matrix, whose first block is the inertia of the
    robot with its joints locked. An explicit step of gyroscopic forces amplifies itself. The
    gyroscopic force of the locked robot is therefore taken back: its centre of mass moves straight,
    and its angular momentum L is constant, seen from axes that turn by the midpoint rule. Simo and
    Wong, Unconditionally stable algorithms for rigid body dynamics that exactly preserve energy and
    momentum, Int. J. Numerical Methods in Engineering 31 (1991).
    """
    c, J = _locked_inertia(H)
    before, linear, angular = Vector(*seen[3:6]), Vector(*twist[:3]), Vector(*twist[3:])
    straight = linear + angular.cross(c) + before.cross(before.cross(c)) * h
    inverse = Symmetric.from_rows(inverse_symmetric([list(row) for row in J.rows]))
    taken_back, had = before.cross(J @ before) * h, J @ angular
    L = had + taken_back

    t = _turn(J, L, angular + inverse @ taken_back, h)
    share = 2.0 / (1.0 + t.dot(t))
    # Only the change is computed from J and its inverse: both are rounded, and their product would
    # scale a spin a little at every step.
    spin = angular + inverse @ (_rotate_by_cayley(L, -t, share) - had)
    # The origin moves by h v - (R c - c).
    away = straight * h - (t.cross(c) + t.cross(t.cross(c))) * share
    there = Vector(*pose[:3]) + quaternion_rotation(pose[3:]).to_parent(away)
    return (
        [*there, *normalize_vector(quaternion_product(pose[3:], [*t, 1.0]))],
        [*(_rotate_by_cayley(straight, -t, share) - spin.cross(c)), *spin],
    )


def _locked_inertia(H: Sequence[Sequence[Scalar]]) -> tuple[Vector, Symmetric]:
    """Centre of mass of the locked robot in the base's axes, and its inertia about it."""
    J = Symmetric(H[3][3], H[3][4], H[3][5], H[4][4], H[4][5], H[5][5])
    c, whole = about_com(Inertia(H[0][0], Vector(H[1][5], H[2][3], H[0][4]), J))
    return c, whole.J


def _turn(J: Symmetric, L: Vector, spin: Vector, h: float) -> Vector:
    """The axis of a step's rotation times the tangent of half the angle, t = x h/2, for a
    step that begins with the angular velocity `spin`: J x + h/2 x × J x = L, by one step of Newton
    from there.

    h is made longer, so that a steady spin turns by h |x| and not by 2 atan(h |x| / 2).
    """
    square = spin.dot(spin)
    angle = square * (h * h)
    half = (1.0 + angle * (1.0 / 12.0 + angle * (1.0 / 120.0))) * (0.5 * h)
    half = minimum(half, LARGEST_HALF * rsqrt(square + SLOW))
    # Columns of J + h/2 ([ω]× J - [L]×), inverted as a matrix of three columns.
    slope = [e + (spin.cross(e) - L.cross(i)) * half for e, i in zip(J.rows, AXES, strict=True)]
    normals = [slope[k - 2].cross(slope[k - 1]) for k in range(3)]
    scale = half / slope[0].dot(normals[0])
    gyroscopic = spin.cross(L)
    return (spin - Vector(*(n.dot(gyroscopic) for n in normals)) * scale) * half


def _rotate_by_cayley(u: Vector, t: Vector, share: Scalar) -> Vector:
    """Cayley's map: u turned about t by 2 atan |t|, with the share 2 / (1 + t²)."""
    across = t.cross(u)
    return u + (across + t.cross(across)) * share
