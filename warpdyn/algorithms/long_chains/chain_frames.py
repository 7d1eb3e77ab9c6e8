"""Frames of the bodies of long chains, in which the step from a body to its parent is the same for
all bodies: every joint turns about z. They change constants only."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ...algebra.scalar import Scalar, as_number, is_number
from ...algebra.spatial import ZERO, AnyRotation, Placement, Rotation, Vector, as_matrix
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
    rotations = [Rotation([Vector(*row) for row in _order(body)]) for body in tree.bodies]
    return [ChainFrame(turn, turn) for turn in (Placement(R, ZERO) for R in rotations)]


def hartenberg_frames(tree: Tree) -> list[ChainFrame]:
    """Frames with few numbers between them.

    Where a body carries a joint, its x axis is normal to its own axis and to that of the first such
    joint, as Denavit and Hartenberg place it (J. Appl. Mech. 22, 1955): then a turn about x leads
    from axis to axis. The origin is the point of the axis that is nearest to the parent's origin.
    (Theirs is on the common normal, which is far away if two axes are nearly parallel.)
    """
    X_tree = [_matrix(body.X_tree) for body in tree.bodies]
    reach = LONGEST_SHIFT * max(float(np.linalg.norm(X[:3, 3])) for X in X_tree)
    first_child = {body.parent: i for i, body in reversed([*enumerate(tree.bodies)])}
    turns: list[np.ndarray] = []
    frames = []
    for i, body in enumerate(tree.bodies):
        start, parent = np.eye(4), body.parent
        start[:3, :3] = _order(body)
        is_about_x = is_nearest = False
        if parent != WORLD and is_revolute(tree.bodies[parent]):
            in_parent = np.linalg.inv(turns[parent]) @ X_tree[i] @ start
            is_about_x = first_child[parent] == i
            if is_about_x:
                start = start @ _about_z(in_parent[0, 0], in_parent[0, 1])
            shift = -float(in_parent[:3, 2] @ in_parent[:3, 3])
            is_nearest = abs(shift) <= reach
            start[:3, 3] = shift * start[:3, 2] if is_nearest else 0.0
        x, y, child = 1.0, 0.0, first_child.get(i)
        if child is not None and is_revolute(body):
            axis = X_tree[child][:3, :3] @ _order(tree.bodies[child])[:, 2]
            x, y = _normal(start[:3, :3].T @ axis)
        if not is_about_x:  # then any turn about z can be part of the joint's axes
            start, x, y = start @ _about_z(x, y), 1.0, 0.0
        turns.append(start @ _about_z(x, y))
        frames.append(
            ChainFrame(
                _placement(start), _placement(turns[i]), math.atan2(y, x), is_about_x, is_nearest
            )
        )
    return frames


def _normal(axis: np.ndarray) -> tuple[float, float]:
    """The direction normal to z and to an axis that is nearest to x; x if the axes are parallel."""
    length = math.hypot(axis[0], axis[1])
    if length == 0.0:
        return 1.0, 0.0
    x, y = -axis[1] / length, axis[0] / length
    return (-x, -y) if x < 0.0 or (x == 0.0 and y < 0.0) else (x, y)


def _order(body: Body) -> np.ndarray:
    """The body's axes in the order in which the joint's axis is the last one, as columns."""
    first = (body.axis + 1) % 3 if is_revolute(body) else 0
    return np.eye(3)[:, [(first + k) % 3 for k in range(3)]]


def _about_z(c: float, s: float) -> np.ndarray:
    turn = np.eye(4)
    turn[:2, :2] = [[c, -s], [s, c]]
    return turn


def entries_of(R: AnyRotation) -> list[Scalar]:
    """The entries of a rotation's matrix, row by row."""
    return [x for row in as_matrix(R).matrix.rows for x in row]


def _matrix(X: Placement) -> np.ndarray:
    """A placement of numbers as a 4 x 4 matrix."""
    matrix = np.eye(4)
    matrix[:3, :3] = np.reshape([as_number(x) for x in entries_of(X.R)], (3, 3))
    matrix[:3, 3] = [as_number(x) for x in X.p]
    return matrix


def _placement(matrix: np.ndarray) -> Placement:
    rows = matrix.tolist()
    return Placement(
        Rotation([Vector(*row[:3]) for row in rows[:3]]), Vector(*(row[3] for row in rows[:3]))
    )
