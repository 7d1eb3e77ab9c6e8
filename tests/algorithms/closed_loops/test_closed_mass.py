"""Mass matrix and loops as one matrix: its solutions, redundant rows, and zeros."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from programs import evaluate

from warpdyn.algorithms.closed_loops.closed_mass import ClosedMass
from warpdyn.recording.program import record

SHIFT = 1e-5
"""Error that the share on the diagonal leaves."""


def chain(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A mass matrix, and rows of which the first has no entry of the first coordinate."""
    draw = np.random.default_rng(seed)
    A = draw.normal(size=(count, count))
    J = draw.normal(size=(2, count))
    J[0, 0] = 0.0
    return A @ A.T + count * np.eye(count), J


@pytest.mark.parametrize("seed", range(3))
def test_solve_gives_the_solution_of_the_whole_system(seed: int) -> None:
    """M x - Jᵀ f = b and J x = c, compared with NumPy."""
    M, J = chain(4, seed)
    b, c = np.arange(4.0), np.array([1.0, -2.0])
    K = np.block([[M, -J.T], [-J, np.zeros((2, 2))]])
    truth = np.linalg.solve(K, np.r_[b, -c])
    mass = ClosedMass.of(np.tril(M).tolist(), J.tolist())
    x, f = mass.solution(b.tolist(), c.tolist())
    assert x == pytest.approx(truth[:4], rel=SHIFT, abs=SHIFT)
    assert f == pytest.approx(truth[4:], rel=SHIFT, abs=SHIFT)


def test_equations_are_eliminated_before_the_bodies_that_carry_them() -> None:
    """The first row comes after coordinate 0.

    The second, which has an entry of it, comes before.
    """
    M, J = chain(4, 0)
    mass = ClosedMass.of(M.tolist(), J.tolist())
    assert mass.coordinates == [1, 3, 4, 5] and mass.equations == [2, 0]


def test_signs_are_negative_for_equations_and_positive_for_coordinates() -> None:
    """The signs are in the order of elimination."""
    M, J = chain(4, 0)
    mass = ClosedMass.of(M.tolist(), J.tolist())
    assert mass.signs == [-1.0, 1.0, -1.0, 1.0, 1.0, 1.0]


def test_responses_to_impulses_include_the_loops() -> None:
    """An impulse on a row of coordinates causes forces in the loops, which the response includes."""
    M, J = chain(4, 1)
    row = np.array([0.5, -1.0, 2.0, 0.3])
    K = np.block([[M, -J.T], [-J, np.zeros((2, 2))]])
    truth = np.linalg.solve(K, np.r_[row, 0, 0])
    mass = ClosedMass.of(M.tolist(), J.tolist())
    y = mass.solve_transposed(row.tolist())
    z = mass.divide_by_diagonal(y)
    assert np.dot(y, z) == pytest.approx(row @ truth[:4], rel=SHIFT)
    assert mass.solve(z) == pytest.approx(truth[:4], rel=SHIFT, abs=SHIFT)
    assert mass.forces(z) == pytest.approx(truth[4:], rel=SHIFT, abs=SHIFT)


@pytest.mark.parametrize("mass", [1e-9, 1e-3, 1e9])
def test_scaling_all_masses_scales_only_the_forces(mass: float) -> None:
    """The unit of mass does not change the motion, to LEAST."""
    M, J = chain(4, 3)
    b, c = np.arange(4.0), [1.0, -2.0]
    x, f = ClosedMass.of(M.tolist(), J.tolist()).solution(b.tolist(), c)
    scaled = ClosedMass.of((M * mass).tolist(), J.tolist()).solution((b * mass).tolist(), c)
    assert scaled[0] == pytest.approx(x, rel=1e-8)
    assert [y / mass for y in scaled[1]] == pytest.approx(f, rel=1e-8)


def test_a_row_of_zeros_has_no_force() -> None:
    """One row is zero in this configuration, and the other one is not."""
    M, J = chain(4, 2)
    b, c = [1.0, 2.0, 3.0, 4.0], 0.7
    alone = ClosedMass.of(M.tolist(), J[1:].tolist()).solution(b, [c])
    zero = [1e-300, 0.0, 0.0, 0.0]
    x, f = ClosedMass.of(M.tolist(), [J[1].tolist(), zero]).solution(b, [c, 0.0])
    assert x == pytest.approx(alone[0], rel=SHIFT)
    assert f == pytest.approx([alone[1][0], 0.0], rel=SHIFT)


def test_redundant_rows_share_their_forces() -> None:
    """If a row occurs twice, the motion is that of one row, and each has half of its force."""
    M, J = chain(3, 2)
    b, c = [1.0, 2.0, 3.0], 0.7
    one = ClosedMass.of(M.tolist(), J[1:].tolist()).solution(b, [c])
    two = ClosedMass.of(M.tolist(), [*J[1:].tolist(), *J[1:].tolist()]).solution(b, [c, c])
    assert two[0] == pytest.approx(one[0], rel=SHIFT)
    assert two[1] == pytest.approx([one[1][0] / 2] * 2, rel=SHIFT)


def test_loops_of_different_branches_do_not_fill_the_matrix() -> None:
    """A loop in each of two branches costs less than two loops across both."""

    def text(J: list, M: list, b: list, branches: bool) -> list:
        low, high = (range(3), range(3, 6)) if branches else (range(6), range(6))
        H = [[M[i][k] * (not branches or i // 3 == k // 3) for k in range(6)] for i in range(6)]
        rows = [
            [J[n][k] if k in part else 0.0 for k in range(6)] for n, part in enumerate((low, high))
        ]
        return ClosedMass.of(H, rows).solution(b, [1.0, 2.0])[0]

    numbers = {"J": (2, 6), "M": (6, 6), "b": (6,)}
    apart = record(partial(text, branches=True), numbers)
    together = record(partial(text, branches=False), numbers)
    assert apart.operations < 0.5 * together.operations
    M, J = chain(6, 3)
    found = evaluate(
        apart,
        {"J": J.ravel().tolist(), "M": M.ravel().tolist(), "b": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]},
    )
    assert np.dot(J[0, :3], found[:3]) == pytest.approx(1.0, rel=SHIFT)
    assert np.dot(J[1, 3:], found[3:]) == pytest.approx(2.0, rel=SHIFT)
