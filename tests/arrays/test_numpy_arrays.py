"""NumPy's memory: what a kernel can read, what is refused, and the layout of new memory."""

from __future__ import annotations

import numpy as np
import pytest
from robots import by_name
from states import states

import warpdyn as wd
from warpdyn.arrays.layout import ALIGNED_FROM, ALIGNMENT, padded_count
from warpdyn.arrays.numpy_arrays import LIBRARY
from warpdyn.arrays.protocol import Part

MODEL = by_name("cartpole").model


def test_views_have_the_address_and_strides_of_any_part() -> None:
    """Reversed, broadcast and read-only parts included."""
    memory = np.arange(60.0).reshape(5, 4, 3)
    memory.setflags(write=False)
    start = memory.__array_interface__["data"][0]
    for part, offset, strides in (
        (memory, 0, (12, 3, 1)),
        (memory[1:, ::2], 12, (12, 6, 1)),
        (memory[::-1], 48, (-12, 3, 1)),
        (memory.T, 0, (1, 3, 12)),
        (np.broadcast_to(memory[2, 3], (7, 3)), 33, (0, 1)),
    ):
        v = LIBRARY.view("part", part)
        assert (v.address - start, v.strides, v.shape) == (8 * offset, strides, part.shape)
    assert LIBRARY.view("empty", memory[:0]).shape == (0, 4, 3)


@pytest.mark.parametrize(
    "dtype", [np.int64, np.float16, np.complex128, bool, object, np.longdouble]
)
def test_other_dtypes_are_refused(dtype: type) -> None:
    """The message says which dtypes are accepted, which arrived and how to convert."""
    s = states(MODEL, 4)
    with pytest.raises(
        TypeError, match=r"v must be float32 or float64, got .*v\.astype\(np\.float32\)"
    ):
        wd.rnea(MODEL, s.q, s.v.astype(dtype), s.a)


def test_other_byte_orders_are_refused() -> None:
    """Big-endian numbers have the name float64, but not this machine's byte order."""
    with pytest.raises(TypeError, match="q must be float32 or float64"):
        wd.crba(MODEL, states(MODEL, 4).q.astype(">f8"))


def test_memory_without_element_strides_is_refused() -> None:
    """The distance between fields of a packed structured array is not a whole number of
    elements."""
    packed = np.zeros(4, dtype=[("flag", "u1"), ("q", "f8", (MODEL.nq,))])
    with pytest.raises(
        ValueError, match=r"q is not aligned to whole float64 elements.*pass a copy"
    ):
        wd.crba(MODEL, packed["q"])


def test_large_memory_is_aligned(dtype: np.dtype) -> None:
    """It is aligned to cache lines, for streaming stores, and is contiguous and writable."""
    for shape in ((ALIGNED_FROM,), (33, 32, 8), (5, ALIGNED_FROM)):
        array = LIBRARY.allocate("cpu", dtype == np.float32, shape)
        assert array.shape == shape and array.dtype == dtype
        assert array.__array_interface__["data"][0] % ALIGNMENT == 0
        assert array.flags.c_contiguous and array.flags.writeable


def test_stacked_values_are_in_columns(dtype: np.dtype) -> None:
    """Equal entries of neighbouring environments are adjacent. Rows have the padding of the layout
    rule."""
    values = [np.arange(3.0), np.arange(33 * 3.0).reshape(33, 3)]
    rows = LIBRARY.stack_values(values, (3,), 33, dtype)
    assert rows.shape == (33, 2, 3) and rows.dtype == dtype
    lead = padded_count(33, dtype == np.float32)
    assert rows.strides == (dtype.itemsize, 3 * lead * dtype.itemsize, lead * dtype.itemsize)
    assert np.array_equal(rows[:, 0], np.tile(np.arange(3.0), (33, 1)))


def test_operations_of_libraries_like_numpy_are_right() -> None:
    """Blocks are joined and widened with zeros, and numbers become columns."""
    block = np.arange(6.0).reshape(2, 3)
    found = LIBRARY.join_columns([Part(block, 3, False), Part(5, 1, True)], np.zeros(1, np.float32))
    assert found.dtype == np.float32 and found.tolist() == [[0, 1, 2, 5], [3, 4, 5, 5]]
    wide = LIBRARY.end_to_end([block, np.ones((1, 2))], (3,))
    assert wide.tolist() == [[0, 1, 2], [3, 4, 5], [1, 1, 0]]
    assert LIBRARY.as_column(np.array(2.0), block, (4,)).tolist() == [[2.0]] * 4
    times = np.arange(4.0)
    assert np.shares_memory(LIBRARY.as_column(times, block, (4,)), times)


def test_masked_entries_are_refused() -> None:
    """A mask would be ignored. First and repeated calls, results, parameters and assignments are
    checked."""
    q = np.ones((4, MODEL.nq))
    masked = np.ma.masked_array(q, mask=np.eye(4, MODEL.nq, dtype=bool))
    for _ in range(4):
        wd.crba(MODEL, q)
        wd.crba(MODEL, np.ma.masked_array(q))
        with pytest.raises(TypeError, match=r"^q is a masked array with .*q\.filled\(value\)"):
            wd.crba(MODEL, masked)
    out = np.ma.masked_array(np.empty((4, MODEL.nv, MODEL.nv)), mask=True)
    with pytest.raises(TypeError, match=r"^out is a masked array"):
        wd.crba(MODEL, q, out=out)
    with pytest.raises(TypeError, match="is a masked array"):
        wd.gravity_torques(MODEL, q, gravity=np.ma.masked_array([0.0, 0.0, -9.81], mask=[0, 0, 1]))
    mass = np.ma.masked_array(np.ones(4), mask=[0, 0, 0, 1])
    with pytest.raises(TypeError, match="is a masked array"):
        MODEL.params(mass={MODEL.link_names[-1]: mass})
    with pytest.raises(TypeError, match="is a masked array"):
        wd.oracle(wd.crba, MODEL, masked)
    with pytest.raises(TypeError, match="is a masked array"):
        LIBRARY.assign(q, slice(None), masked)
