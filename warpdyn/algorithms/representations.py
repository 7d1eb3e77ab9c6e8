"""Conversions of a body's twists, twist rates and wrenches between representations.

A representation names the point whose velocity the linear part is (a point of the body: its frame's
origin, its centre of mass, or the point that is at the world's origin now), and the axes of either
part. The power of a wrench on a twist is the same in all.

Featherstone, Rigid Body Dynamics Algorithms (2008), sections 2.8 (transforms) and 2.10 (rates in
moving coordinates); the names are those of Traversaro and Saccon, Multibody dynamics notation
(2019).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ..algebra.linear import transpose
from ..algebra.pose_forms import from_position_and_quaternion
from ..algebra.scalar import Scalar
from ..algebra.spatial import ZERO, Force, Motion, Placement, Vector
from ..model.tree import WORLD, Tree

Columns = tuple[tuple[tuple[int, float], ...], ...]
"""A result as weighted sums of the input's entries: (index, weight) pairs for each entry."""


@dataclass(frozen=True)
class Representation:
    """Convention of a spatial vector.

    `point`: "origin", "com" or "world". `linear`, `angular`: axes of the two parts, "body" or
    "world".
    """

    point: str = "origin"
    linear: str = "world"
    angular: str = "world"
    angular_first: bool = False

    @property
    def follows(self) -> bool:
        """True if the linear part is the velocity of a moving point in axes at rest.

        Its rate then is that point's acceleration.
        """
        return self.point != "world" and self.linear == "world"


REPRESENTATIONS = {
    "local": Representation(linear="body", angular="body"),
    "local_world_aligned": Representation(),
    "world": Representation("world"),
    "mujoco": Representation(angular="body"),
    "newton": Representation("com"),
    "drake": Representation(angular_first=True),
}


class BaseConversion(NamedTuple):
    """A change of the representation of a generalized vector, whose first six entries are the base's."""

    root: str
    source: str
    target: str
    com: tuple[float, ...]
    """Point of Newton's linear velocity, 3 [m], in the root link."""
    columns: Columns | None
    """The joints' part of the result; None for the same order."""


def _in_axes(X: Placement, u: Vector, axes: str, wanted: str) -> Vector:
    if axes == wanted:
        return u
    return X.R.to_parent(u) if wanted == "world" else X.R.to_child(u)


def _arm(X: Placement, com: Vector, source: Representation, target: Representation) -> Vector:
    """Offset from the source's point to the target's, in the world's axes."""

    def from_origin(point: str) -> Vector:
        if point == "com":
            return X.R.to_parent(com)
        return -X.p if point == "world" else ZERO

    return from_origin(target.point) - from_origin(source.point)


def twist(
    X: Placement, com: Vector, m: Motion, source: Representation, target: Representation
) -> Motion:
    """Twist of a body placed by X in the world: v' = v + ω × r, r from point to point."""
    linear = _in_axes(X, m.linear, source.linear, "world")
    if source.point != target.point:
        spin = _in_axes(X, m.angular, source.angular, "world")
        linear = linear + spin.cross(_arm(X, com, source, target))
    return Motion(
        _in_axes(X, linear, "world", target.linear),
        _in_axes(X, m.angular, source.angular, target.angular),
    )


def wrench(
    X: Placement, com: Vector, f: Force, source: Representation, target: Representation
) -> Force:
    """Wrench of the same power: n' = n - r × f, r from point to point."""
    force = _in_axes(X, f.linear, source.linear, "world")
    couple, axes = f.angular, source.angular
    if source.point != target.point:
        couple = _in_axes(X, couple, axes, "world") - _arm(X, com, source, target).cross(force)
        axes = "world"
    return Force(
        _in_axes(X, force, "world", target.linear), _in_axes(X, couple, axes, target.angular)
    )


def twist_rate(
    X: Placement, com: Vector, v: Motion, a: Motion, source: Representation, target: Representation
) -> Motion:
    """Rate of the target's components, from the source's components `v` and their rate `a`.

    A spatial acceleration transforms like a twist (RBDA 2.11); the acceleration of a point differs
    from it by ω × v.
    """
    if source.point == target.point and source.follows == target.follows:
        return twist(X, com, a, source, target)
    if source.follows:
        a = Motion(
            a.linear - _in_axes(X, v.angular, source.angular, "world").cross(v.linear), a.angular
        )
    # The conversion goes through the spatial acceleration, which alone transforms from point to
    # point.
    a = twist(X, com, a, source, target)
    if target.follows:
        v = twist(X, com, v, source, target)
        a = Motion(
            a.linear + _in_axes(X, v.angular, target.angular, "world").cross(v.linear), a.angular
        )
    return a


# Whole generalized vectors.


def _parts(values: Sequence[Scalar], representation: Representation) -> tuple[Vector, Vector]:
    first, second = Vector(*values[:3]), Vector(*values[3:6])
    return (second, first) if representation.angular_first else (first, second)


