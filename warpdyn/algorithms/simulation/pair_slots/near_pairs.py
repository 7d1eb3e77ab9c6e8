"""The pairs of a group that are near each other: the broad phase of each environment."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from ....algebra.row_arrays import RowArray, loop
from ....algebra.rows_by_number import RowsByNumber
from ....algebra.scalar import Scalar, absolute, maximum, select_less_equal, sqrt
from ....algebra.spatial import ZERO_MOTION, Placement, Vector
from ....model.tree import WORLD, Tree
from ...collision.contact import clamp
from ..contact_shapes import ContactShape, placement_in_body
from .ground_points import PlacedPoints, above_reach
from .numbered_bodies import entries_of, placement_of
from .pair_groups import GroupSide
from .pair_memory import PairMemory

TOO_FLAT = 4.0
"""Ratio of the bounding radius of a box to that of the other shape from which the distance from the
box itself is computed. The line between the centres says little about a ball on a table."""


def near_pairs(
    memory: PairMemory, shapes: Sequence[RowsByNumber]
) -> tuple[RowArray, Scalar, Scalar]:
    """Numbers within the group of the pairs that may touch in this step, in their order; how many
    these are; and how many of them have no slot.

    `shapes`: those of each side (`moving_shapes`). A slot without a pair has the number of pairs of
    the group.
    """
    first, second = (side.shapes for side in memory.group.sides)
    radii = [max(map(bounding_radius, shapes)) for shapes in (first, second)]

    def apart(members: Sequence[Scalar]) -> Scalar:
        a, b = (rows[k] for rows, k in zip(shapes, members, strict=True))
        return _apart(first[0].kind, a, second[0].kind, b, radii)

    return _near(memory, apart, [array for rows in shapes for array in rows.arrays])


def near_points(
    memory: PairMemory, points: PlacedPoints, dt: float
) -> tuple[RowArray, Scalar, Scalar]:
    """The same for points on the ground (`moving_points`) in a step of `dt` seconds. All have a
    slot."""

    def apart(members: Sequence[Scalar]) -> Scalar:
        return above_reach(points[members[1]], dt, memory.terrain)

    return _near(memory, apart, points.arrays)


def _near(
    memory: PairMemory,
    apart: Callable[[Sequence[Scalar]], Scalar],
    read: Sequence[RowArray],
) -> tuple[RowArray, Scalar, Scalar]:
    """The results of `near_pairs`. `apart`: a number above 0 for the two shapes of a pair, by their
    numbers, if they stay apart. `read`: the arrays that it reads."""
    group, members = memory.group, memory.members
    none = float(len(group))
    numbers = RowArray([[none]] * (group.slots + 1))  # the last row takes pairs without a slot

    def visit(n: Scalar, state: list[Scalar], arrays: Sequence[RowArray]) -> Sequence[Scalar]:
        (count,) = state
        gap = apart(members[n])
        # The next pair overwrites a pair that is not near.
        arrays[0][count] = [n]
        return [count + select_less_equal(gap, 0.0, 1.0, 0.0)]

    def finish(_: Scalar, state: list[Scalar], arrays: Sequence[RowArray]) -> Sequence[Scalar]:
        arrays[0][state[0]] = [none]
        return state

    count = loop(len(group), visit, [0.0], [numbers, *members.arrays, *read])
    (near,) = loop(1, finish, count, [numbers])
    return numbers, near, maximum(near - float(group.slots), 0.0)


def moving_shapes(
    tree: Tree, X: dict[int, Placement], side: GroupSide, v: Sequence[Scalar], dt: float
) -> RowsByNumber:
    """The shapes of a side: for each its placement in the world, 12, how far its points can move in
    a step [m], its bounding radius [m], and its sizes.

    `X`: placements of bodies in the world; `v`: the velocity in the step.
    """
    rows = []
    for shape, body in zip(side.shapes, side.bodies, strict=True):
        placement = placement_in_body(tree, shape)
        if body != WORLD:
            placement = X[body].compose(placement)
        placement = placement.as_matrix()
        motion = ZERO_MOTION  # about the world's origin
        for i in tree.path(body) if body != WORLD else ():
            motion = motion + X[i].motion_to_parent(tree.bodies[i].motion(v))
        radius = bounding_radius(shape)
        speed: Scalar = 0.0
        if body != WORLD:
            linear = motion.linear + motion.angular.cross(placement.p)
            speed = _length(linear) + _length(motion.angular) * radius
        rows.append([*entries_of(placement), speed * dt, radius, *shape.size])
    return RowsByNumber(rows)


def bounding_radius(shape: ContactShape) -> float:
    """Radius of the sphere about a shape's origin that contains it [m]; 0 for a plane, which no
    sphere contains."""
    if shape.kind == "mesh":
        return max(math.hypot(*vertex) for vertex in shape.vertices)
    return math.hypot(*shape.size) if shape.kind == "box" else sum(shape.size)


def _apart(
    kind_a: str,
    a: Sequence[Scalar],
    kind_b: str,
    b: Sequence[Scalar],
    radii: Sequence[float],
) -> Scalar:
    """A number that is above 0 only if two shapes stay apart during the step: along the normal of
    a plane, in the axes of a large box, or along the line between the centres.

    a, b: rows of `moving_shapes`. radii: the largest bounding radius of each side.
    """
    X_a, X_b = placement_of(a), placement_of(b)
    d, reach = X_b.p - X_a.p, a[12] + b[12]
    sides = (
        (kind_a, X_a, d, a[14:], b[13], radii),
        (kind_b, X_b, -d, b[14:], a[13], radii[::-1]),
    )
    for kind, X, away, size, radius, (own, other) in sides:
        if kind == "plane":
            return X.R.to_child(away).z - radius - reach
        if kind == "box" and own > TOO_FLAT * other:
            x = X.R.to_child(away)
            outside = Vector(*(p - clamp(p, h) for p, h in zip(x, size, strict=True)))
            return outside.dot(outside) - (radius + reach) * (radius + reach)
    distance = _length(d)
    of_a = _support(kind_a, X_a, a, d, distance)
    return d.dot(d) - of_a - _support(kind_b, X_b, b, d, distance) - reach * distance


def _support(kind: str, X: Placement, row: Sequence[Scalar], d: Vector, length: Scalar) -> Scalar:
    """How far a shape reaches from its origin along d, to either side, times the length of d."""
    size, along = row[14:], X.R.to_child(d)
    if kind == "box":
        x, y, z = (absolute(u) * h for u, h in zip(along, size, strict=True))
        return x + y + z
    if kind == "capsule":
        return absolute(along.z) * size[1] + length * size[0]
    return length * row[13]


def _length(u: Vector) -> Scalar:
    return sqrt(u.dot(u))
