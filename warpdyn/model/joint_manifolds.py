"""Joint coordinates on their manifolds: steps, differences and rates on a line, in a plane, on a
sphere, in space."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..algebra.quaternions import (
    normalize_vector,
    plane_exp,
    plane_log,
    quaternion_exp,
    quaternion_inverse,
    quaternion_log,
    quaternion_product,
    quaternion_rate,
    quaternion_rotation,
    rigid_exp,
    rigid_log,
)
from ..algebra.scalar import Scalar, atan2, cos, sin
from ..algebra.spatial import Vector, motion_of


@dataclass(frozen=True)
class Manifold:
    """Functions of a joint kind's coordinates. `step(q, d)` is the configuration reached from `q`
    by the constant velocity `d` in unit time, `difference(q, p)` the d that leads from q to p,
    `rate(q, v, baumgarte)` the derivative of q. `bracket(c, d)` is the Lie bracket of velocities:
    for small c and d, the difference between step(step(q, c), d) and step(step(q, d), c)."""

    step: Callable[[Sequence[Scalar], Sequence[Scalar]], list[Scalar]]
    difference: Callable[[Sequence[Scalar], Sequence[Scalar]], list[Scalar]]
    rate: Callable[[Sequence[Scalar], Sequence[Scalar], float], list[Scalar]]
    bracket: Callable[[Sequence[Scalar], Sequence[Scalar]], list[Scalar]]


def _line_step(q: Sequence[Scalar], d: Sequence[Scalar]) -> list[Scalar]:
    return [x + y for x, y in zip(q, d, strict=True)]


def _line_difference(q: Sequence[Scalar], p: Sequence[Scalar]) -> list[Scalar]:
    return [y - x for x, y in zip(q, p, strict=True)]


def _line_rate(q: Sequence[Scalar], v: Sequence[Scalar], baumgarte: float) -> list[Scalar]:
    return list(v)


def _line_bracket(c: Sequence[Scalar], d: Sequence[Scalar]) -> list[Scalar]:
    return [0.0] * len(c)


def _rotate_plane(u: Scalar, w: Scalar, angle: Scalar) -> tuple[Scalar, Scalar]:
    c, s = cos(angle), sin(angle)
    return c * u - s * w, s * u + c * w


def _plane_step(q: Sequence[Scalar], d: Sequence[Scalar]) -> list[Scalar]:
    u, w = _rotate_plane(*plane_exp(*d), q[2])
    return [q[0] + u, q[1] + w, q[2] + d[2]]


def _plane_difference(q: Sequence[Scalar], p: Sequence[Scalar]) -> list[Scalar]:
    turn = p[2] - q[2]
    turn = atan2(sin(turn), cos(turn))
    return [*plane_log(*_rotate_plane(p[0] - q[0], p[1] - q[1], -q[2]), turn), turn]


def _plane_rate(q: Sequence[Scalar], v: Sequence[Scalar], baumgarte: float) -> list[Scalar]:
    return [*_rotate_plane(v[0], v[1], q[2]), v[2]]


def _plane_bracket(c: Sequence[Scalar], d: Sequence[Scalar]) -> list[Scalar]:
    return [d[2] * c[1] - c[2] * d[1], c[2] * d[0] - d[2] * c[0], 0.0]


def _ball_step(q: Sequence[Scalar], d: Sequence[Scalar]) -> list[Scalar]:
    return normalize_vector(quaternion_product(q, quaternion_exp(d)))


def _ball_difference(q: Sequence[Scalar], p: Sequence[Scalar]) -> list[Scalar]:
    return [*quaternion_log(quaternion_product(quaternion_inverse(q), p))]


def _ball_bracket(c: Sequence[Scalar], d: Sequence[Scalar]) -> list[Scalar]:
    return [*Vector(*c).cross(Vector(*d))]


def _float_step(q: Sequence[Scalar], d: Sequence[Scalar]) -> list[Scalar]:
    p, turn = rigid_exp(Vector(*d[:3]), Vector(*d[3:]))
    moved = Vector(*q[:3]) + quaternion_rotation(q[3:]).to_parent(p)
    return [*moved, *normalize_vector(quaternion_product(q[3:], turn))]


def _float_difference(q: Sequence[Scalar], p: Sequence[Scalar]) -> list[Scalar]:
    away = quaternion_rotation(q[3:]).to_child(Vector(*p[:3]) - Vector(*q[:3]))
    linear, angular = rigid_log(away, quaternion_product(quaternion_inverse(q[3:]), p[3:]))
    return [*linear, *angular]


def _float_rate(q: Sequence[Scalar], v: Sequence[Scalar], baumgarte: float) -> list[Scalar]:
    moved = quaternion_rotation(q[3:]).to_parent(Vector(*v[:3]))
    return [*moved, *quaternion_rate(q[3:], v[3:], baumgarte)]


def _float_bracket(c: Sequence[Scalar], d: Sequence[Scalar]) -> list[Scalar]:
    first, second = motion_of(c), motion_of(d)
    return [*first.cross(second)]


LINE = Manifold(_line_step, _line_difference, _line_rate, _line_bracket)
PLANE = Manifold(_plane_step, _plane_difference, _plane_rate, _plane_bracket)
SPHERE = Manifold(_ball_step, _ball_difference, quaternion_rate, _ball_bracket)
SPACE = Manifold(_float_step, _float_difference, _float_rate, _float_bracket)
