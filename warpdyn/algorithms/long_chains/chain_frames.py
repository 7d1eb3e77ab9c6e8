"""Frames of the bodies of long chains, in which the step from a body to its parent is the same for
all bodies: every joint turns about z. They change constants only."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ...algebra.scalar import Scalar, as_number, is_number
from ...algebra.spatial import (
    ZERO,
    AnyRotation,
    AxisRotation,
    Placement,
    Rotation,
    Vector,
    as_matrix,
)
from ...model.tree import WORLD, Body, Tree

Z = 2

LONGEST_SHIFT = 2.0
"""How far along its axis an origin may be from the body's own one, in lengths of the longest body.
The rounding of a body's inertia grows with the square of this distance."""


def is_revolute(body: Body) -> bool:
    """True if the joint has one angle and moves the body by nothing else."""
    return body.kind.single and body.kind.turns and not body.kind.threaded


def about_x(c: Scalar, s: Scalar) -> Rotation:
    """The matrix of a turn about x by an angle of cosine c and sine s."""
    return Rotation([Vector(1.0, 0.0, 0.0), Vector(0.0, c, -s), Vector(0.0, s, c)])


@dataclass(frozen=True)
class ChainFrame:
    """A body's frame with the joint's axis as z."""

    start: Placement
    """The axes of the joint, in the body's own frame while the joint is at zero."""
    turn: Placement
    """The frame in the body's own frame: `start`, turned about z by `offset`."""
    offset: float = 0.0
    is_about_x: bool = False
    """True if a turn about x leads from the parent's frame to `start`."""
    is_nearest: bool = False
    """True if the origin is the point of the axis that is nearest to the parent's origin."""


def chain_frames(tree: Tree) -> list[ChainFrame]:
    """The frame of each body: with few numbers between them if no placement varies."""
    numbers = (x for body in tree.bodies for x in (*entries_of(body.X_tree.R), *body.X_tree.p))
    return hartenberg_frames(tree) if all(map(is_number, numbers)) else axis_frames(tree)


def axis_frames(tree: Tree) -> list[ChainFrame]:
    """The frames of the bodies with their axes in another order."""
    return [ChainFrame(turn, turn) for turn in map(_axes, tree.bodies)]


def hartenberg_frames(tree: Tree) -> list[ChainFrame]:
    """Frames with few numbers between them.

    Where a body carries a joint, its x axis is normal to its own axis and to that of the first such
    joint, as Denavit and Hartenberg place it (J. Appl. Mech. 22, 1955): then a turn about x leads
    from axis to axis. The origin is the point of the axis that is nearest to the parent's origin.
    (Theirs is on the common normal, which is far away if two axes are nearly parallel.)
    """
    reach = LONGEST_SHIFT * max(_length(body.X_tree.p) for body in tree.bodies)
    first_child = {body.parent: i for i, body in reversed([*enumerate(tree.bodies)])}
    frames: list[ChainFrame] = []
    for i, body in enumerate(tree.bodies):
        start, parent = _axes(body), body.parent
        is_about_x = is_nearest = False
        if parent != WORLD and is_revolute(tree.bodies[parent]):
            X = frames[parent].turn.inverse().compose(body.X_tree).compose(start).as_matrix()
            x_row, y_row, z_row = as_matrix(X.R).matrix.rows
            is_about_x = first_child[parent] == i
            if is_about_x:
                start = _turn_about_z(start, x_row.x, x_row.y)
            shift = -as_number(X.p.dot(Vector(x_row.z, y_row.z, z_row.z)))
            is_nearest = abs(shift) <= reach
            if is_nearest:
                start = Placement(start.R, start.R.to_parent(Vector(0.0, 0.0, shift)))
        x, y, child = 1.0, 0.0, first_child.get(i)
        if child is not None and is_revolute(body):
            next_joint = tree.bodies[child]
            axis = _axes(next_joint).R.to_parent(Vector(0.0, 0.0, 1.0))
            x, y = _normal(start.R.to_child(next_joint.X_tree.R.to_parent(axis)))
        if not is_about_x:  # then any turn about z can be part of the joint's axes
            start, x, y = _turn_about_z(start, x, y), 1.0, 0.0
        turn, offset = _turn_about_z(start, x, y), math.atan2(y, x)
        frames.append(ChainFrame(start, turn, offset, is_about_x, is_nearest))
    return frames


def _normal(axis: Vector) -> tuple[float, float]:
    """The direction normal to z and to an axis that is nearest to x; x if the axes are parallel."""
    along_x, along_y = as_number(axis.x), as_number(axis.y)
    length = math.hypot(along_x, along_y)
    if length == 0.0:
        return 1.0, 0.0
    x, y = -along_y / length, along_x / length
    return (-x, -y) if x < 0.0 or (x == 0.0 and y < 0.0) else (x, y)


def _axes(body: Body) -> Placement:
    """The body's axes in the order in which the joint's axis is the last one."""
    first = (body.axis + 1) % 3 if is_revolute(body) else 0
    order = [(first + k) % 3 for k in range(3)]
    return Placement(Rotation([Vector(*(float(k == n) for k in order)) for n in range(3)]), ZERO)


def _turn_about_z(X: Placement, c: Scalar, s: Scalar) -> Placement:
    """A placement turned about its z axis by an angle of cosine c and sine s."""
    return X.compose(Placement(AxisRotation(Z, c, s), ZERO)).as_matrix()


def _length(p: Vector) -> float:
    return math.sqrt(as_number(p.dot(p)))


def entries_of(R: AnyRotation) -> list[Scalar]:
    """The entries of a rotation's matrix, row by row."""
    return [x for row in as_matrix(R).matrix.rows for x in row]
