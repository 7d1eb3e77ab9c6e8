"""Variations of a model's numbers: each kernel compared with its formula in plain Python."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import warp as wp
from documented_numbers import check_numbers
from hashed_numbers import uniform

from warpdyn.algebra.quaternions import quaternion_exp, quaternion_product
from warpdyn.arrays.random_laws import (
    LAWS,
    draw_inertias,
    draw_numbers,
    draw_placements,
    vary,
)
from warpdyn.arrays.random_laws_on_host import REACH
from warpdyn.arrays.views import view

ENVS, OWNERS = 2000, 5
SCALE, ADD = 1.0, 0.0


def row(law: str, a: float, b: float, verb: float) -> list[float]:
    return [float(LAWS.index(law)), a, b, verb]


def vary_numbers(
    kernel: Any,
    nominal: np.ndarray,
    draws: list[list[float]],
    more: tuple = (),
    seed: int = 3,
    envs: int = ENVS,
    dtype: Any = np.float64,
) -> np.ndarray:
    """Variations for owners 1, 3, ... of five."""
    out = np.full((envs, *nominal.shape), np.nan, dtype)
    index = list(range(1, 2 * len(nominal), 2))
    vary(kernel, view("out", out), nominal, draws, index, OWNERS, seed, more, None)
    return out


def test_scaling_draws_one_factor_and_adding_draws_each_component() -> None:
    """Scaling keeps the ratios of an owner's numbers."""
    nominal = np.array([[1.0, 2.0, 4.0], [3.0, 5.0, 7.0]])
    factors = vary_numbers(draw_numbers, nominal, [row("uniform", 0.5, 2.0, SCALE)] * 2) / nominal
    assert np.allclose(factors, factors[..., :1], rtol=1e-15)
    assert factors.min() >= 0.5 and factors.max() <= 2.0
    moved = vary_numbers(draw_numbers, nominal, [row("uniform", -1.0, 1.0, ADD)] * 2) - nominal
    flat = moved.reshape(ENVS, -1)
    assert np.abs(flat).max() <= 1.0
    assert np.abs(np.corrcoef(flat.T) - np.eye(6)).max() < 0.1


@pytest.mark.parametrize("law", LAWS)
def test_distributions_have_the_right_median_and_range(law: str) -> None:
    """There are three distributions. A normal number stays within its reach."""
    a, b = (1.0, 4.0) if law != "normal" else (2.0, 0.25)
    x = vary_numbers(draw_numbers, np.ones((1, 1)), [row(law, a, b, SCALE)]).ravel()
    median = {"uniform": 2.5, "log-uniform": 2.0, "normal": 2.0}[law]
    assert abs(np.median(x) - median) < 0.12
    low, high = (a, b) if law != "normal" else (a - REACH * b, a + REACH * b)
    assert low <= x.min() and x.max() <= high


# Every number compared with its formula.

NOMINAL = np.array([[0.4, 0.02, -0.03, 0.5, 0.01, 0.6], [0.7, -0.05, 0.04, 0.6, 0.02, 0.8]])
RATIOS = [row("log-uniform", 0.4, 2.5, SCALE), row("normal", 0.3, 0.2, ADD)]


def number(law: list[float], seed: int, e: int, owner: int, c: int) -> float:
    """Number c of an owner in an environment, by the distribution of its row."""
    u, (kind, a, b, _) = uniform(seed, (e * OWNERS + owner) * 8 + c), law
    if LAWS[int(kind)] == "log-uniform":
        return a * (b / a) ** u
    if LAWS[int(kind)] == "normal":
        within = math.erf(REACH / math.sqrt(2.0))
        return a + b * math.sqrt(2.0) * float(erfinv((2.0 * u - 1.0) * within))
    return a + u * (b - a)


def erfinv(y: float) -> float:
    """The inverse of erf, by bisection."""
    low, high = -4.0, 4.0
    for _ in range(80):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if math.erf(middle) < y else (low, middle)
    return low


