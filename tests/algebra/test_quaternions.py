"""Quaternions and exponential maps: group laws, inverses, and both branches near zero."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from algebra_draws import close, rows, vector
from hypothesis import given
from hypothesis import strategies as st

from warpdyn.algebra import quaternions
from warpdyn.algebra.quaternions import (
    SMALL,
    normalize_vector,
    plane_exp,
    plane_log,
    quaternion_exp,
    quaternion_inverse,
    quaternion_log,
    quaternion_product,
    quaternion_rate,
    quaternion_rotation,
    rigid_exp,
    rigid_log,
    uniform_quaternion,
)
from warpdyn.algebra.spatial import Vector

ROUND_OFF = 1e-14
"""Absolute, on numbers of size one."""

FRACTIONS = st.floats(0, 1, exclude_max=True)


def quaternion(draw: np.random.Generator) -> list[float]:
    return normalize_vector(draw.normal(size=4).tolist())


def matrix(q: list[float]) -> np.ndarray:
    return rows(quaternion_rotation(q).matrix.rows)


def test_products_of_quaternions_are_products_of_matrices(draw) -> None:
    """The map to matrices is a homomorphism.

    The inverse is the transpose. q and -q are one rotation.
    """
    a, b = quaternion(draw), quaternion(draw)
    close(matrix(quaternion_product(a, b)), matrix(a) @ matrix(b))
    close(matrix(quaternion_inverse(a)), matrix(a).T)
    close(matrix([-x for x in a]), matrix(a))
    close(np.linalg.det(matrix(a)), 1.0)


def test_the_exponential_rotates_about_its_vector_by_its_length() -> None:
    """Products of quaternions are products of matrices. The order is x, y, z, w."""
    assert quaternion_exp([0.0, 0.0, math.pi / 2]) == pytest.approx(
        [0, 0, math.sqrt(0.5), math.sqrt(0.5)]
    )
    turned = quaternion_rotation(quaternion_exp([0.0, 0.0, math.pi / 2])).to_parent(
        Vector(1.0, 0.0, 0.0)
    )
    assert list(turned) == pytest.approx([0.0, 1.0, 0.0], abs=ROUND_OFF)
    a, b = quaternion_exp([0.3, -1.0, 0.4]), quaternion_exp([1e-10, 2e-10, 0.0])
    A, B, AB = (
        np.array([list(r) for r in quaternion_rotation(x).matrix.rows])
        for x in (a, b, quaternion_product(a, b))
    )
    assert np.max(np.abs(A @ B - AB)) <= ROUND_OFF
    assert math.fsum(x * x for x in quaternion_product(a, b)) == pytest.approx(1.0, abs=ROUND_OFF)
    assert quaternion_exp([0.0, 0.0, 0.0]) == [0.0, 0.0, 0.0, 1.0]


@pytest.mark.parametrize("size", [0.0, 1e-9, 1e-3, 0.9 * SMALL**0.5, 1.1 * SMALL**0.5, 1.0, 3.1])
def test_log_inverts_exp(draw, size: float) -> None:
    """This holds for rotations, rigid motions and the plane, on both sides of the switch to series."""
    u = np.array(list(vector(draw)))
    w = Vector(*(size * u / np.linalg.norm(u)).tolist())
    close(list(quaternion_log(quaternion_exp(list(w)))), list(w))
    v = vector(draw)
    p, turn = rigid_exp(v, w)
    linear, angular = rigid_log(p, turn)
    close([*linear, *angular], [*v, *w])
    close(plane_log(*plane_exp(v.x, v.y, size), size), (v.x, v.y))


def test_two_halves_of_a_rigid_motion_are_the_whole(draw) -> None:
    """exp(d/2) exp(d/2) = exp(d): a constant twist follows one screw."""
    v, w = vector(draw), vector(draw)
    p, turn = rigid_exp(v, w)
    half, half_turn = rigid_exp(v * 0.5, w * 0.5)
    close(list(half + quaternion_rotation(half_turn).to_parent(half)), list(p))
    close(quaternion_product(half_turn, half_turn), turn)


def test_a_planar_motion_is_a_rigid_motion_about_z(draw) -> None:
    """exp of SE(2) equals exp of SE(3)."""
    u, w, turn = draw.uniform(-2, 2, 3).tolist()
    p, _ = rigid_exp(Vector(u, w, 0.0), Vector(0.0, 0.0, turn))
    close([*plane_exp(u, w, turn), 0.0], list(p))


def test_the_rate_of_a_quaternion_is_that_of_a_rotating_frame(draw) -> None:
    """dQ/dt by central differences of Q exp(w t). With K a length above 1 shrinks."""
    q, w, h = quaternion(draw), vector(draw), 1e-6
    ahead, behind = (quaternion_product(q, quaternion_exp(list(w * s))) for s in (h, -h))
    difference = (np.array(ahead) - np.array(behind)) / (2 * h)
    assert np.abs(np.array(quaternion_rate(q, list(w))) - difference).max() <= 1e-8
    long = [1.1 * x for x in q]
    assert np.dot(long, quaternion_rate(long, list(w), baumgarte=1.0)) < 0


@given(FRACTIONS, FRACTIONS, FRACTIONS)
def test_random_quaternions_have_unit_length(a: float, b: float, c: float) -> None:
    """The three numbers may have any value."""
    assert math.hypot(*uniform_quaternion(a, b, c)) == pytest.approx(1.0, abs=ROUND_OFF)


def test_random_rotations_are_uniform() -> None:
    """Each entry of the rotation matrix averages to zero over a grid of the unit cube, and its
    square to a third.
    """
    steps = (np.arange(20) + 0.5) / 20
    drawn = [
        matrix(uniform_quaternion(a, b, c))
        for a in steps.tolist()
        for b in steps.tolist()
        for c in steps.tolist()
    ]
    assert np.abs(np.mean(drawn, axis=0)).max() <= 1e-12
    assert np.mean(np.square(drawn), axis=0) == pytest.approx(np.full((3, 3), 1 / 3), abs=2e-3)


def bernoulli(count: int) -> list[Fraction]:
    """B_0, B_2, B_4, ..."""
    found: list[Fraction] = []
    for m in range(2 * count - 1):
        terms = (math.comb(m + 1, k) * b for k, b in enumerate(found))
        found.append(Fraction(1) if m == 0 else -sum(terms, Fraction(0)) / (m + 1))
    return found[::2]


def test_series_have_taylors_coefficients() -> None:
    """Each coefficient, because the last ones are below the rounding of other tests."""
    signs, fact = [1, -1] * 3, math.factorial
    b = bernoulli(7)
    half_cotangent = [(-1) ** k * b[k] / fact(2 * k) for k in range(7)]
    series = {
        "HALF_SINE": [s / (2 ** (2 * k + 1) * fact(2 * k + 1)) for k, s in enumerate(signs)],
        "HALF_COSINE": [s / (4**k * fact(2 * k)) for k, s in enumerate(signs)],
        "SINE": [s / fact(2 * k + 1) for k, s in enumerate(signs)],
        "VERSINE": [s / fact(2 * k + 2) for k, s in enumerate(signs)],
        "LAG": [s / fact(2 * k + 3) for k, s in enumerate(signs)],
        "ARCSINE": [2 * fact(2 * k) / (4**k * fact(k) ** 2 * (2 * k + 1)) for k in range(6)],
        "COTANGENT": [float(x) for x in half_cotangent],
        "INVERSE": [float(-x) for x in half_cotangent[1:]],
    }
    for name, wanted in series.items():
        found = getattr(quaternions, name)
        assert len(found) >= 5 and found == pytest.approx(wanted[: len(found)], rel=1e-15), name
