"""Numbers drawn by hashing a counter: the published generator, evenly spread, the same whatever the
batch."""

from __future__ import annotations

import numpy as np
import pytest
from array_kinds import host, made, usable

from warpdyn.arrays import View
from warpdyn.arrays.libraries import library_of
from warpdyn.arrays.random_rows import draw
from warpdyn.arrays.views import view

WORD = 2**64 - 1
GAMMA = 0x9E3779B97F4A7C15


def mixed(x: int) -> int:
    """SplitMix64's finaliser, in Python's whole numbers."""
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & WORD
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB & WORD
    return x ^ (x >> 31)


def uniform(seed: int, index: int) -> float:
    z = mixed((mixed((seed + GAMMA) & WORD) + (index + 1) * GAMMA) & WORD)
    return (z >> 11) * 2.0**-53


def drawn(count: int, width: int = 3, seed: int = 0, quaternions=(), dtype=np.float64):
    out = np.full((count, width), np.nan, dtype)
    draw(view("out", out), [-1.0] * width, [3.0] * width, quaternions, seed, None)
    return out


def test_the_finaliser_is_splitmix64() -> None:
    """First outputs of the generator seeded with 1234567, as its authors' reference prints them."""
    outputs = [mixed((1234567 + k * GAMMA) & WORD) for k in (1, 2, 3)]
    assert outputs == [6457827717110365317, 3203168211198807973, 9817491932198370423]


@pytest.mark.parametrize("seed", [0, 5, -1, 2**63 + 7])
def test_numbers_are_hashes_of_seed_and_place(seed: int) -> None:
    """Entry k of row e is the hash of 3 (e width + k), the same in Python: any seed, negative
    too."""
    wanted = [[-1 + 4 * uniform(seed % 2**64, 3 * (e * 3 + k)) for k in range(3)] for e in range(4)]
    assert np.array_equal(drawn(4, seed=seed), np.array(wanted))


def test_numbers_do_not_depend_on_the_batch(dtype: np.dtype) -> None:
    """The first rows of a larger draw are those of a smaller one; in float32 they are rounded, no
    others."""
    assert np.array_equal(drawn(100, dtype=dtype)[:7], drawn(7, dtype=dtype))
    assert np.array_equal(drawn(100).astype(dtype), drawn(100, dtype=dtype))
    assert not np.any(drawn(100) == drawn(100, seed=1)) and drawn(0).shape == (0, 3)


def test_numbers_are_uniform() -> None:
    """Mean and variance of the uniform law, columns independent."""
    x = (drawn(20_000) + 1) / 4
    assert x.min() >= 0 and x.max() < 1
    assert np.abs(x.mean(axis=0) - 0.5).max() < 0.01
    assert np.abs(np.cov(x.T) - np.eye(3) / 12).max() < 0.002


def test_rotations_are_uniform() -> None:
    """Unit quaternions whose second moments are those of the sphere, other columns as they would be
    without."""
    x = drawn(20_000, 6, quaternions=[1])
    quaternion = x[:, 1:5]
    assert np.abs(np.linalg.norm(quaternion, axis=1) - 1).max() < 1e-14
    assert np.abs(quaternion.T @ quaternion / len(x) - np.eye(4) / 4).max() < 0.01
    assert np.array_equal(x[:, [0, 5]], drawn(20_000, 6)[:, [0, 5]])


@pytest.mark.parametrize("name", ["torch", "warp"])
def test_memory_of_any_library_and_order(name: str, device: str) -> None:
    """Drawn where the array lies, on its device, environments side by side or not."""
    usable(name, device)
    for layout in ("rows", "environments_last"):
        array = made(name, np.full((9, 3), np.nan), device, layout)
        v: View = library_of(array).view("array", array)
        draw(v, [-1.0] * 3, [3.0] * 3, (), 0, v.library.stream(v.device))
        assert np.array_equal(host(array), drawn(9))
