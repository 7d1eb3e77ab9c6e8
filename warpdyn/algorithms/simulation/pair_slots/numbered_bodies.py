"""The free bodies that pairs move, read by number: the bodies of a slot differ between
environments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ....algebra.linear import Factors
from ....algebra.rotations import Rotation, as_matrix
from ....algebra.rows_by_number import RowsByNumber
from ....algebra.scalar import Scalar
from ....algebra.spatial import ZERO_MOTION, Motion, Placement, Vector
from ....model.tree import Tree

SIX = 6
"""Coordinates of a free body."""


def placement_of(row: Sequence[Scalar]) -> Placement:
    """The placement with the entries of R, row by row, then those of p, at the beginning of a
    row."""
    return Placement(Rotation([Vector(*row[k : k + 3]) for k in (0, 3, 6)]), Vector(*row[9:12]))


def entries_of(placement: Placement) -> list[Scalar]:
    """The entries of R, row by row, then those of p."""
    rows = as_matrix(placement.R).matrix.rows
    return [x for row in rows for x in row] + [*placement.p]


def twist_about_origin(
    tree: Tree, X: dict[int, Placement], body: int, v: Sequence[Scalar]
) -> Motion:
    """The twist of a body about the world's origin, in the world's axes, from the placements of
    bodies in the world."""
    motion = ZERO_MOTION
    for i in tree.path(body):
        motion = motion + X[i].motion_to_parent(tree.bodies[i].motion(v))
    return motion


@dataclass(frozen=True)
class FreeBodyAt:
    """A free body: its placement in the world, the factors of its mass matrix, and its velocities
    after the step without constraints and before the step."""

    X: Placement
    mass: Factors
    free: list[Scalar]
    before: list[Scalar]

    def rows(self, at: Vector, axes: Rotation, moments: int = 0) -> list[list[Scalar]]:
        """Rows of the velocity of its point at a place of the world, along each of the axes n:
        n·v + (r × n)·ω, in the body's axes; then those of its angular velocity about the last axis
        or about all, for `moments` of 1 or 3."""
        r = self.X.R.to_child(at - self.X.p)
        normals = [self.X.R.to_child(axis) for axis in axes.matrix.T.rows]
        angular = [[0.0, 0.0, 0.0, *n] for n in normals[3 - moments :]]
        return [*([*n, *r.cross(n)] for n in normals), *angular]


@dataclass(frozen=True)
class FreeBodiesAt:
    """Free bodies at a configuration.

    `bodies`: their numbers in the tree. `rows`: the entries of a `FreeBodyAt`, one row for each.
    """

    bodies: tuple[int, ...]
    rows: RowsByNumber | None

    @classmethod
    def at(
        cls,
        tree: Tree,
        X: dict[int, Placement],
        mass: Factors,
        v: Sequence[Scalar],
        free: Sequence[Scalar],
        bodies: Sequence[int],
    ) -> FreeBodiesAt:
        """These bodies of a tree. `v`, `free`: velocities before the step, and after it without
        constraints."""
        rows = []
        for i in bodies:
            k = [mass.rows_of_coordinates[n] for n in tree.bodies[i].v_index]
            below = [mass.L[k[a]][k[b]] for a in range(SIX) for b in range(a)]
            reciprocal = [mass.reciprocal[a] for a in k]
            velocities = [x[n] for x in (free, v) for n in tree.bodies[i].v_index]
            rows.append([*entries_of(X[i]), *reciprocal, *below, *velocities])
        return cls(tuple(bodies), RowsByNumber(rows) if rows else None)

    def read_inside(self) -> FreeBodiesAt:
        """The same bodies, read from memory in loops even if there is only one (`RowsByNumber`)."""
        if self.rows is None or len(self.bodies) > 1:
            return self
        return replace(self, rows=RowsByNumber(self.rows.rows, read_inside=self.rows.width))

    def __getitem__(self, number: Scalar) -> FreeBodyAt:
        """The body of a number."""
        assert self.rows is not None
        row = self.rows[number]
        below = iter(row[18:33])
        L = [[next(below) for _ in range(a)] + [1.0] for a in range(SIX)]
        return FreeBodyAt(placement_of(row), Factors(L, row[12:18]), row[33:39], row[39:45])
