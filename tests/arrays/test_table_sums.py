"""Values with positions, summed into a table."""

from __future__ import annotations

import numpy as np
import pytest
from array_kinds import LIBRARIES, host, make_array, usable

from warpdyn.arrays.libraries import library_of
from warpdyn.arrays.table_sums import sum_into_table

SHARES = np.array([[[1.0, 0, 0], [2.0, 1, 2]], [[0.5, 0, 0], [4.0, 9, -3]], [[8.0, np.nan, 1]] * 2])
TABLE = np.array([[1.5, 16.0, 0.0], [4.0, 0.0, 2.0]])


def test_values_are_summed_at_their_nearest_positions() -> None:
    assert np.array_equal(sum_into_table(SHARES, (2, 3)), TABLE)


@pytest.mark.parametrize("library", LIBRARIES)
def test_every_library_sums_into_a_table(library: str) -> None:
    usable(library)
    shares = make_array(library, SHARES.astype(np.float32))
    found = library_of(shares).sum_into_table(shares, (2, 3), None)
    assert type(found) is type(shares) and np.array_equal(host(found), TABLE)


@pytest.mark.parametrize("library", ["numpy", "torch", "warp"])
def test_the_sum_is_written_into_out(library: str) -> None:
    usable(library)
    shares, out = make_array(library, SHARES), make_array(library, np.full((2, 3), np.nan))
    assert library_of(shares).sum_into_table(shares, (2, 3), out) is out
    assert np.array_equal(host(out), TABLE)
