"""Warp arrays: parts are views that keep their memory alive, and joined arrays are copies."""

from __future__ import annotations

import gc
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import warp as wp
from documented_numbers import check_numbers

from warpdyn.arrays.layout import padded_count
from warpdyn.arrays.protocol import Part
from warpdyn.arrays.views import kind_of
from warpdyn.arrays.warp_arrays import LIBRARY, copied_from_host, find_device


def test_an_unknown_device_is_refused() -> None:
    """The error lists the devices, wherever a device can be named."""
    known = wp.get_devices()[0].alias
    for take in (find_device, lambda name: kind_of(None, None, name)):
        for name in ("cuda:97", "gpu", ""):
            with pytest.raises(ValueError, match=f"there is no device '{name}' here, only {known}"):
                take(name)


def test_an_entry_of_a_vector_keeps_a_dimension(device: str) -> None:
    """Warp has no arrays without dimensions, so it is a view with one entry. That of a matrix is a
    view of the column."""
    vector, matrix = wp.zeros(4, device=device), wp.zeros((3, 4), device=device)
    entry, column = LIBRARY.entry(vector, 2), LIBRARY.entry(matrix, 2)
    assert (entry.shape, column.shape) == ((1,), (3,))
    entry.fill_(5.0)
    column.fill_(7.0)
    assert vector.numpy().tolist() == [0, 0, 5, 0] and matrix.numpy()[:, 2].tolist() == [7] * 3


def test_a_view_keeps_its_memory_alive(device: str) -> None:
    """Other arrays do not get the memory of the view after its array is deleted."""
    view = LIBRARY.environment_first(LIBRARY.allocate(device, False, (3, 64)), 50)
    LIBRARY.write(view, np.arange(150.0).reshape(50, 3))
    gc.collect()
    others = [wp.full((3, 64), -1.0, dtype=wp.float64, device=device) for _ in range(20)]
    assert np.array_equal(view.numpy(), np.arange(150.0).reshape(50, 3)) and len(others) == 20


def test_numbers_of_rows_are_a_column_in_place(device: str) -> None:
    """The shape is (B, 1) for an array (B,), (1,) for one robot, in the memory of the array."""
    like = wp.zeros((6, 2), dtype=wp.float64, device=device)
    one = LIBRARY.as_column(wp.array([0.25], dtype=wp.float64, device=device), like, ())
    assert one.shape == (1,) and one.numpy().tolist() == [0.25]
    times = wp.array(np.arange(6.0), device=device)
    column = LIBRARY.as_column(times, like, (6,))
    assert column.ptr == times.ptr and column.numpy()[:, 0].tolist() == [0, 1, 2, 3, 4, 5]


def test_joined_columns_are_copies(device: str, dtype: np.dtype) -> None:
    """Arrays, plain numbers and NumPy arrays are joined. Only the last two are broadcast."""
    x = wp.array(np.arange(6.0).reshape(3, 2).astype(dtype), device=device)
    parts = [Part(7.0, 1, True), Part(x, 2, False), Part(np.arange(3.0), 1, True)]
    found = LIBRARY.join_columns(parts, x)
    assert found.dtype == x.dtype and found.device == x.device
    assert found.numpy().tolist() == [[7, 0, 1, 0], [7, 2, 3, 1], [7, 4, 5, 2]]
    assert LIBRARY.pick_columns(found, [3, 1]).numpy().tolist() == [[0, 0], [1, 2], [2, 4]]
    with pytest.raises(ValueError, match=r"not broadcast; .* must be the same, got \[\(3,\), \(1,"):
        LIBRARY.join_columns([Part(x, 2, False), Part(x[:1], 2, False)], x)


def test_stacked_values_are_in_columns(device: str, dtype: np.dtype) -> None:
    """Single values are used for all environments. Rows have the padding of the layout rule."""
    one = wp.array(np.arange(3.0).astype(dtype), device=device)
    many = wp.array(np.arange(60.0).reshape(20, 3).astype(dtype), device=device)
    rows = LIBRARY.stack_values([one, many, [1, 2, 3]], (3,), 20, dtype)
    assert rows.shape == (20, 3, 3) and rows.dtype == one.dtype
    lead = padded_count(20, dtype == np.float32) * dtype.itemsize
    assert rows.strides == (dtype.itemsize, 3 * lead, lead)
    assert np.array_equal(rows.numpy()[:, 1], many.numpy())
    assert rows.numpy()[:, 0].tolist() == [[0, 1, 2]] * 20
    assert LIBRARY.stack_values([one, one], (3,), None, dtype).shape == (2, 3)


