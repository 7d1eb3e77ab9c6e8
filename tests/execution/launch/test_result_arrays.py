"""The arrays that a launch writes."""

from __future__ import annotations

import numpy as np
import pytest
from robots import by_name
from states import states

import warpdyn as wd
from warpdyn.execution.launch.bound_arrays import bind_arrays
from warpdyn.execution.launch.launch import kernel_source
from warpdyn.execution.launch.result_arrays import ResultArrays, arrays_for_results

PANDA = by_name("panda").model
NV = PANDA.nv


@wd.kernel
def entry(robot, q, heights: wd.kernels.table((4, 5))):
    """One entry of a table, times a coordinate."""
    return heights.look(1, 2) * q[0]


def results(*arrays: object, **options: object) -> ResultArrays:
    call = wd.rnea.describe(PANDA, *arrays, **options)
    return arrays_for_results(call, kernel_source(call), bind_arrays(call))


def test_new_results_have_the_batch_shape() -> None:
    """The kernel writes one dimension of environments. The user gets all dimensions of the call."""
    s = states(PANDA, 6)
    for lead, rows in (((), 1), ((6,), 6), ((2, 3), 6)):
        arrays = [x[0] if lead == () else x.reshape(*lead, -1) for x in (s.q, s.v, s.a)]
        found = results(*arrays)
        assert found.arrays[0].shape == (*lead, NV) and found.written[0].shape == (rows, NV)
        assert np.shares_memory(found.arrays[0], found.written[0])
        assert found.views[0].address == found.written[0].ctypes.data and not found.sums


def test_new_results_have_the_memory_order_of_the_first_batched_input() -> None:
    s = states(PANDA, 6)
    by_rows = results(s.q, s.v, s.a).written[0]
    by_columns = results(np.asfortranarray(s.q), s.v, s.a).written[0]
    assert by_rows.strides[1] == 8 and by_columns.strides[0] == 8


def test_arrays_of_out_are_written_in_place() -> None:
    s = states(PANDA, 6)
    out = np.full((6, NV), np.nan)
    found = results(s.q, s.v, s.a, out=out)
    assert found.arrays[0] is out and found.views[0].address == out.ctypes.data
    with pytest.raises(ValueError, match=r"out must be \(6, 8\)"):
        results(s.q, s.v, s.a, out=out[:5])


def test_a_cotangent_of_a_table_is_summed() -> None:
    """The kernel writes one for each environment, (B, rows, columns), and the result is their
    sum."""
    heights, q = np.zeros((4, 5)), np.full((3, PANDA.nq), 2.0)
    _, bar = wd.vjp(entry, PANDA, q, heights, cotangents=np.ones(3))
    wanted = heights.copy()
    wanted[1, 2] = 3 * 2.0
    assert np.array_equal(bar, wanted)
