"""Velocities and accelerations of frames.

The recursions of RBDA table 5.1 run in the requested reference: motions are carried from
body to body into the body's frame ("local"), to its origin ("local_world_aligned"), or not at all
("world").
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ..algebra.point_motion import PointMotion
from ..algebra.scalar import Scalar
from ..algebra.spatial import HERE, IDENTITY, ZERO, ZERO_MOTION, Motion, Placement, motion_of
from ..model.tree import WORLD, Tree
from .frame_columns import relative_columns
from .frames import body_placements

AccelerationKind = Literal["spatial", "classical"]
"""The kind of acceleration: the derivative of the spatial velocity, or the acceleration of the
point at the reference's origin."""


@dataclass(frozen=True)
class ObservedFrame:
    """A body or a frame in a reference.

    `X` carries motions from the parent to it; `axes` carries motions from its frame, in which
    motion subspaces are constant, to the reference.
    """

    parent: int
    X: Placement
    axes: Placement


def observe_frames(
    tree: Tree, q: Sequence[Scalar], frames: Sequence[str], reference: str
) -> tuple[dict[int, ObservedFrame], list[ObservedFrame]]:
    """The bodies that carry the frames, from the root on, and the frames."""
    seats = [tree.frames[name] for name in frames]
    X0 = body_placements(tree, q, [seat.body for seat in seats])

    def observe(parent: int, X: Placement, placed: Placement) -> ObservedFrame:
        if reference == "local":
            return ObservedFrame(parent, X, HERE)
        if reference == "world":
            return ObservedFrame(parent, HERE, placed)
        return ObservedFrame(
            parent, Placement(IDENTITY, X0[parent].R.to_parent(X.p)), Placement(placed.R, ZERO)
        )

    bodies = {
        i: observe(tree.bodies[i].parent, tree.bodies[i].placement(q), X0[i])
        for i in X0
        if i != WORLD
    }
    return bodies, [observe(seat.body, seat.placement, HERE) for seat in seats]


def frame_velocity(
    tree: Tree,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    *,
    frames: Sequence[str],
    reference: str,
    relative_to: str | None = None,
) -> list[list[Scalar]]:
    """Spatial velocities of frames in the world, or relative to another frame.

    q: nq [m, rad].  v: nv.  Returns 6 for each frame [m/s, rad/s], linear, then angular.
    RBDA table 5.1, v_i = v_parent + S_i q'_i; relative to another frame v_i - v_other, by the
    columns of the relative Jacobian.
    """
    if relative_to is not None:
        other = tree.frames[relative_to]
        each = [relative_columns(tree, q, tree.frames[name], other, reference) for name in frames]
        return [
            list(sum((S * v[k] for columns in bodies for k, S in columns), ZERO_MOTION))
            for bodies in each
        ]
    bodies, ends = observe_frames(tree, q, frames, reference)
    V: dict[int, Motion] = {WORLD: ZERO_MOTION}
    for i, seen in bodies.items():
        V[i] = seen.X.motion_to_child(V[seen.parent]) + seen.axes.motion_to_parent(
            tree.bodies[i].motion(v)
        )
    return [list(end.X.motion_to_child(V[end.parent])) for end in ends]


