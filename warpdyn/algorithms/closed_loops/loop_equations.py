"""Closed loops of a tree: errors, Jacobian and velocity terms of their equations.

The equations of a loop are about its carrier, the last body that carries both ends. Joints that move
the carrier have no entries. The axes are those of the carrier or of one end, and a planar linkage has
rows that are known to be zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from ...algebra.pose_forms import rotation_quaternion
from ...algebra.quaternions import quaternion_log
from ...algebra.scalar import Scalar, is_zero
from ...algebra.spatial import (
    IDENTITY,
    ZERO_MOTION,
    Motion,
    Placement,
    Rotation,
    TwoRotations,
    Vector,
    as_matrix,
)
from ...model.tree import WORLD, CoupledJoints, Follower, JoinedFrames, LoopEnd, Tree
from ..frames import body_placements, common_carrier, path_beyond

T = TypeVar("T")


@dataclass(frozen=True)
class LoopEquations:
    """The equations of one loop: connect 3 [m], weld 3 [m] and 3 [rad], hinge 3 [m] and 2 [rad],
    joint 1 [rad, m].

    `errors`: of the second end from the first, in the axes of `axes_body`, rotations as rotation
    vectors; those of a hinge about x and y of its first frame, to first order. `J`: rows of their
    rates, nv each. `turn`: from these axes to the world's; None for joints. `across`: x and y of a
    hinge's first frame in these axes.
    """

    errors: list[Scalar]
    J: list[list[Scalar]]
    turn: Rotation | None
    across: tuple[Vector, ...] = ()

    def to_world(self, values: Sequence[Scalar]) -> list[Scalar]:
        """Values of the equations, turned from their axes to the world's; those about a hinge's own
        axes stay."""
        if self.turn is None:
            return list(values)
        own = len(values) - len(self.across)
        triples = (Vector(*values[k : k + 3]) for k in range(0, own, 3))
        return [*(x for triple in triples for x in self.turn.to_parent(triple)), *values[own:]]

    def force(self, impulse: Sequence[Scalar]) -> list[Scalar]:
        """Values of the equations as a force and a moment in the world's axes, six numbers; those
        of joints come first and are followed by zeros."""
        values = self.to_world(impulse)
        if self.across and self.turn is not None:
            x, y = self.across
            values[3:] = self.turn.to_parent(x * impulse[3] + y * impulse[4])
        return [*values, *[0.0] * (6 - len(values))]


def loop_equations(tree: Tree, q: Sequence[Scalar]) -> list[LoopEquations]:
    """The equations of all loops at a configuration."""
    found = []
    for frames, joints in tree.loops:
        found += [_of_frames(tree, q, frames)] if frames is not None else []
        found += [_of_joints(tree, q, joints)] if joints is not None else []
    return found


@dataclass(frozen=True)
class LoopRows:
    """The equations of all loops as rows, without those whose entries are all known to be zero, such
    as those across the plane of a linkage. `kept`: for each loop, the equations that have rows."""

    equations: list[LoopEquations]
    kept: list[list[int]]

    @classmethod
    def at(cls, tree: Tree, q: Sequence[Scalar]) -> LoopRows:
        """The rows at a configuration."""
        equations = loop_equations(tree, q)
        kept = [
            [k for k, row in enumerate(each.J) if not all(map(is_zero, row))] for each in equations
        ]
        return cls(equations, kept)

    @property
    def J(self) -> list[list[Scalar]]:
        """The rows, nv each."""
        return self.rows_of([each.J for each in self.equations])

    @property
    def errors(self) -> list[Scalar]:
        """The errors of the rows [m, rad]."""
        return self.rows_of([each.errors for each in self.equations])

    def rows_of(self, by_loop: Sequence[Sequence[T]]) -> list[T]:
        """Values of all equations, loop by loop, without those that have no rows."""
        return [values[k] for values, rows in zip(by_loop, self.kept, strict=True) for k in rows]

    def forces(self, by_row: Sequence[Scalar]) -> list[list[Scalar]]:
        """Values of the rows as a force and a moment for each loop, in the world's axes."""
        numbers, found = iter(by_row), []
        for equations, kept in zip(self.equations, self.kept, strict=True):
            values: list[Scalar] = [0.0] * len(equations.J)
            for k in kept:
                values[k] = next(numbers)
            found.append(equations.force(values))
        return found


