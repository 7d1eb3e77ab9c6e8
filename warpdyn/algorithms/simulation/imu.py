"""Readings of an inertial measurement unit: proper acceleration and angular rate of frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...algebra.point_motion import PointMotion
from ...algebra.quaternions import quaternion_rotation
from ...algebra.scalar import Scalar
from ...algebra.spatial import Vector
from ...model.tree import WORLD, Tree
from ..frames import path_beyond
from .contact_rows import free_roots


def imu(
    tree: Tree,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    a: Sequence[Scalar],
    gravity: Sequence[Scalar],
    f_ext: Mapping[str, Sequence[Scalar]],
    *,
    frames: Sequence[str],
) -> list[list[Scalar]]:
    """Proper acceleration of the frames' origins and angular velocity, in their axes.

    q: nq [m, rad].  v, a: nv.  gravity: 3 [m/s²].  f_ext: not read, its effect is in `a`.
    Returns 6 for each frame [m/s², rad/s]. The forward step of `rnea`, in which gravity is an
    upward acceleration of the world: a body at rest measures that, and a falling body measures
    zero.
    """
    seats = [tree.frames[name] for name in frames]
    motion = {WORLD: PointMotion.without_rotation(-Vector(*gravity))}
    for i in sorted({i for seat in seats for i in path_beyond(tree, seat.body)}):
        body = tree.bodies[i]
        motion[i] = motion[body.parent].across(body.placement(q), body.motion(v), body.motion(a))
    ends = [motion[seat.body].across(seat.placement) for seat in seats]
    return [[*end.acc, *end.w] for end in ends]


def mean_acceleration(
    tree: Tree,
    before: tuple[Sequence[Scalar], Sequence[Scalar]],
    after: tuple[Sequence[Scalar], Sequence[Scalar]],
    h: float,
) -> list[Scalar]:
    """Acceleration nv between two states (q, v) that are h seconds apart, at the second one.

    For a free body the change of the origin's velocity is taken in the world, whose axes do not
    turn.
    """
    (q, v), (q_end, v_end) = before, after
    a = [(y - x) * (1.0 / h) for x, y in zip(v, v_end, strict=True)]
    for body in (tree.bodies[i] for i in free_roots(tree)):
        first, last = (
            quaternion_rotation([x[k] for k in body.quaternion_index]) for x in (q, q_end)
        )
        k = body.v_index[0]
        was, spun = (last.to_child(first.to_parent(Vector(*v[n : n + 3]))) for n in (k, k + 3))
        here, spin = Vector(*v_end[k : k + 3]), Vector(*v_end[k + 3 : k + 6])
        turned = [*((here - was) * (1.0 / h) - spin.cross(here)), *((spin - spun) * (1.0 / h))]
        a[k : k + 6] = turned
    return a
