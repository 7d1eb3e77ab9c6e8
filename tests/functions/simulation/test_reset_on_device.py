"""The launch that resets environments on a GPU, here on arrays of the CPU too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from array_kinds import host, made, usable

from warpdyn.arrays.libraries import library_of
from warpdyn.functions.simulation.reset_on_device import reset_on_device

ENVS = 5

ROWS: dict[str, Any] = {
    "all": None,
    "mask": np.arange(ENVS) % 2 == 0,
    "int32": np.array([3, 1], np.int32),
    "int64": np.array([3, 1]),
}


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("on_device", [False, True])
@pytest.mark.parametrize("library", ["torch", "warp"])
def test_rows_are_reset(
    library: str, on_device: bool, rows: str, dtype: np.dtype, device: str
) -> None:
    """Values of all dtypes that serve all rows, values of each environment, and zeros."""
    usable(library, device)
    rng = np.random.default_rng(0)
    before = {"q": rng.normal(size=(ENVS, 3)), "v": rng.normal(size=(ENVS, 3))}
    before |= {"forces": rng.normal(size=(ENVS, 2, 3)), "none": np.zeros((ENVS, 0, 3))}
    before = {name: x.astype(dtype) for name, x in before.items()}
    arrays = {name: made(library, x, device) for name, x in before.items()}
    where = ROWS[rows]
    chosen = slice(None) if where is None else where
    count = ENVS if where is None else None if rows == "mask" else len(where)
    q, v = rng.normal(size=3).astype(np.float64), rng.normal(size=(ENVS, 3)).astype(np.float32)
    index = where
    if on_device and where is not None:
        index = made(library, where, device)
    values = {"q": made(library, q, device) if on_device else list(q), "v": v}
    reset_on_device(library_of(arrays["q"]), index, count, arrays, values)
    before["q"][chosen], before["v"][chosen], before["forces"][chosen] = q, v[chosen], 0.0
    for name, wanted in before.items():
        assert np.array_equal(host(arrays[name]), wanted), name


@pytest.mark.parametrize("library", ["torch", "warp"])
def test_a_row_for_each_of_the_chosen(library: str, device: str) -> None:
    """By indices in their order, and by a mask, which is counted; another number is refused."""
    usable(library, device)
    values = np.float32([[1.0, 2.0], [3.0, 4.0]])
    for where, count, wanted in (
        (np.array([3, 1]), 2, [0, 3, 0, 1, 0]),
        (np.isin(np.arange(ENVS), [1, 3]), None, [0, 1, 0, 3, 0]),
    ):
        for index in (where, made(library, where, device)):
            q = made(library, np.zeros((ENVS, 2), np.float32), device)
            reset_on_device(library_of(q), index, count, {"q": q}, {"q": values})
            assert host(q)[:, 0].tolist() == wanted
            with pytest.raises(ValueError, match=r"q must be \(2,\) or \(2, 2\), got \(3, 2\)"):
                reset_on_device(
                    library_of(q), index, count, {"q": q}, {"q": np.zeros((3, 2), np.float32)}
                )
