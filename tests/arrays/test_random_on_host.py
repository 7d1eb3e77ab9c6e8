"""Random numbers that NumPy draws on the CPU."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
import pytest
from hashed_numbers import uniform as uniform_in_python

from warpdyn.arrays import random_rows
from warpdyn.arrays.random_on_host import array_of, normal_quantile, uniform
from warpdyn.arrays.views import view


@pytest.mark.parametrize("seed", [0, 5, -1, 2**63 + 7])
def test_numbers_are_hashes_of_seed_and_index(seed: int) -> None:
    """Arrays of any number of dimensions have a number for each index."""
    index = np.array([[0, 1, 2**40], [2**64 - 1, 7, 12345]], np.uint64)
    wanted = [[uniform_in_python(seed % 2**64, int(i)) for i in row] for row in index]
    assert uniform(seed, index).tolist() == wanted


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_have_the_bits_of_the_kernel(dtype: type) -> None:
    """A row may be longer than one launch, and a batch longer than one pass of NumPy."""
    width, firsts = 50, (1, 29, 46)
    limits = [-1.0] * width, [3.0] * width
    outs = [np.full((700, width), np.nan, dtype) for _ in range(2)]
    random_rows._draw_with_kernel(view("out", outs[0]), *limits, firsts, 3)
    random_rows.draw(view("out", outs[1]), *limits, firsts, 3, None)
    plain = np.setdiff1d(np.arange(width), [k + n for k in firsts for n in range(4)])
    np.testing.assert_array_equal(outs[1][:, plain], outs[0][:, plain])
    np.testing.assert_allclose(
        outs[1], outs[0], rtol=0, atol=1e-7 if dtype == np.float32 else 1e-15
    )


def test_quantiles_are_those_of_the_standard_library() -> None:
    """To the last digits, up to 3.3 standard deviations in both directions."""
    p = np.concatenate([np.linspace(-0.4995, 0.4995, 2001), [-0.425, 0.425, 0.0]])
    wanted = [NormalDist().inv_cdf(0.5 + each) for each in p]
    np.testing.assert_allclose(normal_quantile(p), wanted, rtol=1e-14, atol=1e-15)


def test_an_array_uses_the_memory_of_a_view() -> None:
    """Also that of columns."""
    for x in (np.zeros((3, 4)), np.zeros((4, 3), np.float32).T[::2]):
        array_of(view("x", x))[...] = 2.0
        assert (x == 2.0).all()
