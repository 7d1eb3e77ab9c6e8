"""Factors and products of small matrices, compared with NumPy's."""

from __future__ import annotations

import numpy as np
import pytest
from fleets import MODEL

import warpdyn as wd
from ros2_node.laws.matrix_factors import (
    congruent,
    dot,
    factorise,
    matrix,
    solve_upper,
    solve_upper_transposed,
    symmetric,
)


def definite(n=5, seed=0):
    A = np.random.default_rng(seed).normal(size=(n, n))
    return A @ A.T + 0.1 * np.eye(n)


def test_the_product_of_the_factors_is_the_matrix():
    M = definite()
    L, d = factorise(M)
    np.testing.assert_allclose(L @ np.diag(d) @ L.T, M, atol=1e-13)
    np.testing.assert_array_equal(np.tril(L, -1), 0.0)
    np.testing.assert_array_equal(np.diag(L), 1.0)
    assert (d > 0.0).all()


def test_small_entries_are_as_exact_as_large_ones():
    """If the units differ by many powers of ten, each diagonal entry still has the same relative
    error."""
    units = 10.0 ** np.array([6.0, 3.0, 0.0, -3.0, -6.0])
    _, d = factorise(definite() * np.outer(units, units))
    np.testing.assert_allclose(d, factorise(definite()).d * units**2, rtol=1e-12)


@pytest.mark.parametrize("shape", [(5,), (5, 3)])
def test_triangular_systems_are_solved(shape):
    L = factorise(definite()).L
    b = np.random.default_rng(1).normal(size=shape)
    np.testing.assert_allclose(L @ solve_upper(L, b), b, atol=1e-13)
    np.testing.assert_allclose(L.T @ solve_upper_transposed(L, b), b, atol=1e-13)


@pytest.mark.parametrize("n", [1, 2, 3, 6, 7, 13])
def test_dot_agrees_with_numpy(n):
    a, b = np.random.default_rng(n).integers(-9, 9, (2, n)).astype(float)
    assert dot(a, b) == a @ b


def test_symmetric_products_agree_with_numpy():
    K, R = definite(), np.random.default_rng(2).normal(size=(3, 5))
    np.testing.assert_allclose(congruent(R, K), R @ K @ R.T, atol=1e-12)
    S = symmetric(3, lambda i, j: 10.0 * i + j)
    np.testing.assert_array_equal(S, [[0.0, 1.0, 2.0], [1.0, 11.0, 12.0], [2.0, 12.0, 22.0]])
    np.testing.assert_array_equal(matrix([[1.0, 2.0], [3.0, 4.0]]), [[1.0, 2.0], [3.0, 4.0]])


@wd.kernel
def solve_by_factors(robot, A: (5, 5), b: (5,)):
    L, d = factorise(A)
    return solve_upper_transposed(L, solve_upper(L, b) / d)


def test_a_kernel_solves_with_the_factors():
    A, b = definite()[None], np.arange(5.0)[None]
    np.testing.assert_allclose(
        solve_by_factors(MODEL, A, b)[0], np.linalg.solve(A[0], b[0]), rtol=1e-9
    )
