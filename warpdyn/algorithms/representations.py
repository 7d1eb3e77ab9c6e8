"""Twists, their rates and wrenches of one body from one representation to another.

A representation says whose velocity the linear part is (a point of the body: its frame's origin, its centre of mass, or
the point that is at the world's origin now), and in which axes either part stands. The power of a wrench on a twist is
the same in all.

Featherstone, Rigid Body Dynamics Algorithms (2008), sections 2.8 (transforms) and 2.10 (rates in moving coordinates);
the names are those of Traversaro and Saccon, Multibody dynamics notation (2019).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..algebra.linear import transposed
from ..algebra.quaternions import quaternion_rotation
from ..algebra.scalar import Scalar
from ..algebra.spatial import ZERO, Force, Motion, Placement, Vector
from ..model.tree import WORLD, Tree

Columns = tuple[tuple[tuple[int, float], ...], ...]
"""For each entry of a result the entries of the input that it is the weighted sum of."""


@dataclass(frozen=True)
class Representation:
    """`point`: "origin", "com" or "world"; `linear`, `angular`: axes of the two parts, "body" or "world"."""

    point: str = "origin"
    linear: str = "world"
    angular: str = "world"
    angular_first: bool = False

    @property
    def follows(self) -> bool:
        """The linear part is the velocity of a moving point in axes at rest; its rate is that point's acceleration."""
        return self.point != "world" and self.linear == "world"


REPRESENTATIONS = {
    "local": Representation(linear="body", angular="body"),
    "local_world_aligned": Representation(),
    "world": Representation("world"),
    "mujoco": Representation(angular="body"),
    "newton": Representation("com"),
    "drake": Representation(angular_first=True),
}


def _turned(X: Placement, u: Vector, axes: str, wanted: str) -> Vector:
    if axes == wanted:
        return u
    return X.R.to_parent(u) if wanted == "world" else X.R.to_child(u)


def _arm(X: Placement, com: Vector, source: Representation, target: Representation) -> Vector:
    """From the source's point to the target's, in the world's axes."""

    def from_origin(point: str) -> Vector:
        if point == "com":
            return X.R.to_parent(com)
        return -X.p if point == "world" else ZERO

    return from_origin(target.point) - from_origin(source.point)


def twist(
    X: Placement, com: Vector, m: Motion, source: Representation, target: Representation
) -> Motion:
    """The twist of a body placed by X in the world: v' = v + ω × r, r from point to point."""
    linear = _turned(X, m.linear, source.linear, "world")
    if source.point != target.point:
        spin = _turned(X, m.angular, source.angular, "world")
        linear = linear + spin.cross(_arm(X, com, source, target))
    return Motion(
        _turned(X, linear, "world", target.linear),
        _turned(X, m.angular, source.angular, target.angular),
    )


def wrench(
    X: Placement, com: Vector, f: Force, source: Representation, target: Representation
) -> Force:
    """The wrench of the same power: n' = n - r × f, r from point to point."""
    force = _turned(X, f.linear, source.linear, "world")
    couple, axes = f.angular, source.angular
    if source.point != target.point:
        couple = _turned(X, couple, axes, "world") - _arm(X, com, source, target).cross(force)
        axes = "world"
    return Force(
        _turned(X, force, "world", target.linear), _turned(X, couple, axes, target.angular)
    )


def twist_rate(
    X: Placement, com: Vector, v: Motion, a: Motion, source: Representation, target: Representation
) -> Motion:
    """The rate of the target's components, from the source's components `v` and their rate `a`.

    A spatial acceleration moves as a twist does (RBDA 2.11); the acceleration of a point differs from it by ω × v.
    """
    if source.point == target.point and source.follows == target.follows:
        return twist(X, com, a, source, target)
    if source.follows:
        a = Motion(
            a.linear - _turned(X, v.angular, source.angular, "world").cross(v.linear), a.angular
        )
    a = twist(X, com, a, source, target)
    if target.follows:
        v = twist(X, com, v, source, target)
        a = Motion(
            a.linear + _turned(X, v.angular, target.angular, "world").cross(v.linear), a.angular
        )
    return a


# Whole generalized vectors.


def _parts(values: Sequence[Scalar], representation: Representation) -> tuple[Vector, Vector]:
    first, second = Vector(*values[:3]), Vector(*values[3:6])
    return (second, first) if representation.angular_first else (first, second)