@pytest.mark.parametrize("law", LAWS)
def test_each_number_equals_the_formula_of_its_distribution(law: str) -> None:
    nominal = np.array([[1.0, 2.0, 4.0], [3.0, 5.0, 7.0]])
    draws = [row(law, 0.5, 2.0, SCALE), row(law, 0.7, 0.9, ADD)]
    found = vary_numbers(draw_numbers, nominal, draws, envs=4)
    for e in range(4):
        factor = number(draws[0], 3, e, 1, 0)
        moved = [x + number(draws[1], 3, e, 3, c) for c, x in enumerate(nominal[1])]
        np.testing.assert_allclose(found[e], [nominal[0] * factor, moved], rtol=1e-12)


def test_each_inertia_is_that_of_a_stretched_body() -> None:
    """The factors along x, y and z are independent. The mass is scaled, added to, or zero."""
    draws = [row("uniform", 0.5, 2.0, SCALE), row("log-uniform", 0.5, 2.0, SCALE)]
    for masses in ([3.0, 2.0], [3.0, 0.0]):
        found = vary_numbers(draw_inertias, NOMINAL, draws, (masses, RATIOS, 9), envs=4)
        for e, k in np.ndindex(4, 2):
            owner = (1, 3)[k]
            ratio = number(RATIOS[k], 9, e, owner, 0)
            if k == 1:
                ratio = 1.0 + ratio / masses[1] if masses[1] else 1.0
            S = np.diag([math.sqrt(number(draws[k], 3, e, owner, c)) for c in range(3)])
            J = np.zeros((3, 3))
            J[np.triu_indices(3)] = NOMINAL[k]
            J += np.triu(J, 1).T
            moments = ratio * S @ (np.trace(J) / 2 * np.eye(3) - J) @ S
            wanted = (np.trace(moments) * np.eye(3) - moments)[np.triu_indices(3)]
            np.testing.assert_allclose(found[e, k], wanted, rtol=1e-12)


def test_each_placement_is_moved_and_then_rotated_in_its_own_axes() -> None:
    quaternions = np.array([[0.2, -0.4, 0.4, 0.8], [-0.5, 0.5, 0.1, 0.7]])
    quaternions /= np.linalg.norm(quaternions, axis=1, keepdims=True)
    nominal = np.concatenate([[[1.0, 2.0, 3.0], [-1.0, 0.5, 0.2]], quaternions], axis=1)
    moves = [row("uniform", -0.5, 0.5, ADD), row("uniform", 0.1, 0.5, ADD)]
    tilts = [row("uniform", -1.0, 1.0, ADD), row("uniform", 0.1, 0.9, ADD)]
    found = vary_numbers(draw_placements, nominal, moves, (tilts, 9), envs=4)
    for e, k in np.ndindex(4, 2):
        owner = (1, 3)[k]
        away = [number(moves[k], 3, e, owner, c) for c in range(3)]
        turn = quaternion_exp([number(tilts[k], 9, e, owner, c) for c in range(3)])
        wanted = [*(nominal[k, :3] + away), *quaternion_product(list(nominal[k, 3:]), turn)]
        np.testing.assert_allclose(found[e, k], wanted, rtol=0, atol=1e-14)


def test_numbers_depend_only_on_seed_environment_and_owner() -> None:
    """They do not depend on the batch, on other owners, or on the precision."""
    nominal, law = np.ones((2, 3)), row("uniform", -1.0, 1.0, ADD)
    whole = vary_numbers(draw_numbers, nominal, [law, law])
    assert np.array_equal(vary_numbers(draw_numbers, nominal, [law, law], envs=7), whole[:7])
    assert np.array_equal(vary_numbers(draw_numbers, nominal[:1], [law]), whole[:, :1])
    single = vary_numbers(draw_numbers, nominal, [law, law], dtype=np.float32)
    assert np.array_equal(single, whole.astype(np.float32))
    assert not np.any(vary_numbers(draw_numbers, nominal, [law, law], seed=4) == whole)
    assert vary_numbers(draw_numbers, nominal, [law, law], envs=0).shape == (0, 2, 3)


