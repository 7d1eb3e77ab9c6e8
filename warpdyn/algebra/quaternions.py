"""Quaternions, and exponential maps of rotations and rigid motions with their inverses; on numbers
or symbols.

A tangent vector is a constant twist held for unit time, in the moving frame; its exponential is
the resulting motion. Near zero, where the closed forms are 0/0, their series are used. Both
branches are finite, so that gradients are too. Quaternions are x, y, z, w and of unit length. RBDA
4.12; Solà, Deray, Atchuthan, A micro Lie theory (2018), appendices.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import pi

from .rotations import Rotation, Vector
from .scalar import Scalar, atan2, cos, select_less, sin, sqrt

SMALL = 0.0625
"""Squared angle below which series are used; five or six terms are then exact to 1e-16."""

SMALL_SINE = 1e-3
"""The same limit for the squared sine of half an angle."""

SLOW = 1e-12
"""Squared angular speed below which the speed counts as 1e-6 rad/s, as in JaxSim."""

HALF_SINE = (1 / 2, -1 / 48, 1 / 3840, -1 / 645120, 1 / 185794560)
HALF_COSINE = (1.0, -1 / 8, 1 / 384, -1 / 46080, 1 / 10321920, -1 / 3715891200)
SINE = (1.0, -1 / 6, 1 / 120, -1 / 5040, 1 / 362880, -1 / 39916800)
VERSINE = (1 / 2, -1 / 24, 1 / 720, -1 / 40320, 1 / 3628800, -1 / 479001600)
LAG = (1 / 6, -1 / 120, 1 / 5040, -1 / 362880, 1 / 39916800)
ARCSINE = (2.0, 1 / 3, 3 / 20, 5 / 56, 35 / 576)
COTANGENT = (1.0, -1 / 12, -1 / 720, -1 / 30240, -1 / 1209600, -1 / 47900160)
INVERSE = (1 / 12, 1 / 720, 1 / 30240, 1 / 1209600, 1 / 47900160)
"""Power series in the squared angle t (ARCSINE in a squared sine)."""


def _near_zero(
    t: Scalar, series: Sequence[float], closed: Callable[[Scalar], Scalar], small: float = SMALL
) -> Scalar:
    """closed(t), or its series if t is small."""
    total: Scalar = 0.0
    for coefficient in reversed(series):
        total = total * t + coefficient
    return select_less(t, small, total, closed(select_less(t, small, 1.0, t)))


# Quaternions.


def quaternion_rotation(quaternion: Sequence[Scalar]) -> Rotation:
    """Rotation matrix of a unit quaternion (x, y, z, w), RBDA 4.12."""
    x, y, z, w = quaternion
    xx, yy, zz = 2.0 * (x * x), 2.0 * (y * y), 2.0 * (z * z)
    xy, xz, yz = 2.0 * (x * y), 2.0 * (x * z), 2.0 * (y * z)
    wx, wy, wz = 2.0 * (w * x), 2.0 * (w * y), 2.0 * (w * z)
    return Rotation(
        (
            Vector(1.0 - (yy + zz), xy - wz, xz + wy),
            Vector(xy + wz, 1.0 - (xx + zz), yz - wx),
            Vector(xz - wy, yz + wx, 1.0 - (xx + yy)),
        )
    )


def quaternion_product(a: Sequence[Scalar], b: Sequence[Scalar]) -> list[Scalar]:
    """Hamilton product of quaternions (x, y, z, w)."""
    u, v = Vector(*a[:3]), Vector(*b[:3])
    return [*(v * a[3] + u * b[3] + u.cross(v)), a[3] * b[3] - u.dot(v)]


def quaternion_inverse(quaternion: Sequence[Scalar]) -> list[Scalar]:
    x, y, z, w = quaternion
    return [-x, -y, -z, w]


def normalize_vector(quaternion: Sequence[Scalar]) -> list[Scalar]:
    """The same direction at unit length."""
    scale = 1.0 / sqrt(sum((x * x for x in quaternion), 0.0))
    return [x * scale for x in quaternion]


def uniform_quaternion(a: Scalar, b: Scalar, c: Scalar) -> list[Scalar]:
    """Quaternion of a rotation drawn uniformly, from three numbers drawn uniformly from [0, 1).

    Shoemake, Uniform random rotations, Graphics Gems III (1992).
    """
    first, second = 2 * pi * b, 2 * pi * c
    r, s = sqrt(1.0 - a), sqrt(a)
    return [r * sin(first), r * cos(first), s * sin(second), s * cos(second)]


def quaternion_exp(rotation_vector: Sequence[Scalar]) -> list[Scalar]:
    """Unit quaternion (x, y, z, w) of a rotation vector [rad]: u sin(θ/2)/θ, cos(θ/2)."""
    u = Vector(*rotation_vector)
    t = u.dot(u)
    scale = _near_zero(t, HALF_SINE, lambda t: sin(sqrt(t) * 0.5) / sqrt(t))
    return [*(u * scale), _near_zero(t, HALF_COSINE, lambda t: cos(sqrt(t) * 0.5))]


def quaternion_log(quaternion: Sequence[Scalar]) -> Vector:
    """Rotation vector [rad] of a unit quaternion, of at most half a turn:
    u 2 atan2(|u|, w) / |u|."""
    w = quaternion[3]
    sign = select_less(w, 0.0, -1.0, 1.0)
    u, w = Vector(*quaternion[:3]) * sign, w * sign
    return u * _near_zero(
        u.dot(u), ARCSINE, lambda t: 2.0 * atan2(sqrt(t), w) / sqrt(t), SMALL_SINE
    )


def log_rate(w: Vector, turning: Vector) -> Vector:
    """Rate of the rotation vector w = log Q of a rotation whose angular velocity, in the turned
    frame, is `turning`: ω + ½ w × ω + w × w × ω (1 - θ/2 cot θ/2)/θ².

    The inverse of the right Jacobian, Solà, Deray, Atchuthan (2018), equation 144.
    """
    across = w.cross(turning)
    return turning + across * 0.5 + w.cross(across) * _lag_of_log(w)


def quaternion_rate(
    quaternion: Sequence[Scalar], w: Sequence[Scalar], baumgarte: float = 0.0
) -> list[Scalar]:
    """The rate ½ Q ⊗ (ω, K |ω| (1 - |Q|)), ω in the turned frame; K = `baumgarte` pulls a drifting
    length back to 1.

    Graf, Quaternions and dynamics (2008), equation 20; the last term is Baumgarte's stabilisation
    as in JaxSim.
    """
    pull: Scalar = 0.0
    if baumgarte:
        speed, length = (sum((x * x for x in vector), 0.0) for vector in (w, quaternion))
        pull = baumgarte * sqrt(select_less(speed, SLOW, SLOW, speed)) * (1.0 - sqrt(length))
    return [x * 0.5 for x in quaternion_product(quaternion, [*w, pull])]


# Rigid motions in space and in the plane.


def rigid_exp(linear: Vector, angular: Vector) -> tuple[Vector, list[Scalar]]:
    """Displacement and quaternion of a twist held for unit time:
    p = v + ω × v (1 - cos θ)/θ² + ω × ω × v (θ - sin θ)/θ³."""
    quaternion = quaternion_exp([*angular])
    t = angular.dot(angular)
    b = _near_zero(t, VERSINE, lambda t: (1.0 - cos(sqrt(t))) / t)
    c = _near_zero(t, LAG, lambda t: (sqrt(t) - sin(sqrt(t))) / (t * sqrt(t)))
    across = angular.cross(linear)
    return linear + across * b + angular.cross(across) * c, quaternion


def rigid_log(p: Vector, quaternion: Sequence[Scalar]) -> tuple[Vector, Vector]:
    """The twist that leads to a displacement and a quaternion, turning by at most half a turn.

    v = p - ½ ω × p + ω × ω × p (1 - θ/2 cot θ/2)/θ².
    """
    w = quaternion_log(quaternion)
    across = w.cross(p)
    return p - across * 0.5 + w.cross(across) * _lag_of_log(w), w


def plane_exp(u: Scalar, w: Scalar, turn: Scalar) -> tuple[Scalar, Scalar]:
    """Displacement along the arc of a planar twist held for unit time."""
    t = turn * turn
    a = _near_zero(t, SINE, lambda t: sin(sqrt(t)) / sqrt(t))
    b = turn * _near_zero(t, VERSINE, lambda t: (1.0 - cos(sqrt(t))) / t)
    return a * u - b * w, b * u + a * w


def plane_log(u: Scalar, w: Scalar, turn: Scalar) -> tuple[Scalar, Scalar]:
    """Linear velocity of the planar twist that turns by `turn`, at most half a turn, and moves to
    (u, w)."""
    a, b = _near_zero(turn * turn, COTANGENT, _half_cotangent), turn * 0.5
    return a * u + b * w, a * w - b * u


def _lag_of_log(w: Vector) -> Scalar:
    """The factor (1 - θ/2 cot θ/2)/θ² for a rotation vector of length θ."""
    return _near_zero(w.dot(w), INVERSE, lambda t: (1.0 - _half_cotangent(t)) / t)


def _half_cotangent(t: Scalar) -> Scalar:
    """The value θ/2 cot θ/2, from t = θ²."""
    half = sqrt(t) * 0.5
    return half * cos(half) / sin(half)
