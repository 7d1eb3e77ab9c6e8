"""Springs of ball and free joints: they hold an orientation, and on a free joint also a position.

The potential is ½ k |log(Q_rest⁻¹ Q)|² + ½ k |p - p_rest|²; its gradient along the joint's motion
is the force, torques in the turned frame.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..algebra.quaternions import (
    log_rate,
    quaternion_exp,
    quaternion_inverse,
    quaternion_log,
    quaternion_product,
    quaternion_rotation,
)
from ..algebra.scalar import Scalar, is_number
from ..algebra.spatial import Vector
from ..model.tree import Body, Tree


def sprung_bodies(tree: Tree) -> list[Body]:
    """Bodies on ball and free joints with a spring."""
    turning = [body for body in tree.bodies if body.kind.quaternion is not None and body.effects]
    return [b for b in turning if not all(is_number(e.spring) and not e.spring for e in b.effects)]


def orientation_spring_forces(tree: Tree, q: Sequence[Scalar]) -> Iterator[tuple[int, Scalar]]:
    """Index in v and joint force required by these springs [N, N·m]."""
    for body in sprung_bodies(tree):
        along, turn = _stretch(body, q)
        stretch = [*(along or ()), *turn]
        for k, x, effects in zip(body.v_index, stretch, body.effects, strict=True):
            yield k, x * effects.spring


def orientation_spring_derivatives(
    tree: Tree, q: Sequence[Scalar]
) -> Iterator[tuple[int, int, Scalar]]:
    """Row, column, and derivative of these forces with respect to q."""
    axes = [Vector(*(float(i == k) for i in range(3))) for k in range(3)]
    for body in sprung_bodies(tree):
        along, turn = _stretch(body, q)
        *linear, x, y, z = body.v_index
        for column, axis in zip((x, y, z), axes, strict=True):
            by_turn = [*(along.cross(axis) if along else ()), *log_rate(turn, axis)]
            for row, slope, effects in zip(body.v_index, by_turn, body.effects, strict=True):
                yield row, column, slope * effects.spring
        for k, effects in zip(linear, body.effects, strict=False):
            yield k, k, effects.spring


def _stretch(body: Body, q: Sequence[Scalar]) -> tuple[Vector | None, Vector]:
    """Displacement of a joint from the slack pose of its spring, in the turned frame: the position
    [m], for a free joint, and the rotation vector [rad]."""
    count = body.kind.quaternion or 0
    coordinates, rest = [q[k] for k in body.q_index], [each.rest for each in body.effects]
    orientation = coordinates[count:]
    slack = quaternion_inverse(quaternion_exp(rest[count:]))
    turn = quaternion_log(quaternion_product(slack, orientation))
    if not count:
        return None, turn
    away = Vector(*coordinates[:3]) - Vector(*rest[:3])
    return quaternion_rotation(orientation).to_child(away), turn