def test_a_stretched_body_has_the_right_second_moments() -> None:
    """The inertia with all factors fixed is J' = tr(Σ') 1 - Σ', Σ' = ratio S Σ S."""
    J = np.array([[0.4, 0.02, -0.03], [0.02, 0.5, 0.01], [-0.03, 0.01, 0.6]])
    nominal = J[np.triu_indices(3)][None]
    stretch, ratio = 1.7, 2.5
    more = ([3.0], [row("uniform", ratio, ratio, SCALE)], 9)
    found = vary_numbers(
        draw_inertias, nominal, [row("uniform", stretch, stretch, SCALE)], more, envs=2
    )
    assert np.allclose(found, ratio * stretch * nominal, rtol=1e-13)
    heavier = ([3.0], [row("uniform", 1.5, 1.5, ADD)], 9)  # 3 kg and 1.5 kg more
    same = row("uniform", 1.0, 1.0, SCALE)
    found = vary_numbers(draw_inertias, nominal, [same], heavier, envs=2)
    assert np.allclose(found, 1.5 * nominal, rtol=1e-13)
    apart = vary_numbers(draw_inertias, nominal, [row("uniform", 0.3, 3.0, SCALE)], more)
    xx, _, _, yy, _, zz = apart[:, 0].T
    assert ((xx < yy + zz) & (yy < xx + zz) & (zz < xx + yy)).all()


def test_an_inertia_scales_with_the_drawn_mass() -> None:
    """The ratio in each environment and for each owner is that of its mass, because seed and
    distribution are the same.
    """
    masses, law = np.array([3.0, 5.0]), row("uniform", 0.5, 2.0, SCALE)
    same = row("uniform", 1.0, 1.0, SCALE)
    nominal = np.array([[0.4, 0.02, -0.03, 0.5, 0.01, 0.6]] * 2)
    drawn = vary_numbers(draw_numbers, masses[:, None], [law, law], seed=9) / masses[:, None]
    found = vary_numbers(draw_inertias, nominal, [same, same], (masses, [law, law], 9))
    assert np.ptp(drawn) > 1.0
    assert np.allclose(found, drawn * nominal, rtol=1e-13)


def test_a_tilt_is_a_rotation_vector() -> None:
    """Fixed to (h, h, h), it turns the identity into the exponential of that vector. Positions are
    moved."""
    nominal, h = np.array([[1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 1.0]]), 0.2
    more = ([row("uniform", h, h, ADD)], 9)
    found = vary_numbers(draw_placements, nominal, [row("uniform", 0.5, 0.5, ADD)], more, envs=2)[
        0, 0
    ]
    assert np.allclose(found[:3], [1.5, 2.5, 3.5])
    half = 0.5 * h * math.sqrt(3)
    assert np.allclose(found[3:6], math.sin(half) / math.sqrt(3), rtol=1e-14)
    assert math.isclose(found[6], math.cos(half), rel_tol=1e-14)
    more = ([row("uniform", 0.0, 0.0, ADD)], 9)
    still = vary_numbers(
        draw_placements,
        nominal,
        [row("uniform", 0.0, 0.0, ADD)],
        more,
        envs=2,
    )
    assert np.array_equal(still, np.tile(nominal, (2, 1, 1)))


def test_numbers_are_drawn_on_the_stream_of_the_launch(device: str) -> None:
    """Torch's stream is not Warp's, and nothing orders the two."""
    if device == "cpu":
        pytest.skip("the CPU has no streams; give --device cuda:0")
    nominal, draws = np.array([[1.0, 2.0]]), [row("uniform", 0.5, 2.0, SCALE)]
    out = wp.zeros((ENVS, 1, 2), dtype=wp.float64, device=device)
    stream, current = wp.Stream(device), wp.Stream(device)
    wp.synchronize_device(device)
    with wp.ScopedStream(current, sync_enter=False):
        vary(draw_numbers, view("out", out), nominal, draws, [1], OWNERS, 3, (), stream)
    wp.synchronize_stream(stream)
    wanted = np.zeros((ENVS, 1, 2))
    vary(draw_numbers, view("out", wanted), nominal, draws, [1], OWNERS, 3, (), None)
    assert np.abs(out.numpy() - wanted).max() <= 1e-12


def test_documented_numbers() -> None:
    check_numbers("arrays.random_laws_on_host", REACH=3.0)
