"""Forward kinematics: poses of links."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from ..algebra.pose_forms import homogeneous, position_and_quaternion
from ..algebra.scalar import Scalar
from ..algebra.spatial import Placement
from ..model.tree import Tree
from .frames import body_placements, common_carrier

FORMS: Mapping[str, Callable[[Placement], list]] = {
    "matrix": homogeneous,
    "pose": position_and_quaternion,
}
Form = Literal["matrix", "pose"]


def fk(
    tree: Tree,
    q: Sequence[Scalar],
    frames: Sequence[str],
    relative_to: str | None = None,
    form: str = "matrix",
) -> list[list]:
    """Poses of frames in the world, or in the frame `relative_to`.

    q: nq [m, rad].  Returns for each frame a 4 by 4 matrix, or 7 numbers [x y z qx qy qz qw].
    Composition of link transforms along the tree; Craig, Introduction to Robotics, 3.2.
    """
    seats = [tree.frames[name] for name in frames]
    if relative_to is None:
        X = body_placements(tree, q, [seat.body for seat in seats])
        poses = [X[seat.body].compose(seat.placement).as_matrix() for seat in seats]
    else:
        # Only the joints between the frames are visited: the placement of their common carrier
        # cancels.
        other = tree.frames[relative_to]
        bodies = [other.body, *(seat.body for seat in seats)]
        X = body_placements(tree, q, bodies, common_carrier(tree, bodies))
        from_other = X[other.body].compose(other.placement).inverse()
        poses = [
            from_other.compose(X[seat.body].compose(seat.placement).as_matrix()).as_matrix()
            for seat in seats
        ]
    return [FORMS[form](T) for T in poses]
