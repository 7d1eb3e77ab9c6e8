"""Forward kinematics: poses of links."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ..algebra.scalar import Scalar, select_less, sqrt
from ..algebra.spatial import Placement, as_matrix
from ..model.tree import Tree
from .frames import body_placements, common_carrier


def fk(
    tree: Tree,
    q: Sequence[Scalar],
    frames: Sequence[str],
    relative_to: str | None = None,
    form: str = "matrix",
) -> list[list]:
    """Poses of the named frames in the world, or in the frame `relative_to`.

    Composition of link transforms along the tree; Craig, Introduction to Robotics, 3.2.
    """
    placed = [tree.frames[name] for name in frames]
    if relative_to is None:
        X = body_placements(tree, q, [frame.body for frame in placed])
        poses = [X[frame.body].compose(frame.placement).as_matrix() for frame in placed]
    else:
        other = tree.frames[relative_to]
        bodies = [other.body, *(frame.body for frame in placed)]
        X = body_placements(tree, q, bodies, common_carrier(tree, bodies))
        seen = X[other.body].compose(other.placement).inverse()
        poses = [
            seen.compose(X[frame.body].compose(frame.placement).as_matrix()).as_matrix()
            for frame in placed
        ]
    return [FORMS[form](T) for T in poses]


def homogeneous(T: Placement) -> list[list[Scalar]]:
    """[[R, p], [0, 1]]."""
    rows = [[*row, offset] for row, offset in zip(as_matrix(T.R).matrix.rows, T.p, strict=True)]
    return [*rows, [0.0, 0.0, 0.0, 1.0]]


def position_and_quaternion(T: Placement) -> list[Scalar]:
    """x, y, z, qx, qy, qz, qw with qw >= 0.

    The matrix 4 q qᵀ follows from R without roots; its column with the largest diagonal entry d, divided by 2 sqrt(d),
    is q (Shepperd, J. Guidance and Control 1, 1978).
    """
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = as_matrix(T.R).matrix.rows
    columns = [
        [1.0 + xx - yy - zz, xy + yx, xz + zx, zy - yz],
        [xy + yx, 1.0 - xx + yy - zz, yz + zy, xz - zx],
        [xz + zx, yz + zy, 1.0 - xx - yy + zz, yx - xy],
        [zy - yz, xz - zx, yx - xy, 1.0 + xx + yy + zz],
    ]
    largest, d = columns[3], columns[3][3]
    for k in range(3):
        larger, column = columns[k][k], columns[k]
        largest = [
            select_less(d, larger, new, old) for new, old in zip(column, largest, strict=True)
        ]
        d = select_less(d, larger, larger, d)
    half = 0.5 / sqrt(d)
    scale = select_less(largest[3], 0.0, -half, half)
    return [*T.p, *(x * scale for x in largest)]


FORMS: Mapping[str, Callable[[Placement], list]] = {
    "matrix": homogeneous,
    "pose": position_and_quaternion,
}