def loop_errors(tree: Tree, q: Sequence[Scalar]) -> list[Scalar]:
    """Errors of all equations, in the world's axes [m, rad]."""
    return [x for each in loop_equations(tree, q) for x in each.to_world(each.errors)]


def loop_jacobian(tree: Tree, q: Sequence[Scalar]) -> list[list[Scalar]]:
    """Rows of the rates of all equations, in the world's axes, nv each."""
    rows: list[list[Scalar]] = []
    for each in loop_equations(tree, q):
        columns = [each.to_world(column) for column in zip(*each.J, strict=True)]
        rows += [list(row) for row in zip(*columns, strict=True)] if columns else each.J
    return rows


def loop_bias(tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar]) -> list[list[Scalar]]:
    """Velocity terms dJ/dt v of the equations, loop by loop, in the axes of the equations.

    They are the second derivatives of the errors of closed loops when all accelerations of
    coordinates are zero.
    """
    found = []
    for frames, joints in tree.loops:
        found += [_bias_of_frames(tree, q, v, frames)] if frames is not None else []
        found += [[_bias_of_joints(q, v, joints)]] if joints is not None else []
    return found


def _bias_of_joints(q: Sequence[Scalar], v: Sequence[Scalar], loop: CoupledJoints) -> Scalar:
    if loop.second is None:
        return 0.0
    rate = v[loop.second.v_index] * loop.second.ratio
    return -_polynomial(loop.coefficients, _position(loop.second, q), derivative=2) * rate * rate


def _bias_of_frames(
    tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar], loop: JoinedFrames
) -> list[Scalar]:
    carrier = common_carrier(tree, [loop.first.body, loop.second.body])
    first, second = (_end_motion(tree, q, v, end, carrier) for end in (loop.first, loop.second))
    relative = second.acceleration - first.acceleration
    body = axes_body(tree, loop, carrier)
    if body != carrier:
        return [*body_placements(tree, q, [body], carrier)[body].R.to_child(relative.linear)]
    if loop.turns == 3:
        return [*relative]
    bias = [*relative.linear]
    # The axes x and y of a hinge turn with its first frame.
    spin = second.w - first.w
    for axis in first.R.matrix.T.rows[: loop.turns]:
        bias.append(axis.dot(relative.angular) + first.w.cross(axis).dot(spin))
    return bias


def axes_body(tree: Tree, loop: JoinedFrames, carrier: int) -> int:
    """The body in whose axes the equations are: a rod on a ball joint that meets another body at a
    point, because its own entries are constants there; or else the carrier."""
    for end in (loop.first.body, loop.second.body):
        if loop.turns == 0 and end != carrier and len(tree.bodies[end].subspace) > 1:
            return end
    return carrier


class _At(NamedTuple):
    """A frame in the carrier, and the columns of its motion about its origin in a loop's axes."""

    placement: Placement
    columns: list[tuple[int, Motion]]


def _of_frames(tree: Tree, q: Sequence[Scalar], loop: JoinedFrames) -> LoopEquations:
    ends = (loop.first, loop.second)
    carrier = common_carrier(tree, [end.body for end in ends])
    axes = axes_body(tree, loop, carrier)
    X = body_placements(tree, q, [end.body for end in ends], carrier)
    first, second = (_at(tree, X, end, carrier, axes) for end in ends)
    errors = [*X[axes].R.to_child(second.placement.p - first.placement.p)]
    rows: list[list[Scalar]] = [[0.0] * tree.nv for _ in range(3 + loop.turns)]
    # The rows of a weld are those of the whole relative twist; a hinge's rotations follow below.
    whole = rows if loop.turns == 3 else rows[:3]
    for sign, at in ((1.0, second), (-1.0, first)):
        for k, motion in at.columns:
            for row, x in zip(whole, motion, strict=False):
                row[k] = row[k] + x * sign
    across: tuple[Vector, ...] = ()
    if loop.turns == 3:
        R, other = as_matrix(first.placement.R), as_matrix(second.placement.R)
        between = Rotation([R.to_child(u) for u in other.matrix.T.rows]).matrix.T
        errors += R.to_parent(quaternion_log(rotation_quaternion(Rotation(between.rows))))
    elif loop.turns == 2:
        u, w, _ = as_matrix(first.placement.R).matrix.T.rows
        z = as_matrix(second.placement.R).matrix.T.rows[2]
        across = (u, w)
        errors += [-w.dot(z), u.dot(z)]
        for row, axis in zip(rows[3:], across, strict=True):
            for sign, at in ((1.0, second), (-1.0, first)):
                for k, motion in at.columns:
                    row[k] = row[k] + axis.dot(motion.angular) * sign
    turn = IDENTITY
    if axes != WORLD:
        turn = as_matrix(body_placements(tree, q, [axes])[axes].R)
    return LoopEquations(errors, rows, turn, across)


