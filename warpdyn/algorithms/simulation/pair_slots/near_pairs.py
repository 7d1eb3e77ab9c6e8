"""The pairs of a group that are near each other: the broad phase of each environment."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ....algebra.row_arrays import RowArray, loop, step_if_needed, write_row_if_needed
from ....algebra.rows_by_number import RowsByNumber
from ....algebra.scalar import Scalar, absolute, maximum, select_less, select_less_equal
from ....algebra.spatial import Vector
from ...collision.box_box import face_separation
from ...collision.contact import ShapeAt, clamp
from .ground_points import MARGIN, REACHES, PlacedPoints, above_reach
from .pair_memory import PairMemory
from .shape_rows import ShapeRow, bounding_radius, length

TOO_FLAT = 4.0
"""Ratio of the bounding radius of a box to that of the other shape above which the distance from
the box itself is computed. For a ball on a table, for example, the line between the centres is a
poor test."""


def near_pairs(
    memory: PairMemory, shapes: Sequence[RowsByNumber], by_contact: bool = False
) -> tuple[RowArray, Scalar, Scalar]:
    """Numbers within the group of the pairs that may touch in this step, in their order; how many
    these are; and how many of them have no slot.

    `shapes`: those of each side (`moving_shapes`). A slot without a pair has the number of pairs of
    the group. `by_contact`: leave out boxes none of whose contacts takes a slot (`TouchingContacts`).
    """
    first, second = (side.shapes for side in memory.group.sides)
    radii = [max(map(bounding_radius, shapes)) for shapes in (first, second)]
    kinds = first[0].kind, second[0].kind

    def both(members: Sequence[Scalar]) -> list[ShapeRow]:
        return [ShapeRow.of(rows[k]) for rows, k in zip(shapes, members, strict=True)]

    def apart(members: Sequence[Scalar]) -> Scalar:
        a, b = both(members)
        return _apart(kinds[0], a, kinds[1], b, radii)

    def too_far(members: Sequence[Scalar]) -> Scalar:
        a, b = both(members)
        boxes = (ShapeAt("box", tuple(x.size), x.placement) for x in (a, b))
        return face_separation(*boxes) - ((a.reach + b.reach) * REACHES + MARGIN)

    exact = too_far if by_contact and kinds == ("box", "box") else None
    return _near(memory, apart, [array for rows in shapes for array in rows.arrays], exact)


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
    exact: Callable[[Sequence[Scalar]], Scalar] | None = None,
) -> tuple[RowArray, Scalar, Scalar]:
    """The results of `near_pairs`. `apart`: a number above 0 for the two shapes of a pair, by their
    numbers, if they stay apart. `read`: the arrays that it reads. `exact`: the same, for pairs that do
    not stay apart by the first one."""
    group, members = memory.group, memory.members
    none = float(len(group))
    numbers = RowArray([[none]] * (group.slots + 1))  # the last row takes pairs without a slot

    def if_not(far: Callable[[Sequence[Scalar]], Scalar], n: Scalar, near: Scalar) -> Scalar:
        """`near`, or 0 for a pair that is far."""

        def check(_: list[Scalar], __: Sequence[RowArray]) -> Sequence[Scalar]:
            return [select_less(0.0, far(members[n]), 0.0, near)]

        # Only a few pairs come this far, so where no environment needs it, it is left out.
        return step_if_needed(near, check, [0.0], [*members.arrays, *read])[0]

    def visit(n: Scalar, state: list[Scalar], arrays: Sequence[RowArray]) -> Sequence[Scalar]:
        (count,) = state
        near = select_less_equal(apart(members[n]), 0.0, 1.0, 0.0)
        if exact is not None:
            near = if_not(exact, n, near)
        # The next pair overwrites a pair that is not near.
        write_row_if_needed(near, arrays[0], count, [n])
        return [count + near]

    def finish(_: Scalar, state: list[Scalar], arrays: Sequence[RowArray]) -> Sequence[Scalar]:
        arrays[0][state[0]] = [none]
        return state

    count = loop(len(group), visit, [0.0], [numbers, *members.arrays, *read])
    (near,) = loop(1, finish, count, [numbers])
    return numbers, near, maximum(near - float(group.slots), 0.0)


def _apart(kind_a: str, a: ShapeRow, kind_b: str, b: ShapeRow, radii: Sequence[float]) -> Scalar:
    """A number that is above 0 only if two shapes stay apart during the step: along the normal of
    a plane, in the axes of a large box, or along the line between the centres.

    radii: the largest bounding radius of each side.
    """
    d, reach = b.placement.p - a.placement.p, a.reach + b.reach
    for kind, own, other, away, (largest, of_other) in (
        (kind_a, a, b, d, radii),
        (kind_b, b, a, -d, radii[::-1]),
    ):
        x = own.placement.R.to_child(away)
        if kind == "plane":
            return x.z - other.radius - reach
        if kind == "box" and largest > TOO_FLAT * of_other:
            outside = Vector(*(p - clamp(p, h) for p, h in zip(x, own.size, strict=True)))
            return outside.dot(outside) - (other.radius + reach) * (other.radius + reach)
    distance = length(d)
    of_a, of_b = _support(kind_a, a, d, distance), _support(kind_b, b, d, distance)
    return d.dot(d) - of_a - of_b - reach * distance


def _support(kind: str, shape: ShapeRow, d: Vector, distance: Scalar) -> Scalar:
    """How far a shape reaches from its origin along d, to either side, times `distance`, the length
    of d."""
    along = shape.placement.R.to_child(d)
    if kind == "box":
        x, y, z = (absolute(u) * h for u, h in zip(along, shape.size, strict=True))
        return x + y + z
    if kind == "capsule":
        radius, half_length = shape.size
        return absolute(along.z) * half_length + distance * radius
    return distance * shape.radius
