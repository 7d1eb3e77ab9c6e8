"""Small symmetric systems."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from programs import evaluate

from warpdyn.algebra.linear import (
    SMALL_LEAST,
    SMALL_SHARE,
    Factors,
    add,
    dot,
    factorise,
    factorise_redundant,
    inverse_symmetric,
    solve_redundant,
    solve_symmetric,
    transpose,
)
from warpdyn.recording.program import record

ROUND_OFF = 1e-12
"""Relative; systems of condition below 1e3."""


def system(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    draw = np.random.default_rng(seed)
    A = draw.normal(size=(n, n))
    return A @ A.T + n * np.eye(n), draw.normal(size=n)


@given(st.integers(0, 8), st.integers(0, 1000))
def test_solve_symmetric_solves_the_system(n: int, seed: int) -> None:
    """H x = b, and neither H nor b is changed."""
    H, b = system(n, seed)
    rows, right = H.tolist(), b.tolist()
    x = solve_symmetric(rows, right)
    assert np.allclose(H @ np.array(x), b, rtol=0, atol=ROUND_OFF * max(1, n) * 10)
    assert rows == H.tolist() and right == b.tolist()


def test_only_the_lower_triangle_is_read() -> None:
    """The diagonal belongs to the triangle."""
    H, b = system(5, 1)
    wanted = solve_symmetric(H.tolist(), b.tolist())
    assert solve_symmetric(np.tril(H).tolist(), b.tolist()) == wanted


def test_zeros_between_branches_need_no_operations() -> None:
    """Two branches on one root: the entries between them stay zero and are not computed."""

    def text(d: list, side: list, b: list) -> list:
        return solve_symmetric(
            [[d[0], side[0], side[1]], [side[0], d[1], 0.0], [side[1], 0.0, d[2]]], b
        )

    program = record(text, {"d": (3,), "side": (2,), "b": (3,)})
    dense = record(lambda H, b: solve_symmetric(H, b), {"H": (3, 3), "b": (3,)})
    assert program.operations < 0.75 * dense.operations
    found = evaluate(program, {"d": [5.0, 3.0, 2.0], "side": [1.0, 0.5], "b": [1.0, 2.0, 3.0]})
    H = np.array([[5.0, 1.0, 0.5], [1.0, 3.0, 0.0], [0.5, 0.0, 2.0]])
    assert found == pytest.approx(np.linalg.solve(H, [1.0, 2.0, 3.0]), rel=ROUND_OFF)


@given(st.integers(0, 8), st.integers(0, 1000))
def test_the_inverse_is_symmetric_and_inverts(n: int, seed: int) -> None:
    """H H^-1 = 1, from one triangle of H. Both triangles of the result have the same numbers."""
    H, _ = system(n, seed)
    inverse = np.reshape(inverse_symmetric(np.tril(H).tolist()), (n, n))
    assert np.allclose(H @ inverse, np.eye(n), rtol=0, atol=ROUND_OFF * max(1, n))
    assert np.array_equal(inverse, inverse.T)


def test_the_factors_multiply_to_the_matrix() -> None:
    """H = L^T D L."""
    H, b = system(5, 2)
    factors = factorise(H.tolist())
    L = np.tril(np.array(factors.L), -1) + np.eye(5)
    assert np.allclose(L.T @ np.diag(1 / np.array(factors.reciprocal)) @ L, H, rtol=ROUND_OFF)
    assert np.allclose(L @ factors.solve(b.tolist()), b) and np.allclose(
        L.T @ factors.solve_transposed(b.tolist()), b
    )


def test_the_inverse_of_a_branched_matrix_costs_less() -> None:
    """The matrix of a trunk with two branches is compared with a full one."""

    def text(d: list, side: list) -> list:
        return inverse_symmetric(
            [[d[0], side[0], side[1]], [side[0], d[1], 0.0], [side[1], 0.0, d[2]]]
        )

    program = record(text, {"d": (3,), "side": (2,)})
    assert program.operations < 0.75 * record(inverse_symmetric, {"H": (3, 3)}).operations


def whole(factors: Factors) -> np.ndarray:
    """The matrix Lᵀ D L of these factors."""
    L = np.tril(np.array(factors.L, float), -1) + np.eye(len(factors.L))
    return L.T @ np.diag(1.0 / np.array(factors.reciprocal)) @ L


@pytest.mark.parametrize("redundant", [(), (1, 2), (0,), (3,), (0, 1, 2, 3), (0, 2, 3), (0, 1, 3)])
def test_diagonals_of_redundant_rows_are_shifted(redundant: tuple[int, ...]) -> None:
    """The shift is a millionth of the diagonal. A run is shifted after the rows behind it are eliminated."""
    H, _ = system(4, 2)
    S, more = H.copy(), np.zeros((4, 4))
    for k in reversed(range(4)):
        if k in redundant and k + 1 not in redundant:
            run = [i for i in range(k + 1) if {*range(i, k + 1)} <= {*redundant}]
            more[run, run] = 1e-6 * S[run, run]
            S[run, run] *= 1.0 + 1e-6
        S[:k, :k] -= np.outer(S[k, :k], S[k, :k]) / S[k, k]
    np.testing.assert_allclose(
        whole(factorise(H.tolist(), redundant)) - H, more, rtol=1e-6, atol=1e-14
    )


def test_a_singular_matrix_is_shifted_by_a_relative_and_an_absolute_number() -> None:
    G = np.array([[1.0, 1.0], [1.0, 1.0]])
    shifted = (1.0 + 1e-9) * (1.0 + 1e-6)
    wanted = [[shifted, 1.0], [1.0, shifted]]
    np.testing.assert_allclose(whole(factorise_redundant(G.tolist())), wanted, rtol=1e-12)
    np.testing.assert_allclose(
        whole(factorise_redundant([[0.0]])), [[1e-9 * (1.0 + 1e-6)]], rtol=1e-12
    )


def test_shifts_are_smaller_in_double_precision() -> None:
    """Both shifts have the same size here."""
    shifted = whole(factorise_redundant([[1e-3]], SMALL_SHARE, SMALL_LEAST))
    np.testing.assert_allclose(shifted - 1e-3, [[1e-13 + 1e-13]], rtol=1e-5)


def test_each_iteration_reduces_the_error_by_the_relative_shift() -> None:
    """The system is singular, and the precision is double."""
    G, b = [[2.0, 2.0], [2.0, 2.0]], [1.0, 1.0]
    errors = [abs(1.0 - 2.0 * sum(solve_redundant(G, b, turns))) for turns in (1, 2, 3)]
    assert 1e-11 < errors[0] < 1e-9 and errors[1] < 1e-15 and errors[2] < 1e-15
    assert solve_redundant(G, b, 1) == factorise_redundant(
        G, SMALL_SHARE, SMALL_LEAST
    ).inverse_times(b)


def test_dot_add_and_transpose_equal_their_definitions() -> None:
    assert dot([1.0, 2.0], [3.0, 5.0]) == 13.0 and dot([], []) == 0.0
    assert add([1.0, 2.0], [3.0, 5.0]) == [4.0, 7.0]
    assert transpose([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]) == [[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]
    factors = factorise(system(3, 1)[0].tolist())
    assert list(factors.rows_of_coordinates) == [0, 1, 2] and factors.signs == [1.0] * 3
    assert [factors.softness(k) for k in range(3)] == [0.0] * 3