def _entries(m: Motion | Force, representation: Representation) -> list[Scalar]:
    return [*m.angular, *m.linear] if representation.angular_first else [*m.linear, *m.angular]


def _joints(values: Sequence[Scalar], columns: Columns | None, first: int) -> list[Scalar]:
    if columns is None:
        return list(values[first:])
    return [sum((values[k] * weight for k, weight in terms), 0.0) for terms in columns]


Rule = Callable[[Placement, Vector, Representation, Representation], Motion | Force]
"""Conversion of the base's entries, from its placement in the world, its centre of mass, source and
target.
"""


def _whole(
    tree: Tree,
    q: Sequence[Scalar],
    values: Sequence[Scalar],
    rule: Rule,
    conversion: BaseConversion,
) -> list[Scalar]:
    """Generalized vector whose six base entries are converted by `rule`."""
    body, columns = tree.frames[conversion.root].body, conversion.columns
    if body == WORLD:
        return _joints(values, columns, 0)
    X, com = tree.bodies[body].placement(q).as_matrix(), Vector(*conversion.com)
    A, B = REPRESENTATIONS[conversion.source], REPRESENTATIONS[conversion.target]
    return _entries(rule(X, com, A, B), B) + _joints(values, columns, 6)


def convert_velocity(
    tree: Tree, q: Sequence[Scalar], v: Sequence[Scalar], conversion: BaseConversion
) -> list[Scalar]:
    """Generalized velocity with the base's twist in another representation.

    q: nq [m, rad].  v: nv [m/s, rad/s] in the source's convention, or of another library's
    length.
    """

    def rule(X: Placement, c: Vector, A: Representation, B: Representation) -> Motion:
        return twist(X, c, Motion(*_parts(v, A)), A, B)

    return _whole(tree, q, v, rule, conversion)


def convert_acceleration(
    tree: Tree,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    a: Sequence[Scalar],
    conversion: BaseConversion,
) -> list[Scalar]:
    """Rate of the result of `convert_velocity` [m/s², rad/s²].

    The arguments are the source's velocity `v` and its rate `a`; the others are as in
    `convert_velocity`.
    """

    def rule(X: Placement, c: Vector, A: Representation, B: Representation) -> Motion:
        return twist_rate(X, c, Motion(*_parts(v, A)), Motion(*_parts(a, A)), A, B)

    return _whole(tree, q, a, rule, conversion)


def convert_force(
    tree: Tree, q: Sequence[Scalar], tau: Sequence[Scalar], conversion: BaseConversion
) -> list[Scalar]:
    """Generalized force of the same power, the base's wrench in another representation [N, N·m].

    The arguments are as in `convert_velocity`.
    """

    def rule(X: Placement, c: Vector, A: Representation, B: Representation) -> Force:
        return wrench(X, c, Force(*_parts(tau, A)), A, B)

    return _whole(tree, q, tau, rule, conversion)


# Twists and wrenches of any frame, by its pose [x y z qx qy qz qw].


def convert_twist(
    tree: Tree, pose: Sequence[Scalar], m: Sequence[Scalar], source: str, target: str
) -> list[Scalar]:
    """Twist of a frame, 6 [m/s, rad/s], in another representation.

    `pose`: 7, of the frame in the world.
    """
    A, B = REPRESENTATIONS[source], REPRESENTATIONS[target]
    X = from_position_and_quaternion(pose)
    return _entries(twist(X, ZERO, Motion(*_parts(m, A)), A, B), B)


def convert_wrench(
    tree: Tree, pose: Sequence[Scalar], f: Sequence[Scalar], source: str, target: str
) -> list[Scalar]:
    """Wrench on a frame, 6 [N, N·m], in another representation.

    `pose`: 7, of the frame in the world.
    """
    A, B = REPRESENTATIONS[source], REPRESENTATIONS[target]
    X = from_position_and_quaternion(pose)
    return _entries(wrench(X, ZERO, Force(*_parts(f, A)), A, B), B)


def _units() -> list[tuple[Vector, Vector]]:
    rows = [[float(i == k) for i in range(6)] for k in range(6)]
    return [(Vector(*row[:3]), Vector(*row[3:])) for row in rows]


def motion_transform(tree: Tree, pose: Sequence[Scalar]) -> list[list[Scalar]]:
    """Motion transform X, 6 by 6, of a pose (RBDA 2.24, 2.26).

    It maps twists from the posed frame to the frame in which the pose is given.
    """
    X = from_position_and_quaternion(pose)
    return transpose([list(X.motion_to_parent(Motion(*unit))) for unit in _units()])


def force_transform(tree: Tree, pose: Sequence[Scalar]) -> list[list[Scalar]]:
    """Force transform X*, 6 by 6, of a pose: the inverse transpose of X (RBDA 2.25, 2.27)."""
    X = from_position_and_quaternion(pose)
    return transpose([list(X.force_to_parent(Force(*unit))) for unit in _units()])