def frame_acceleration(
    tree: Tree,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    a: Sequence[Scalar],
    *,
    frames: Sequence[str],
    reference: str,
    kind: str,
) -> list[list[Scalar]]:
    """Spatial accelerations of frames, or classical ones of their origins.

    q: nq [m, rad].  v, a: nv.  Returns 6 for each frame [m/s², rad/s²], linear, then angular.
    RBDA table 5.1, a_i = a_parent + S_i q''_i + v_i × S_i q'_i. A point with the spatial acceleration
    [a, α] and the velocity [v, ω] accelerates by a + ω × v (RBDA 2.42).
    """
    if kind == "classical" and reference != "world":
        return _classical(tree, q, v, a, frames, reference)
    bodies, ends = observe_frames(tree, q, frames, reference)
    V: dict[int, Motion] = {WORLD: ZERO_MOTION}
    A: dict[int, Motion] = {WORLD: ZERO_MOTION}
    for i, seen in bodies.items():
        vJ = seen.axes.motion_to_parent(tree.bodies[i].motion(v))
        aJ = seen.axes.motion_to_parent(tree.bodies[i].motion(a))
        carried = seen.X.motion_to_child(V[seen.parent])
        V[i] = carried + vJ
        # Unlike in the book carried × vJ, not v_i × vJ: the same, as vJ × vJ = 0, in fewer
        # operations.
        A[i] = seen.X.motion_to_child(A[seen.parent]) + aJ + carried.cross(vJ)
    results = []
    for end in ends:
        acceleration, velocity = (end.X.motion_to_child(m[end.parent]) for m in (A, V))
        rotation = velocity.angular.cross(velocity.linear) if kind == "classical" else ZERO
        results.append([*(acceleration.linear + rotation), *acceleration.angular])
    return results


def _classical(
    tree: Tree,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    a: Sequence[Scalar],
    frames: Sequence[str],
    reference: str,
) -> list[list[Scalar]]:
    """Accelerations of the frames' origins by the recursion of `rnea`, which needs no linear
    velocities."""
    bodies, ends = observe_frames(tree, q, frames, reference)
    motion: dict[int, PointMotion] = {WORLD: PointMotion.without_rotation()}
    for i, seen in bodies.items():
        vJ = seen.axes.motion_to_parent(tree.bodies[i].motion(v))
        aJ = seen.axes.motion_to_parent(tree.bodies[i].motion(a))
        motion[i] = motion[seen.parent].across(seen.X, vJ, aJ)
    at_ends = [motion[end.parent].across(end.X) for end in ends]
    return [[*end.acc, *end.dw] for end in at_ends]


def frame_acceleration_turned(
    tree: Tree,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    a: Sequence[Scalar],
    *,
    frames: Sequence[str],
    reference: str,
    kind: str,
) -> list[list[Scalar]]:
    """Accelerations of `frame_acceleration`, computed in the frames' axes: shorter for few frames.

    Not for classical accelerations in the "world", which belong to other points.
    """
    seats = [tree.frames[name] for name in frames]
    X0 = body_placements(tree, q, [seat.body for seat in seats])
    local = frame_acceleration(tree, q, v, a, frames=frames, reference="local", kind=kind)
    results = []
    for seat, A in zip(seats, local, strict=True):
        T = X0[seat.body].compose(seat.placement).as_matrix()
        X = T if reference == "world" else Placement(T.R, ZERO)
        results.append(list(X.motion_to_parent(motion_of(A))))
    return results


def frame_bias_acceleration(
    tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar], *, frames: Sequence[str], reference: str
) -> list[list[Scalar]]:
    """Accelerations of frames at q'' = 0, J' v.

    q: nq [m, rad].  v: nv.  Returns 6 for each frame [m/s², rad/s²].
    Spatial; classical if J belongs to a moving origin and axes at rest ("local_world_aligned").
    """
    kind, at_rest = _bias_kind(reference), [0.0] * tree.nv
    return frame_acceleration(tree, q, v, at_rest, frames=frames, reference=reference, kind=kind)


def frame_bias_acceleration_turned(
    tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar], *, frames: Sequence[str], reference: str
) -> list[list[Scalar]]:
    """`frame_bias_acceleration` by `frame_acceleration_turned`."""
    kind, at_rest = _bias_kind(reference), [0.0] * tree.nv
    return frame_acceleration_turned(
        tree, q, v, at_rest, frames=frames, reference=reference, kind=kind
    )


def _bias_kind(reference: str) -> str:
    return "classical" if reference == "local_world_aligned" else "spatial"
