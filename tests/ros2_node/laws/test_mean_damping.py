"""Damping with the same ratio in every mode of an inertia and a stiffness."""

from __future__ import annotations

import numpy as np
import pytest
from fleets import MODEL

import warpdyn as wd
from ros2_node.laws.mean_damping import damping_by_ratio, geometric_mean


@wd.kernel
def mean(robot, A: (6, 6), B: (6, 6)):
    return geometric_mean(A, B)


@wd.kernel
def by_ratio(robot, A: (6, 6), B: (6, 6), ratio: ()):
    return damping_by_ratio(A, B, ratio)


def definite(rng, spread, count=20):
    """Symmetric matrices whose eigenvalues spread over that many powers of ten."""
    turns = np.linalg.qr(rng.normal(size=(count, 6, 6)))[0]
    values = 10.0 ** rng.uniform(-spread / 2, spread / 2, (count, 6))
    return np.einsum("bij,bj,bkj->bik", turns, values, turns)


@pytest.mark.parametrize("spread", [0.1, 2.0, 4.0])
def test_every_mode_has_the_damping_ratio(spread):
    """Xᵀ D X = 2 ratio w for X with Xᵀ M X = 1 and Xᵀ K X = w²."""
    rng = np.random.default_rng(0)
    M, K = definite(rng, spread), 300.0 * definite(rng, spread)
    D = by_ratio(MODEL, M, K, np.full(len(M), 0.6))
    for m, k, d in zip(M, K, D, strict=True):
        root = np.linalg.inv(np.linalg.cholesky(m))
        squares, turn = np.linalg.eigh(root @ k @ root.T)
        X = root.T @ turn
        wanted = np.diag(2 * 0.6 * np.sqrt(squares))
        np.testing.assert_allclose(X.T @ d @ X, wanted, atol=1e-6 * wanted.max())
        assert np.linalg.eigvalsh(d)[0] > 0.0


def test_the_geometric_mean_is_symmetric_and_covariant():
    """A # B = B # A; C (A # B) Cᵀ = (C A Cᵀ) # (C B Cᵀ); (A # B) A⁻¹ (A # B) = B."""
    rng = np.random.default_rng(1)
    A, B, C = definite(rng, 2.0), definite(rng, 2.0), rng.normal(size=(20, 6, 6))
    G = mean(MODEL, A, B)
    np.testing.assert_allclose(G @ np.linalg.solve(A, G), B, atol=1e-8 * np.abs(B).max())
    np.testing.assert_allclose(mean(MODEL, B, A), G, atol=1e-9 * np.abs(G).max())
    turned = mean(MODEL, C @ A @ C.transpose(0, 2, 1), C @ B @ C.transpose(0, 2, 1))
    np.testing.assert_allclose(
        turned, C @ G @ C.transpose(0, 2, 1), atol=1e-5 * np.abs(turned).max()
    )


def test_directions_without_stiffness_are_not_damped():
    """The stiffness is zero in some directions, or in all. The units differ by many powers of
    ten."""
    inertia = np.diag([4.0, 1.0, 1e-4, 1.0, 2.0, 3.0])[None]
    for K in ([900.0, 0.0, 1e4, 0.0, 1e-3, 4.0], [0.0] * 6):
        D = by_ratio(MODEL, inertia, np.diag(K)[None], np.ones(1))[0]
        wanted = 2.0 * np.sqrt(np.diag(inertia[0]) * K)
        np.testing.assert_allclose(D, np.diag(wanted), atol=2e-3 * max(wanted.max(), 1e-9))