def _at(tree: Tree, X: dict[int, Placement], end: LoopEnd, carrier: int, axes: int) -> _At:
    """A loop's end in the carrier, with the motion that each coordinate beyond the carrier gives
    it."""
    place = X[end.body].compose(end.placement).as_matrix()
    columns = []
    for i in path_beyond(tree, end.body, carrier):
        at_end = Placement(X[i].R, X[i].p - place.p)
        if i == axes:
            at_end = Placement(IDENTITY, -end.placement.p)
        for k, S in tree.bodies[i].subspace:
            motion = at_end.motion_to_parent(S)
            if axes not in (i, carrier):
                turn = X[axes].R
                motion = Motion(turn.to_child(motion.linear), turn.to_child(motion.angular))
            columns.append((k, motion))
    return _At(place, columns)


class _EndMotion(NamedTuple):
    """A loop's end against the carrier without accelerations of coordinates, in the carrier's axes:
    its rotation, its angular velocity, and the acceleration of its origin with the angular one."""

    R: Rotation
    w: Vector
    acceleration: Motion


def _end_motion(
    tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar], end: LoopEnd, carrier: int
) -> _EndMotion:
    """The motion of a loop's end. RBDA section 2.11."""
    V, A, R = ZERO_MOTION, ZERO_MOTION, IDENTITY
    for i in path_beyond(tree, end.body, carrier):
        body = tree.bodies[i]
        X, joint = body.placement(q), body.motion(v)
        V = X.motion_to_child(V) + joint
        A = X.motion_to_child(A) + V.cross(joint)
        R = as_matrix(TwoRotations(R, X.R))
    p = end.placement.p
    linear = A.linear + A.angular.cross(p) + V.angular.cross(V.linear + V.angular.cross(p))
    acceleration = Motion(R.to_parent(linear), R.to_parent(A.angular))
    axes = as_matrix(TwoRotations(R, end.placement.R))
    return _EndMotion(axes, R.to_parent(V.angular), acceleration)


def _of_joints(tree: Tree, q: Sequence[Scalar], loop: CoupledJoints) -> LoopEquations:
    first, second = loop.first, loop.second
    row: list[Scalar] = [0.0] * tree.nv
    row[first.v_index] = first.ratio
    follows: Scalar = loop.coefficients[0]
    if second is not None:
        leader = _position(second, q)
        follows = _polynomial(loop.coefficients, leader)
        slope = _polynomial(loop.coefficients, leader, derivative=1)
        row[second.v_index] = row[second.v_index] - slope * second.ratio
    return LoopEquations([_position(first, q) - follows], [row], None)


def _position(joint: Follower, q: Sequence[Scalar]) -> Scalar:
    return q[joint.q_index] * joint.ratio + joint.offset


def _polynomial(coefficients: Sequence[float], x: Scalar, derivative: int = 0) -> Scalar:
    """A polynomial, or its first or second derivative, by Horner's rule."""
    factors = list(coefficients)
    for _ in range(derivative):
        factors = [n * c for n, c in enumerate(factors)][1:]
    total: Scalar = 0.0
    for c in reversed(factors):
        total = total * x + c
    return total
