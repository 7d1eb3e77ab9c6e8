"""Small symmetric systems."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from programs import evaluate

from warpdyn.algebra.linear import factorise, inverse_symmetric, solve_symmetric
from warpdyn.recording.program import record

ROUND_OFF = 1e-12
"""Relative; systems of condition below 1e3."""


def system(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    draw = np.random.default_rng(seed)
    A = draw.normal(size=(n, n))
    return A @ A.T + n * np.eye(n), draw.normal(size=n)


@given(st.integers(0, 8), st.integers(0, 1000))
def test_the_solution_solves_the_system(n: int, seed: int) -> None:
    """H x = b, and neither H nor b is changed."""
    H, b = system(n, seed)
    rows, right = H.tolist(), b.tolist()
    x = solve_symmetric(rows, right)
    assert np.allclose(H @ np.array(x), b, rtol=0, atol=ROUND_OFF * max(1, n) * 10)
    assert rows == H.tolist() and right == b.tolist()


def test_only_one_triangle_is_read() -> None:
    """The lower triangle and the diagonal say all."""
    H, b = system(5, 1)
    wanted = solve_symmetric(H.tolist(), b.tolist())
    assert solve_symmetric(np.tril(H).tolist(), b.tolist()) == wanted


def test_zeros_between_branches_cost_nothing() -> None:
    """Two branches on one root: the entries between them are zero, stay zero and are not computed."""

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
    """H H^-1 = 1, from one triangle of H; both triangles of the result are the same numbers."""
    H, _ = system(n, seed)
    inverse = np.reshape(inverse_symmetric(np.tril(H).tolist()), (n, n))
    assert np.allclose(H @ inverse, np.eye(n), rtol=0, atol=ROUND_OFF * max(1, n))
    assert np.array_equal(inverse, inverse.T)


def test_the_factors_are_those_of_the_matrix() -> None:
    """H = L^T D L."""
    H, b = system(5, 2)
    factors = factorise(H.tolist())
    L = np.tril(np.array(factors.L), -1) + np.eye(5)
    assert np.allclose(L.T @ np.diag(1 / np.array(factors.reciprocal)) @ L, H, rtol=ROUND_OFF)
    assert np.allclose(L @ factors.solve(b.tolist()), b) and np.allclose(
        L.T @ factors.solve_transposed(b.tolist()), b
    )


def test_branches_share_what_their_ancestors_do() -> None:
    """The inverse of a trunk with two branches costs less than that of a full matrix."""

    def text(d: list, side: list) -> list:
        return inverse_symmetric(
            [[d[0], side[0], side[1]], [side[0], d[1], 0.0], [side[1], 0.0, d[2]]]
        )

    program = record(text, {"d": (3,), "side": (2,)})
    assert program.operations < 0.75 * record(inverse_symmetric, {"H": (3, 3)}).operations