def _entries(m: Motion | Force, representation: Representation) -> list[Scalar]:
    return [*m.angular, *m.linear] if representation.angular_first else [*m.linear, *m.angular]


def _base(tree: Tree, q: Sequence[Scalar], root: str) -> Placement | None:
    """The world placement of a floating base; None where the root is fixed."""
    body = tree.frames[root].body
    return None if body == WORLD else tree.bodies[body].placement(q).as_matrix()


def _joints(values: Sequence[Scalar], columns: Columns | None, first: int) -> list[Scalar]:
    if columns is None:
        return list(values[first:])
    return [sum((values[k] * weight for k, weight in terms), 0.0) for terms in columns]


def convert_velocity(
    tree: Tree,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    root: str,
    source: str,
    target: str,
    com: Sequence[Scalar],
    columns: Columns | None,
) -> list[Scalar]:
    """v with the base's twist in another representation, and its joints' columns in another order."""
    X = _base(tree, q, root)
    if X is None:
        return _joints(v, columns, 0)
    A, B = REPRESENTATIONS[source], REPRESENTATIONS[target]
    base = twist(X, Vector(*com), Motion(*_parts(v, A)), A, B)
    return _entries(base, B) + _joints(v, columns, 6)


def convert_acceleration(
    tree: Tree,
    q: Sequence[Scalar],
    v: Sequence[Scalar],
    a: Sequence[Scalar],
    root: str,
    source: str,
    target: str,
    com: Sequence[Scalar],
    columns: Columns | None,
) -> list[Scalar]:
    """The rate of what `convert_velocity` gives."""
    X = _base(tree, q, root)
    if X is None:
        return _joints(a, columns, 0)
    A, B = REPRESENTATIONS[source], REPRESENTATIONS[target]
    base = twist_rate(X, Vector(*com), Motion(*_parts(v, A)), Motion(*_parts(a, A)), A, B)
    return _entries(base, B) + _joints(a, columns, 6)


def convert_force(
    tree: Tree,
    q: Sequence[Scalar],
    tau: Sequence[Scalar],
    root: str,
    source: str,
    target: str,
    com: Sequence[Scalar],
    columns: Columns | None,
) -> list[Scalar]:
    """tau of the same power, the base's wrench in another representation."""
    X = _base(tree, q, root)
    if X is None:
        return _joints(tau, columns, 0)
    A, B = REPRESENTATIONS[source], REPRESENTATIONS[target]
    base = wrench(X, Vector(*com), Force(*_parts(tau, A)), A, B)
    return _entries(base, B) + _joints(tau, columns, 6)


# Six-vectors of any frame, by its pose [x y z qx qy qz qw].


def _placed(pose: Sequence[Scalar]) -> Placement:
    return Placement(quaternion_rotation(pose[3:7]), Vector(*pose[:3]))


def convert_twist(
    tree: Tree, pose: Sequence[Scalar], twist_given: Sequence[Scalar], source: str, target: str
) -> list[Scalar]:
    A, B = REPRESENTATIONS[source], REPRESENTATIONS[target]
    return _entries(twist(_placed(pose), ZERO, Motion(*_parts(twist_given, A)), A, B), B)


def convert_wrench(
    tree: Tree, pose: Sequence[Scalar], wrench_given: Sequence[Scalar], source: str, target: str
) -> list[Scalar]:
    A, B = REPRESENTATIONS[source], REPRESENTATIONS[target]
    return _entries(wrench(_placed(pose), ZERO, Force(*_parts(wrench_given, A)), A, B), B)


def _units() -> list[tuple[Vector, Vector]]:
    rows = [[float(i == k) for i in range(6)] for k in range(6)]
    return [(Vector(*row[:3]), Vector(*row[3:])) for row in rows]


def motion_transform(tree: Tree, pose: Sequence[Scalar]) -> list[list[Scalar]]:
    """X, 6 by 6: twists in the posed frame to twists in the frame that the pose stands in (RBDA 2.24, 2.26)."""
    X = _placed(pose)
    return transposed([list(X.motion_to_parent(Motion(*unit))) for unit in _units()])


def force_transform(tree: Tree, pose: Sequence[Scalar]) -> list[list[Scalar]]:
    """X*, 6 by 6: the same of wrenches, the inverse transpose of X (RBDA 2.25, 2.27)."""
    X = _placed(pose)
    return transposed([list(X.force_to_parent(Force(*unit))) for unit in _units()])
