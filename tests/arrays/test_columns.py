"""Columns separated and joined, in every library, with any leading dimensions."""

from __future__ import annotations

import numpy as np
import pytest
import warp as wp
from array_kinds import LIBRARIES, host, make_array, usable

from warpdyn.arrays.columns import Part, column, columns, join_columns, pick_columns
from warpdyn.arrays.libraries import library_of

LEADS = ((), (5,), (2, 3))


@pytest.fixture(params=LIBRARIES)
def library(request: pytest.FixtureRequest, device: str) -> str:
    usable(request.param, device=device)
    return request.param


def numbers(lead: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    return np.random.default_rng(1).normal(size=(*lead, 6)).astype(dtype)


@pytest.mark.parametrize("lead", LEADS)
def test_joining_the_columns_gives_the_array_again(
    library: str, lead: tuple[int, ...], dtype, device: str
) -> None:
    """Library, dtype and numbers are the same."""
    x = make_array(library, numbers(lead, dtype), device=device)
    parts = [
        Part(columns(x, slice(0, 2)), 2, False),
        Part(column(x, 2), 1, True),
        Part(columns(x, slice(3, None)), 3, False),
    ]
    whole = join_columns(parts)
    assert type(whole) is type(x) and whole.dtype == x.dtype
    assert np.array_equal(host(whole), host(x))


@pytest.mark.parametrize("lead", LEADS)
def test_pick_columns_equals_numpys_indexing(
    library: str, lead: tuple[int, ...], dtype, device: str
) -> None:
    """A column may occur twice."""
    x = numbers(lead, dtype)
    found = pick_columns(make_array(library, x, device=device), [4, 0, 4])
    assert (
        np.array_equal(host(found), x[..., [4, 0, 4]])
        and found.dtype == make_array(library, x, device=device).dtype
    )


@pytest.mark.parametrize("library", ["numpy", "torch", "warp"])
def test_columns_are_views(library: str, device: str) -> None:
    """Writing into columns writes into the array."""
    usable(library, device=device)
    x = make_array(library, numbers((5,), np.dtype("float64")), device=device)
    record = library_of(x)
    record.write(columns(x, slice(1, 3)), 7.0)
    record.write(column(x, 4), 8.0)
    assert (host(x)[:, 1:3] == 7).all() and (host(x)[:, 4] == 8).all()
    assert np.array_equal(host(x)[:, 0], numbers((5,), np.dtype("float64"))[:, 0])


def test_leading_dimensions_are_broadcast() -> None:
    """Columns of one robot may be joined with those of many. Those of Warp arrays must be the
    same."""
    found = join_columns([Part(np.zeros((4, 1, 2)), 2, False), Part(np.ones(3), 1, True)])
    assert found.shape == (4, 3, 3) and (found[..., 2] == 1).all()
    with pytest.raises(ValueError, match="Warp arrays are not broadcast"):
        join_columns([Part(wp.zeros((4, 2)), 2, False), Part(wp.zeros((1, 2)), 2, False)])


def test_the_first_array_that_is_not_numpys_decides(library: str, device: str) -> None:
    """Plain numbers and NumPy arrays take its library, dtype and device. Without one, NumPy's first
    floats decide."""
    like = make_array(library, np.zeros((3, 1), np.float32), device=device)
    parts = [Part([1.0, 2.0], 2, False), Part(np.arange(3), 1, True), Part(like, 1, False)]
    found = join_columns(parts)
    assert type(found) is type(like) and found.dtype == like.dtype
    assert host(found).tolist() == [[1, 2, 0, 0], [1, 2, 1, 0], [1, 2, 2, 0]]
    if library != "warp":  # whose parts cannot all be plain numbers
        first = join_columns([Part([1.0, 2.0], 2, False)], like_first=[5, like])
        assert type(first) is type(like) and first.dtype == like.dtype


def test_plain_numbers_are_float64() -> None:
    """Whole numbers do not make an array of integers."""
    assert join_columns([Part(np.arange(2), 2, False), Part(3, 1, True)]).dtype == np.float64
    assert join_columns([Part([1, 2], 2, False)]).tolist() == [1.0, 2.0]
