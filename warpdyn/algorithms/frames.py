"""Steps that kinematic algorithms share.

Placements of bodies, the bodies between two others, and adapters for one frame or several.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

from ..algebra.scalar import Scalar
from ..algebra.spatial import HERE, Placement, Vector
from ..model.tree import WORLD, Frame, Tree

PARTS = {"both": slice(0, 6), "linear": slice(0, 3), "angular": slice(3, 6)}
"""Rows of a spatial vector."""

Part = Literal["both", "linear", "angular"]


def common_carrier(tree: Tree, bodies: Sequence[int]) -> int:
    """The last body that is, or carries, each of the bodies; or the world."""
    carrier = WORLD
    for level in zip(*(tree.path(i) for i in bodies), strict=False):
        if len(set(level)) > 1:
            break
        carrier = level[0]
    return carrier


def path_beyond(tree: Tree, body: int, root: int = WORLD) -> list[int]:
    """Bodies from `root`, which carries `body`, to `body`; `root` itself is left out."""
    return tree.path(body)[len(tree.path(root)) :]


def body_placements(
    tree: Tree, q: Sequence[Scalar], bodies: Sequence[int], root: int = WORLD
) -> dict[int, Placement]:
    """Placements of bodies in the world, or in the body `root` that carries them.

    The bodies between are included: X0[i] = X0[parent] X[i] (RBDA 4.4).
    """
    X: dict[int, Placement] = {root: HERE}
    for i in sorted({i for body in bodies for i in path_beyond(tree, body, root)}):
        X[i] = X[tree.bodies[i].parent].compose(tree.bodies[i].placement(q)).as_matrix()
    return X


def at_point(frame: Frame, point: Sequence[Scalar] | None) -> Frame:
    """The frame with its origin moved to a point, in the frame's coordinates [m]; its axes stay."""
    if point is None:
        return frame
    placement = frame.placement
    return Frame(frame.body, Placement(placement.R, placement.point_to_parent(Vector(*point))))


# One algorithm for a single frame and for several.


def for_one_frame(algorithm: Callable[..., list]) -> Callable[..., Any]:
    """The algorithm for several frames, applied to a single frame: its only result."""

    def algorithm_of_one_frame(*arguments: Any, frame: str, **options: Any) -> Any:
        return algorithm(*arguments, frames=(frame,), **options)[0]

    return algorithm_of_one_frame


def for_frames(algorithm: Callable[..., Any]) -> Callable[..., list]:
    """The algorithm for a single frame, applied to several: a list of its results."""

    def algorithm_of_several_frames(*arguments: Any, frames: Sequence[str], **options: Any) -> list:
        return [algorithm(*arguments, frame=frame, **options) for frame in frames]

    return algorithm_of_several_frames


def with_point(algorithm: Callable[..., Any]) -> Callable[..., Any]:
    """The algorithm with its `point` as the last of the arrays."""

    def algorithm_with_point(tree: Tree, *arrays: Sequence[Scalar], **options: Any) -> Any:
        return algorithm(tree, *arrays[:-1], point=arrays[-1], **options)

    return algorithm_with_point
