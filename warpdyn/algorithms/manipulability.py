"""Manipulability of a frame."""

from __future__ import annotations

from collections.abc import Sequence

from ..algebra.linear import dot, transpose
from ..algebra.scalar import Scalar, maximum, select_less, sqrt
from ..model.tree import Tree
from .frame_columns import columns_to_matrix, frame_columns

SMALLEST = 1e-30
"""Squares of lengths below this count as zero; its reciprocal is still finite in single
precision."""

LEAST = 1e-37
"""Least square of the product of all lengths that counts; its root has a finite slope in single
precision."""


def manipulability(tree: Tree, q: Sequence[Scalar], frame: str, part: str = "both") -> Scalar:
    """Manipulability sqrt(det(J Jᵀ)), J the Jacobian at the frame's origin.

    q: nq [m, rad].  Returns a number: sqrt(det(Jᵀ J)) if fewer coordinates move the frame than J
    has rows.
    Yoshikawa, Int. J. Robotics Research 4(2), 1985. Computed as the volume that the rows (the
    columns) of J span, without the product J Jᵀ, which would halve the number of correct digits
    near a singularity.
    """
    bodies, _ = frame_columns(tree, q, tree.frames[frame], "local")
    moving = sorted({k for columns in bodies for k, _ in columns})
    rows = [[row[k] for k in moving] for row in columns_to_matrix(tree.nv, bodies, part)]
    if not moving:
        return 0.0
    return volume(rows if len(moving) >= len(rows) else transpose(rows))


def volume(vectors: Sequence[Sequence[Scalar]]) -> Scalar:
    """Volume of the parallelepiped that vectors span.

    The product of their lengths, each made orthogonal to those before it (modified Gram-Schmidt).
    """
    left = [list(u) for u in vectors]
    square: Scalar = 1.0
    while left:
        u, *left = left
        length = dot(u, u)
        square = square * length
        scale = 1.0 / maximum(length, SMALLEST)
        along = [dot(u, w) * scale for w in left]
        left = [
            [x - a * y for x, y in zip(w, u, strict=True)] for w, a in zip(left, along, strict=True)
        ]
    # At a singularity the root has no slope: the gradient there is set to zero, because it would be
    # infinite.
    return select_less(square, LEAST, 0.0, sqrt(maximum(square, LEAST)))
