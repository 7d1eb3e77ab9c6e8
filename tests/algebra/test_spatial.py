"""Spatial algebra: group laws of placements, duality of motions and forces, inertias as matrices."""

from __future__ import annotations

import numpy as np
from algebra_draws import close, force, inertia, matrix, motion, placement, six, vector

from warpdyn.algebra.spatial import (
    IDENTITY,
    ZERO,
    ArticulatedInertia,
    Force,
    Motion,
    Placement,
    Vector,
)


def test_placements_form_a_group(draw) -> None:
    """compose is the matrix product and associative, and the inverse inverts."""
    X, Y, Z = placement(draw), placement(draw), placement(draw)
    close(matrix(X.compose(Y)), matrix(X) @ matrix(Y))
    close(matrix(X.compose(Y).compose(Z)), matrix(X.compose(Y.compose(Z))))
    close(matrix(X.compose(X.inverse())), np.eye(4))
    u = vector(draw)
    close([*X.point_to_parent(u), 1.0], matrix(X) @ [*u, 1.0])


def test_to_child_inverts_to_parent_for_motions_and_forces(draw) -> None:
    """A composed placement transforms as its parts one after the other."""
    X, Y, m, f = placement(draw), placement(draw), motion(draw), force(draw)
    close(list(X.motion_to_child(X.motion_to_parent(m))), list(m))
    close(list(X.force_to_child(X.force_to_parent(f))), list(f))
    close(list(X.compose(Y).motion_to_parent(m)), list(X.motion_to_parent(Y.motion_to_parent(m))))
    close(list(X.compose(Y).force_to_parent(f)), list(X.force_to_parent(Y.force_to_parent(f))))


def test_power_does_not_depend_on_the_frame(draw) -> None:
    """m . f is the same in parent and child.

    Forces transform by the transposed inverse of motions.
    """
    X, m, f = placement(draw), motion(draw), force(draw)
    close(X.motion_to_parent(m).dot(X.force_to_parent(f)), m.dot(f))
    close(six(X.force_to_parent, Force), np.linalg.inv(six(X.motion_to_parent, Motion)).T)


def test_cross_products_obey_their_identities(draw) -> None:
    """v x v = 0, antisymmetry, Jacobi's identity, and v x* is minus the transpose of v x."""
    u, v, w, f = motion(draw), motion(draw), motion(draw), force(draw)
    close(list(v.cross(v)), np.zeros(6))
    close(list(u.cross(v)), -np.array(list(v.cross(u))))
    jacobi = [np.array(list(a.cross(b.cross(c)))) for a, b, c in ((u, v, w), (v, w, u), (w, u, v))]
    close(sum(jacobi), np.zeros(6))
    close(u.cross(v).dot(f), -v.dot(u.cross_force(f)))


def test_transforms_commute_with_cross_products(draw) -> None:
    """X (v x m) = (X v) x (X m)."""
    X, v, m, f = placement(draw), motion(draw), motion(draw), force(draw)
    close(
        list(X.motion_to_child(v.cross(m))), list(X.motion_to_child(v).cross(X.motion_to_child(m)))
    )
    close(
        list(X.force_to_child(v.cross_force(f))),
        list(X.motion_to_child(v).cross_force(X.force_to_child(f))),
    )


def test_inertias_are_symmetric_and_give_the_kinetic_energy(draw) -> None:
    """m . I m = mass |v_com|^2 + w J_com w, and the 6x6 matrix is symmetric."""
    body, m = inertia(draw), motion(draw)
    I6 = six(lambda x: body @ x, Motion)
    close(I6, I6.T)
    com = body.h * (1 / body.mass)
    at_com = m.linear + m.angular.cross(com)
    J = np.array([list(row) for row in body.J.rows])
    c = np.array(list(com))
    J_com = J - body.mass * (c @ c * np.eye(3) - np.outer(c, c))
    w = np.array(list(m.angular))
    close(m.dot(body @ m), body.mass * at_com.dot(at_com) + w @ J_com @ w)


def test_inertias_transform_as_their_matrices(draw) -> None:
    """inertia_to_parent is X* I X^-1, for rigid and articulated inertias, and sums are sums of
    matrices.
    """
    X, one, other = placement(draw), inertia(draw), inertia(draw)
    F, M = six(X.force_to_parent, Force), six(X.motion_to_child, Motion)
    wanted = F @ six(lambda x: one @ x, Motion) @ M
    moved, articulated = X.inertia_to_parent(one), ArticulatedInertia.of(one)
    close(six(lambda x: moved @ x, Motion), wanted)
    close(six(lambda x: articulated @ x, Motion), six(lambda x: one @ x, Motion))
    far = X.articulated_to_parent(articulated)
    close(six(lambda x: far @ x, Motion), wanted)
    close(
        six(lambda x: (one + other) @ x, Motion),
        six(lambda x: one @ x, Motion) + six(lambda x: other @ x, Motion),
    )


def test_minus_outer_subtracts_an_outer_product(draw) -> None:
    """u w^T. The remaining inertia transforms as its matrix."""
    X, body, u = placement(draw), ArticulatedInertia.of(inertia(draw)), force(draw)
    less = body.minus_outer(u, u * 0.3)
    full = six(lambda x: body @ x, Motion) - 0.3 * np.outer(list(u), list(u))
    close(six(lambda x: less @ x, Motion), full)
    moved = X.articulated_to_parent(less)
    close(
        six(lambda x: moved @ x, Motion),
        six(X.force_to_parent, Force) @ full @ six(X.motion_to_child, Motion),
    )


def test_the_identity_placement_changes_nothing() -> None:
    """Motions in both directions are the same."""
    here = Placement(IDENTITY, ZERO)
    m = Motion(Vector(1.0, 2.0, 3.0), Vector(4.0, 5.0, 6.0))
    assert list(here.motion_to_child(m)) == list(m) and list(here.motion_to_parent(m)) == list(m)


def test_motions_are_added_subtracted_and_negated(draw) -> None:
    """The operations act on the linear and the angular part."""
    a, b = motion(draw), motion(draw)
    close([*-a], -np.array([*a]))
    close([*(a + b)], np.add([*a], [*b]))
    close([*(a - b)], np.subtract([*a], [*b]))


def test_an_inertia_without_an_entry_has_zeros_in_its_row_and_column(draw) -> None:
    """All other entries are unchanged."""
    whole = ArticulatedInertia.of(inertia(draw))
    for k in range(6):
        expected = six(whole.__matmul__, Motion)
        expected[k, :] = expected[:, k] = 0.0
        close(six(whole.without(k).__matmul__, Motion), expected)
