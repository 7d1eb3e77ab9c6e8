"""Rows that one launch writes in several arrays, also on the CPU."""

from __future__ import annotations

import numpy as np
import pytest
import warp as wp
from array_kinds import make_array

from warpdyn.arrays.row_writes import MOST, RowWrite, can_write, write_rows
from warpdyn.arrays.views import view

B = 7
CHOSEN = [4, 1, 6]


def where_of(kind: str, device: str) -> wp.array | None:
    if kind == "all":
        return None
    if kind == "mask":
        return wp.array(np.isin(np.arange(B), CHOSEN), device=device)
    return wp.array(np.array(CHOSEN, kind), device=device)


@pytest.mark.parametrize("layout", ["rows", "environments_last"])
@pytest.mark.parametrize("kind", ["all", "mask", "int32", "int64"])
def test_chosen_rows_are_written(kind: str, layout: str, dtype: np.dtype, device: str) -> None:
    """The values are zeros, one row for all, or a row for each environment. Other rows do not
    change."""
    rng = np.random.default_rng(0)
    shapes = ((3,), (2, 3), ())
    before = [rng.normal(size=(B, *shape)).astype(dtype) for shape in shapes]
    arrays = [make_array("warp", x, device, layout) for x in before]
    one = rng.normal(size=3).astype(dtype)
    each = rng.normal(size=(B, 2, 3)).astype(dtype)
    ones, eachs = make_array("warp", one, device), make_array("warp", each, device, layout)
    writes = [
        RowWrite(view("a", arrays[0]), view("v", ones)),
        RowWrite(view("a", arrays[1]), view("v", eachs)),
        RowWrite(view("a", arrays[2]), None),
    ]
    write_rows(writes, where_of(kind, device))
    rows = slice(None) if kind == "all" else CHOSEN
    before[0][rows], before[1][rows], before[2][rows] = one, each[rows], 0.0
    for array, wanted in zip(arrays, before, strict=True):
        assert np.array_equal(array.numpy(), wanted)


def test_values_may_have_one_row_for_each_index(device: str) -> None:
    """Indices outside the array are left out."""
    array = wp.zeros((B, 2), dtype=wp.float64, device=device)
    values = np.arange(10.0).reshape(5, 2) + 1.0
    where = wp.array([4, -1, 1, B, 6], dtype=wp.int32, device=device)
    given = wp.array(values, device=device)
    write_rows([RowWrite(view("a", array), view("v", given), of_chosen=True)], where)
    wanted = np.zeros((B, 2))
    wanted[[4, 1, 6]] = values[[0, 2, 4]]
    assert np.array_equal(array.numpy(), wanted)


def test_more_arrays_than_one_launch_takes_are_written(device: str) -> None:
    """A row needs a single stride."""
    arrays = [wp.full((B, 1), 1.0, dtype=wp.float32, device=device) for _ in range(MOST + 3)]
    write_rows([RowWrite(view("a", x), None) for x in arrays], None)
    assert not any(x.numpy().any() for x in arrays)
    wide = RowWrite(view("a", wp.zeros((B, 2, 4), dtype=wp.float32, device=device)[:, :, :3]), None)
    assert not can_write(wide) and can_write(RowWrite(view("a", arrays[0]), None))
    with pytest.raises(ValueError, match="have no single stride"):
        write_rows([wide], None)