def test_other_dtypes_are_refused() -> None:
    """The message says which dtypes are accepted and which arrived."""
    for dtype, name in ((wp.int32, "int32"), (wp.vec3, "vec3f"), (wp.float16, "float16")):
        with pytest.raises(TypeError, match=f"q must be float32 or float64, got {name}"):
            LIBRARY.view("q", wp.zeros(3, dtype=dtype))


@pytest.mark.parametrize("side_by_side", [False, True])
def test_rows_on_a_device_are_written_by_a_launch(
    side_by_side: bool, dtype: np.dtype, device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No launch is needed on the host. Numbers, rows and arrays of any dtype are written to all
    rows, and rows of a mask.
    """

    def rows(values: np.ndarray) -> wp.array:
        kind = wp.float32 if values.dtype == np.float32 else wp.float64
        if not side_by_side:
            return wp.array(values, dtype=kind, device=device)
        made = LIBRARY.allocate(
            device, kind is wp.float32, (3, padded_count(5, kind is wp.float32))
        )
        made = LIBRARY.environment_first(made, 5)
        LIBRARY.write(made, values)
        return made

    monkeypatch.setattr(type(LIBRARY), "on_cuda", lambda *_: True)
    whole = np.arange(15.0).reshape(5, 3).astype(dtype)
    for values in (7.0, np.array([1.0, 2.0, 3.0]), whole, rows(whole), rows(whole.astype("f8"))):
        array = rows(np.full((5, 3), np.nan, dtype))
        LIBRARY.assign(array, slice(None), values)
        wanted = values.numpy() if isinstance(values, wp.array) else values
        assert np.array_equal(array.numpy(), np.broadcast_to(wanted, (5, 3)).astype(dtype))
    array, mask = rows(-whole), np.array([True, False, True, True, False])
    assert LIBRARY.replace_rows(array, mask, rows(whole)) is array
    assert np.array_equal(array.numpy(), np.where(mask[:, None], whole, -whole))
    LIBRARY.assign(array, slice(1, 3), 90.0)
    assert (array.numpy() == 90.0).all(axis=1).tolist() == [False, True, True, False, False]


def test_the_kind_of_an_array_contains_what_a_launch_depends_on(device: str) -> None:
    """The kind on a device has dtype, shape, strides and the device's number. On the host, arrays
    are checked instead.
    """
    array = wp.zeros((4, 3), dtype=wp.float32, device=device)
    there = SimpleNamespace(is_cuda=True, ordinal=2)
    fields = {"dtype": array.dtype, "shape": array.shape, "strides": array.strides}
    assert LIBRARY.sort(SimpleNamespace(**fields, device=there)) == (*fields.values(), 2)
    assert LIBRARY.sort(wp.zeros(3, device="cpu")) == ()
    assert LIBRARY.address(array) == array.ptr and LIBRARY.address(SimpleNamespace(ptr=None)) == 0


def test_arrays_of_maker_equal_those_of_allocate(device: str) -> None:
    for single in (False, True):
        made = LIBRARY.maker(device, single, (4, 3))()
        other = LIBRARY.allocate(device, single, (4, 3))
        assert (made.dtype, made.shape, made.device) == (other.dtype, other.shape, other.device)
        assert made.dtype is (wp.float32 if single else wp.float64)


def test_copies_from_the_host_are_refused_in_a_capture(monkeypatch: pytest.MonkeyPatch) -> None:
    class Device:
        is_cuda, is_capturing = True, True

        def __str__(self) -> str:
            return "cuda:1"

    monkeypatch.setattr(wp, "get_device", lambda _: Device())
    with pytest.raises(RuntimeError, match="cannot be copied to cuda:1 while a graph is captured"):
        copied_from_host([1.0], wp.float64, "cuda:1")


def test_a_recording_tape_means_not_at_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    assert LIBRARY.at_rest()
    with wp.Tape():
        assert not LIBRARY.at_rest()
    assert LIBRARY.at_rest()


def test_finish_waits_for_the_arrays_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[Any] = []
    monkeypatch.setattr(wp, "synchronize_stream", waited.append)
    LIBRARY.finish(wp.zeros(3, device="cpu"))
    assert not waited
    LIBRARY.finish(SimpleNamespace(device=SimpleNamespace(is_cuda=True, stream="one")))
    assert waited == ["one"]


def test_documented_numbers() -> None:
    check_numbers("arrays.warp_arrays", DIMENSIONS=4)
