"""Rotations of every kind: inverses, lengths, and products with matrices."""

from __future__ import annotations

import numpy as np
from algebra_draws import close, placement, rows, vector

from warpdyn.algebra.rotations import IDENTITY, Matrix, Symmetric, Vector, as_matrix, axes_about


def test_to_child_inverts_to_parent(draw) -> None:
    """Both keep lengths. Each kind of rotation equals its matrix."""
    R, u = placement(draw).R, vector(draw)
    close(list(R.to_child(R.to_parent(u))), list(u))
    close(R.to_parent(u).dot(R.to_parent(u)), u.dot(u))
    close(list(as_matrix(R).to_parent(u)), list(R.to_parent(u)))
    close(np.linalg.det(rows(as_matrix(R).matrix.rows)), 1.0)


def test_axes_along_any_direction_are_a_rotation(draw) -> None:
    """Its third column is the direction, also along and against the coordinate axes."""
    tilted = draw.normal(size=3)
    for u in (tilted / np.linalg.norm(tilted), *np.eye(3), *-np.eye(3)):
        R = rows(axes_about(Vector(*u.tolist())).matrix.rows)
        close(R[:, 2], u)
        close(R @ R.T, np.eye(3))
        close(np.linalg.det(R), 1.0)


def test_matrices_are_rotated_from_both_sides(draw) -> None:
    """matrix_to_parent and symmetric_to_parent are R H R^T."""
    R = placement(draw).R
    r, H = rows(as_matrix(R).matrix.rows), draw.uniform(-2, 2, (3, 3))
    turned = R.matrix_to_parent(Matrix(tuple(Vector(*row) for row in H.tolist())))
    close(rows(turned.rows), r @ H @ r.T)
    S = H + H.T
    symmetric = Symmetric(S[0, 0], S[0, 1], S[0, 2], S[1, 1], S[1, 2], S[2, 2])
    close(rows(R.symmetric_to_parent(symmetric).rows), r @ S @ r.T)


def test_dot_and_cross_products_obey_their_identities(draw) -> None:
    """u x w is orthogonal to both and equals [u]x w, u.w is symmetric, and double products obey
    Lagrange's identity.
    """
    u, v, w = vector(draw), vector(draw), vector(draw)
    close([u.dot(u.cross(w)), w.dot(u.cross(w))], [0, 0])
    close(list(Matrix.cross(u) @ w), list(u.cross(w)))
    close(list(u.cross(v.cross(w))), list(v * u.dot(w) - w * u.dot(v)))


def test_sums_and_transposes_of_matrices_equal_numpys(draw) -> None:
    """Differences too."""
    a, b = draw.uniform(-2, 2, (2, 3, 3))
    A, B = (Matrix(tuple(Vector(*row) for row in M.tolist())) for M in (a, b))
    close(rows((A + B).rows), a + b)
    close(rows((A - B).rows), a - b)
    close(rows(A.T.rows), a.T)


def test_the_acceleration_tensor_is_that_of_a_rotating_body(draw) -> None:
    """W x = dw x x + w x (w x x)."""
    w, dw, x = vector(draw), vector(draw), vector(draw)
    W = Matrix.acceleration_tensor(w, dw)
    close(list(W @ x), list(dw.cross(x) + w.cross(w.cross(x))))


def test_symmetric_matrices_equal_their_full_matrices(draw) -> None:
    """They are read from the upper triangle. Products obey Euler's equation."""
    S = draw.uniform(-2, 2, (3, 3))
    S = S + S.T
    J, w, dw = Symmetric.from_rows(S.tolist()), vector(draw), vector(draw)
    close(rows(J.rows), S)
    close(list(J @ w), S @ list(w))
    close(list(J.rate_of_momentum(w, dw)), list(J @ dw + w.cross(J @ w)))
    wrong_below = np.triu(S).tolist()
    assert Symmetric.from_rows(wrong_below) == J
    outer = np.outer(list(w), list(dw))
    close(rows(Symmetric.product(w, dw).rows), outer + outer.T)
    close(rows(Symmetric.diagonal(3.0).rows), 3.0 * np.eye(3))


def test_the_identity_changes_nothing(draw) -> None:
    """All bits are the same."""
    u = vector(draw)
    assert list(IDENTITY.to_parent(u)) == list(u) == list(IDENTITY.to_child(u))
    assert as_matrix(IDENTITY) is IDENTITY


def test_a_vector_shows_its_numbers() -> None:
    assert repr(Vector(1.0, -2.5, 0.0)) == "Vector(1.0, -2.5, 0.0)"
