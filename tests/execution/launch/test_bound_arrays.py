"""Arrays of a call as views of the same dtype, device and batch."""

from __future__ import annotations

import numpy as np
import pytest
from robots import by_name
from states import states

import warpdyn as wd
from warpdyn.execution.launch import bound_arrays
from warpdyn.execution.launch.bound_arrays import (
    LAZY_VIEW,
    BoundArrays,
    ResultArrays,
    arrays_for_results,
    bind_arrays,
)
from warpdyn.execution.launch.launch import kernel_source

PANDA = by_name("panda").model
NV = PANDA.nv


def bind(*arrays: object, **options: object) -> BoundArrays:
    return bind_arrays(wd.rnea.describe(PANDA, *arrays, **options))


def test_views_of_rows_have_the_arrays_memory() -> None:
    """This is checked for one robot, and for a batch in rows."""
    s = states(PANDA, 5)
    for arrays, lead in (((s.q, s.v, s.a), (5,)), ((s.q[0], s.v[0], s.a[0]), ())):
        found = bind(*arrays)
        assert found.lead == lead and found.count == (5 if lead else 1)
        assert not found.side_by_side and not found.copied and not found.single
        for name, array in zip("qva", arrays, strict=True):
            assert found.views[name].address == array.ctypes.data
        assert found.leader == found.first == "q" and found.device == "cpu"
        assert not bind(*arrays, gravity=[0.0, 0.0, -2.5]).numbers  # passed by value only on GPUs


@pytest.mark.parametrize("lead", [(), (1,), (5,)])
def test_one_row_for_each_environment_needs_no_views_of_rows(
    lead: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such views take longer than all other checks of a call."""

    def refuse(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(bound_arrays, "RowViews", refuse)
    q, v = np.ones((*lead, PANDA.nq)), np.ones((*lead, PANDA.nv))
    assert bind(q, v, v).lead == lead
    with pytest.raises(AssertionError):
        bind(q, v, np.ones((3, *lead, PANDA.nv)))


def test_the_first_array_with_a_batch_decides_the_shape() -> None:
    """It need not be the first array, which decides library, dtype and device."""
    s = states(PANDA, 6)
    v = np.asfortranarray(s.v)
    found = bind(s.q[0], v, s.a[0])
    assert (found.first, found.leader, found.lead) == ("q", "v", (6,)) and found.side_by_side
    found = bind(s.q[0], np.asfortranarray(s.v.reshape(6, -1)).reshape(2, 3, -1), s.a[0])
    assert found.lead == (2, 3) and found.count == 6


def test_an_array_without_a_single_stride_is_copied() -> None:
    s = states(PANDA, 12)
    q = s.q.reshape(4, 3, -1)[::2]
    found = bind(q, np.zeros((2, 3, PANDA.nv)), np.zeros((2, 3, PANDA.nv)))
    assert set(found.copied) == {"q"} and "one stride cannot" in found.copied["q"]
    assert np.array_equal(found.arrays["q"], q.reshape(6, -1))


def test_a_lazy_tensor_is_copied() -> None:
    torch = pytest.importorskip("torch")
    s = states(PANDA, 3)
    q = torch.complex(torch.tensor(s.q), torch.tensor(s.q)).conj().imag
    assert q.is_neg()
    found = bind(q, torch.tensor(s.v), torch.tensor(s.a))
    assert found.copied == {"q": LAZY_VIEW}
    assert np.array_equal(found.arrays["q"].numpy(), -s.q)


def test_arrays_of_different_dtypes_or_batches_are_refused() -> None:
    s = states(PANDA, 3)
    with pytest.raises((TypeError, ValueError), match="q is float64, v is float32; convert v"):
        bind(s.q, s.v.astype(np.float32), s.a)
    with pytest.raises(ValueError, match=r"v must be \(B, nv\) = \(3, 8\), got \(2, 8\)"):
        bind(s.q, s.v[:2], s.a)


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
