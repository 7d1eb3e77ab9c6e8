"""Joint forces that arise because the armature of a free joint acts along the world's axes while
its body's axes turn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..algebra.scalar import Scalar, is_number
from ..algebra.spatial import Vector
from ..model.tree import Body, Tree


def free_rotors(tree: Tree, v: Sequence[Scalar]) -> Iterator[tuple[int, Scalar]]:
    """Index in v and joint force of each linear coordinate of a free joint with armature, armature
    ω × u: a part of C v.

    Armature adds to the mass matrix in MuJoCo's coordinates, whose linear velocity R u is in the
    world's axes: the force R armature u̇ there is armature (u̇ + ω × u) in the body's.
    """
    for body, armature, u, w in _rotors(tree, v):
        yield from zip(body.v_index, w.cross(u) * armature, strict=False)


def free_rotor_matrix(tree: Tree, v: Sequence[Scalar]) -> Iterator[tuple[int, int, Scalar]]:
    """Entries of C for these forces, by row and column: armature [ω]×, skew."""
    for body, armature, _, w in _rotors(tree, v):
        yield from _cross_matrix_entries(body.v_index[:3], body.v_index[:3], w * armature)


def free_rotor_derivatives(tree: Tree, v: Sequence[Scalar]) -> Iterator[tuple[int, int, Scalar]]:
    """Derivatives of these forces by v, by row and column."""
    yield from free_rotor_matrix(tree, v)
    for body, armature, u, _ in _rotors(tree, v):
        yield from _cross_matrix_entries(body.v_index[:3], body.v_index[3:], u * -armature)


def _rotors(tree: Tree, v: Sequence[Scalar]) -> Iterator[tuple[Body, Scalar, Vector, Vector]]:
    for body in tree.bodies:
        armature = body.free_rotor
        if not (is_number(armature) and armature == 0.0):
            x = [v[k] for k in body.v_index]
            yield body, armature, Vector(*x[:3]), Vector(*x[3:])


def _cross_matrix_entries(
    rows: Sequence[int], columns: Sequence[int], a: Vector
) -> Iterator[tuple[int, int, Scalar]]:
    """Entries of the matrix of a × · ."""
    for i, j, x in (
        (0, 1, -a.z),
        (0, 2, a.y),
        (1, 0, a.z),
        (1, 2, -a.x),
        (2, 0, -a.y),
        (2, 1, a.x),
    ):
        yield rows[i], columns[j], x
