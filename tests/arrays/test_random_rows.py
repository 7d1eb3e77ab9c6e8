"""Random numbers by hashing a counter: the published generator, uniform, and independent of the
batch."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from array_kinds import host, make_array, usable
from hashed_numbers import GAMMA, WORD, mix_bits, uniform

from warpdyn.arrays import View, random_rows
from warpdyn.arrays.libraries import library_of
from warpdyn.arrays.random_rows import draw
from warpdyn.arrays.views import view


def draw_rows(count: int, width: int = 3, seed: int = 0, quaternions=(), dtype=np.float64):
    out = np.full((count, width), np.nan, dtype)
    draw(view("out", out), [-1.0] * width, [3.0] * width, quaternions, seed, None)
    return out


def test_the_finaliser_is_splitmix64() -> None:
    """The first outputs with seed 1234567 equal those of the authors' reference program."""
    outputs = [mix_bits((1234567 + k * GAMMA) & WORD) for k in (1, 2, 3)]
    assert outputs == [6457827717110365317, 3203168211198807973, 9817491932198370423]


@pytest.mark.parametrize("seed", [0, 5, -1, 2**63 + 7])
def test_numbers_are_hashes_of_seed_and_position(seed: int) -> None:
    """Entry k of row e is the hash of 3 (e width + k), equal to Python's result, for any seed, also
    negative ones."""
    wanted = [[-1 + 4 * uniform(seed % 2**64, 3 * (e * 3 + k)) for k in range(3)] for e in range(4)]
    assert np.array_equal(draw_rows(4, seed=seed), np.array(wanted))


def test_rotations_are_made_from_three_numbers() -> None:
    """Shoemake's formula is applied in rows of more columns than one launch has."""
    width, firsts = 70, (3, 29, 60)
    found = draw_rows(3, width, seed=4, quaternions=firsts)
    for e in range(3):
        wanted = [-1 + 4 * uniform(4, 3 * (e * width + k)) for k in range(width)]
        for first in firsts:
            u, b, c = (uniform(4, 3 * (e * width + first) + n) for n in range(3))
            turns = (math.sin(2 * math.pi * b), math.cos(2 * math.pi * b))
            wanted[first : first + 2] = [math.sqrt(1 - u) * x for x in turns]
            turns = (math.sin(2 * math.pi * c), math.cos(2 * math.pi * c))
            wanted[first + 2 : first + 4] = [math.sqrt(u) * x for x in turns]
        np.testing.assert_allclose(found[e], wanted, rtol=0, atol=1e-14)


def test_the_cpu_needs_no_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    """A first call therefore waits for no compiler."""

    def refuse(*_: Any, **__: Any) -> None:
        raise AssertionError("a kernel was launched")

    monkeypatch.setattr(random_rows.wp, "launch", refuse)
    assert np.isfinite(draw_rows(7, 3)).all()


def test_numbers_do_not_depend_on_the_batch(dtype: np.dtype) -> None:
    """The first rows of a larger draw equal those of a smaller one. In float32 they are the same
    numbers, rounded."""
    assert np.array_equal(draw_rows(100, dtype=dtype)[:7], draw_rows(7, dtype=dtype))
    assert np.array_equal(draw_rows(100).astype(dtype), draw_rows(100, dtype=dtype))
    assert not np.any(draw_rows(100) == draw_rows(100, seed=1)) and draw_rows(0).shape == (0, 3)


def test_numbers_are_uniform() -> None:
    """Mean and variance are those of the uniform distribution, and columns are independent."""
    x = (draw_rows(20_000) + 1) / 4
    assert x.min() >= 0 and x.max() < 1
    assert np.abs(x.mean(axis=0) - 0.5).max() < 0.01
    assert np.abs(np.cov(x.T) - np.eye(3) / 12).max() < 0.002


def test_rotations_are_uniform() -> None:
    """Unit quaternions have the second moments of the sphere. The other columns do not change."""
    x = draw_rows(20_000, 6, quaternions=[1])
    quaternion = x[:, 1:5]
    assert np.abs(np.linalg.norm(quaternion, axis=1) - 1).max() < 1e-14
    assert np.abs(quaternion.T @ quaternion / len(x) - np.eye(4) / 4).max() < 0.01
    assert np.array_equal(x[:, [0, 5]], draw_rows(20_000, 6)[:, [0, 5]])


@pytest.mark.parametrize("name", ["torch", "warp"])
def test_numbers_are_drawn_into_memory_of_any_library_and_order(name: str, device: str) -> None:
    """They are drawn in place, on the device of the array."""
    usable(name, device)
    for layout in ("rows", "environments_last"):
        array = make_array(name, np.full((9, 3), np.nan), device, layout)
        v: View = library_of(array).view("array", array)
        draw(v, [-1.0] * 3, [3.0] * 3, (), 0, v.library.stream(v.device))
        assert np.array_equal(host(array), draw_rows(9))
