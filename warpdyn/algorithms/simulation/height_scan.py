"""Heights of a frame above the ground around it, as a height sensor of a walking robot measures
them."""

from __future__ import annotations

from collections.abc import Sequence

from ...algebra.rotations import as_matrix
from ...algebra.scalar import Scalar, rsqrt
from ...algebra.spatial import Vector
from ...model.tree import Tree
from ..frames import body_placements
from .uneven_ground import terrain_of

SMALL = 1e-12
"""Squared length below which the frame's x axis counts as vertical, without a heading."""


def height_scan(
    tree: Tree,
    q: Sequence[Scalar],
    pattern: Sequence[Sequence[Scalar]],
    *more: Sequence,
    frame: str,
    arrays: tuple[str, ...],
) -> list[Scalar]:
    """Heights of a frame's origin above the ground under the points of a pattern: n [m].

    pattern: n times (x, y) [m] from the frame's origin, in level axes with the heading of the
    frame's x axis. arrays: names of the terrain's arrays.
    """
    terrain = terrain_of(dict(zip(arrays, more, strict=True)))
    seat = tree.frames[frame]
    X = body_placements(tree, q, [seat.body])[seat.body].compose(seat.placement).as_matrix()
    ahead = as_matrix(X.R).to_parent(Vector(1.0, 0.0, 0.0))
    length = rsqrt(ahead.x * ahead.x + ahead.y * ahead.y + SMALL)
    c, s = ahead.x * length, ahead.y * length
    if terrain is None:
        return [X.p.z for _ in pattern]
    return [
        X.p.z - terrain.below(X.p.x + c * x - s * y, X.p.y + s * x + c * y).height
        for x, y in pattern
    ]
