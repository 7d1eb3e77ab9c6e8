"""Velocities and accelerations of frames.

The recursions of RBDA table 5.1 run in the reference that is asked for: motions are carried from body to body into the
body's frame ("local"), to its origin ("local_world_aligned"), or not at all ("world").
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..algebra.scalar import Scalar
from ..algebra.spatial import HERE, IDENTITY, ZERO, ZERO_MOTION, Matrix, Motion, Placement, Vector
from ..model.tree import WORLD, Tree
from .frames import body_placements
from .jacobian import relative_columns


@dataclass(frozen=True)
class Observed:
    """A body or a frame as seen in a reference: what carries motions to it from its parent, and from its own axes."""

    parent: int
    X: Placement
    own: Placement


def observed(
    tree: Tree, q: Sequence[Scalar], frames: Sequence[str], reference: str
) -> tuple[dict[int, Observed], list[Observed]]:
    """The bodies that carry the frames, from the root on, and the frames."""
    seats = [tree.frames[name] for name in frames]
    X0 = body_placements(tree, q, [seat.body for seat in seats])

    def see(parent: int, X: Placement, placed: Placement) -> Observed:
        if reference == "local":
            return Observed(parent, X, HERE)
        if reference == "world":
            return Observed(parent, HERE, placed)
        return Observed(
            parent, Placement(IDENTITY, X0[parent].R.to_parent(X.p)), Placement(placed.R, ZERO)
        )

    bodies = {
        i: see(tree.bodies[i].parent, tree.bodies[i].placement(q), X0[i]) for i in X0 if i != WORLD
    }
    return bodies, [see(seat.body, seat.placement, HERE) for seat in seats]


def frame_velocity(
    tree: Tree,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    *,
    frames: Sequence[str],
    reference: str,
    relative_to: str | None = None,
) -> list[list[Scalar]]:
    """Spatial velocities of frames: v_i = v_parent + S_i q'_i.

    Those relative to another frame by the Jacobian's columns: v_i - v_other.
    """
    if relative_to is not None:
        other = tree.frames[relative_to]
        found = [relative_columns(tree, q, tree.frames[name], other, reference) for name in frames]
        return [
            list(sum((S * v[k] for body in bodies for k, S in body), ZERO_MOTION))
            for bodies in found
        ]
    bodies, ends = observed(tree, q, frames, reference)
    V: dict[int, Motion] = {WORLD: ZERO_MOTION}
    for i, seen in bodies.items():
        V[i] = seen.X.motion_to_child(V[seen.parent]) + seen.own.motion_to_parent(
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
    """Spatial accelerations of frames, a_i = a_parent + S_i q''_i + v_i × S_i q'_i, or the classical ones of points.

    A point that has the spatial acceleration [a, α] and the velocity [v, ω] accelerates by a + ω × v (RBDA 2.42).
    """
    if kind == "classical" and reference != "world":
        return _classical(tree, q, v, a, frames, reference)
    bodies, ends = observed(tree, q, frames, reference)
    V: dict[int, Motion] = {WORLD: ZERO_MOTION}
    A: dict[int, Motion] = {WORLD: ZERO_MOTION}
    for i, seen in bodies.items():
        vJ = seen.own.motion_to_parent(tree.bodies[i].motion(v))
        aJ = seen.own.motion_to_parent(tree.bodies[i].motion(a))
        carried = seen.X.motion_to_child(V[seen.parent])
        V[i] = carried + vJ
        A[i] = seen.X.motion_to_child(A[seen.parent]) + aJ + carried.cross(vJ)
    results = []
    for end in ends:
        found, velocity = (end.X.motion_to_child(m[end.parent]) for m in (A, V))
        point = velocity.angular.cross(velocity.linear) if kind == "classical" else ZERO
        results.append([*(found.linear + point), *found.angular])
    return results


def _classical(
    tree: Tree,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    a: Sequence[Scalar],
    frames: Sequence[str],
    reference: str,
) -> list[list[Scalar]]:
    """Accelerations of the frames' origins, without linear velocities (Luh, Walker and Paul, 1980; see rnea)."""
    bodies, ends = observed(tree, q, frames, reference)
    w: dict[int, Vector] = {WORLD: ZERO}  # angular velocity
    dw: dict[int, Vector] = {WORLD: ZERO}  # angular acceleration
    W: dict[int, Matrix] = {
        WORLD: Matrix.cross(ZERO)
    }  # acceleration of a point x of the body: acc + W x
    acc: dict[int, Vector] = {WORLD: ZERO}  # of the body frame's origin
    for i, seen in bodies.items():
        X, parent = seen.X, seen.parent
        vJ = seen.own.motion_to_parent(tree.bodies[i].motion(v))
        aJ = seen.own.motion_to_parent(tree.bodies[i].motion(a))
        w_parent = X.R.to_child(w[parent])
        w[i] = w_parent + vJ.angular
        dw[i] = X.R.to_child(dw[parent]) + aJ.angular + w_parent.cross(vJ.angular)
        W[i] = Matrix.acceleration_tensor(w[i], dw[i])
        acc[i] = (
            X.R.to_child(acc[parent] + W[parent] @ X.p)
            + aJ.linear
            + (w_parent + w[i]).cross(vJ.linear)
        )
    return [
        [
            *end.X.R.to_child(acc[end.parent] + W[end.parent] @ end.X.p),
            *end.X.R.to_child(dw[end.parent]),
        ]
        for end in ends
    ]


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
    """`frame_acceleration` in the frames' own axes, turned in the end: the shorter way for few frames.

    Not for classical accelerations in the "world", which belong to other points.
    """
    seats = [tree.frames[name] for name in frames]
    X0 = body_placements(tree, q, [seat.body for seat in seats])
    local = frame_acceleration(tree, q, v, a, frames=frames, reference="local", kind=kind)
    results = []
    for seat, found in zip(seats, local, strict=True):
        T = X0[seat.body].compose(seat.placement).as_matrix()
        turn = T if reference == "world" else Placement(T.R, ZERO)
        results.append(list(turn.motion_to_parent(Motion(Vector(*found[:3]), Vector(*found[3:])))))
    return results


def frame_bias_acceleration(
    tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar], *, frames: Sequence[str], reference: str
) -> list[list[Scalar]]:
    """J' v: the acceleration at q'' = 0, classical where J belongs to a moving origin and still axes."""
    return frame_acceleration(
        tree, q, v, _none(tree), frames=frames, reference=reference, kind=_bias_kind(reference)
    )


def frame_bias_acceleration_turned(
    tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar], *, frames: Sequence[str], reference: str
) -> list[list[Scalar]]:
    """`frame_bias_acceleration` as `frame_acceleration_turned`."""
    kind = _bias_kind(reference)
    return frame_acceleration_turned(
        tree, q, v, _none(tree), frames=frames, reference=reference, kind=kind
    )


def _none(tree: Tree) -> list[Scalar]:
    return [0.0] * tree.nv


def _bias_kind(reference: str) -> str:
    return "classical" if reference == "local_world_aligned" else "spatial"
