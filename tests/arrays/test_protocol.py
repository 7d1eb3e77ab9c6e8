"""Rules that every library obeys: numbers are unchanged by conversions, and views share memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import warp as wp
from array_kinds import LIBRARIES, host, make_array, usable

from warpdyn.arrays import Library, views
from warpdyn.arrays.libraries import library_of
from warpdyn.arrays.numpy_arrays import LikeNumpy
from warpdyn.arrays.protocol import dtype_name, rows_of, wrong_dtype

NUMBERS = np.random.default_rng(0).normal(size=(5, 3, 2))
WRITABLE = ("numpy", "torch", "warp")


@pytest.fixture(params=LIBRARIES)
def library(request: pytest.FixtureRequest, device: str) -> Library:
    usable(request.param, device=device)
    return library_of(make_array(request.param, NUMBERS, device=device))


def test_numbers_are_unchanged_by_conversion_to_a_library_and_back(
    library: Library, device: str
) -> None:
    """to_host(from_host(x)) is x in its dtype. The array has the library's type."""
    usable(library.name, device)
    for dtype in (np.float32, np.float64):
        x = NUMBERS[0, :, 0].astype(dtype)
        there = library.from_host(x, device)
        assert isinstance(there, library.array_type) and library_of(there) is library
        back = library.to_host(there)
        assert back.dtype == dtype and np.array_equal(back, x)


def test_a_view_has_shape_strides_dtype_and_device(library: Library, dtype: np.dtype) -> None:
    """Strides are in elements. Arrays are in rows and in columns."""
    for layout in ("rows", "environments_last"):
        x = NUMBERS.astype(dtype)
        v = library.view("x", make_array(library.name, x, "cpu", layout))
        assert v.library is library and v.shape == x.shape and v.device == "cpu"
        assert v.single == (dtype == np.float32) and v.address % dtype.itemsize == 0
        wanted = (6, 2, 1) if layout == "rows" or library.name == "jax" else (1, 10, 5)
        assert tuple(v.strides) == wanted


def test_environment_first_does_not_copy(library: Library, dtype: np.dtype) -> None:
    """(k, lead) memory becomes a (count, k) view: environments are adjacent, rows are `lead`
    apart."""
    memory = library.allocate("cpu", dtype == np.float32, (3, 16))
    kind = library_of(memory)  # JAX' results are NumPy memory before they are handed back
    view = kind.view("view", library.environment_first(memory, 11))
    assert view.address == kind.view("memory", memory).address
    assert (view.shape, tuple(view.strides)) == ((11, 3), (1, 16))


def test_first_of_does_not_copy(library: Library) -> None:
    """If no dimension is left, Warp keeps one with one entry."""
    for shape in ((1, 3), (1, 2, 2), (1,)):
        memory = library.allocate("cpu", False, shape)
        kind, one = library_of(memory), library.first_of(memory)
        assert tuple(one.shape) == (shape[1:] or ((1,) if library.name == "warp" else ()))
        assert kind.view("one", one).address == kind.view("memory", memory).address


@pytest.mark.parametrize("name", WRITABLE)
def test_written_numbers_can_be_read_back(name: str, dtype: np.dtype, device: str) -> None:
    """Numbers are written from an array of any float dtype, and from one number, also into memory
    that is not in rows.
    """
    usable(name, device)
    library = library_of(make_array(name, NUMBERS, device=device))
    rows = library.allocate(device, dtype == np.float32, (4, 3))
    across = library.environment_first(
        library.allocate(device, dtype == np.float32, (3, 8)), count=4
    )
    for array in (rows, across):
        library.write(array, NUMBERS[:4, :, 0])
        assert np.array_equal(host(array), NUMBERS[:4, :, 0].astype(dtype))
        library.write(array, 0.0)
        assert not host(array).any()


def test_numbers_are_cast(library: Library, device: str) -> None:
    """They are cast to whole numbers and to truth values."""
    x = make_array(library.name, np.array([0.0, 1.0, 3.0]), device=device)
    assert host(library.cast(x, "int32")).tolist() == [0, 1, 3]
    assert host(library.cast(x, "bool")).tolist() == [False, True, True]
    assert host(library.cast(x, "int32")).dtype == np.int32


def test_results_are_arrays_of_the_library(library: Library) -> None:
    """The memory of `allocate` becomes an array of the library. If it already is one, it is the
    same object."""
    memory = library.allocate("cpu", False, (2, 2))
    result = library.wrap_result(memory)
    assert isinstance(result, library.array_type)
    assert (result is memory) == library.in_place


def test_only_differentiated_arrays_need_operations(library: Library, device: str) -> None:
    """JAX arrays always do, Torch tensors if a gradient is required, others never. On the CPU no
    stream is needed."""
    x = make_array(library.name, NUMBERS, device=device)
    assert library.functional(x) == (library.name == "jax")
    assert library.stream("cpu") is None
    if library.name == "torch":
        assert library.functional(x.requires_grad_())


def test_libraries_that_write_in_place_need_no_end_to_end() -> None:
    """Warp has no such operation, and its arrays are never functional."""
    with pytest.raises(NotImplementedError, match="warp arrays are written in place"):
        library_of(wp.zeros(2)).end_to_end([wp.zeros(2)], (2,))


def test_an_incomplete_library_cannot_be_created() -> None:
    """The error lists the missing functions at once, not in the middle of a call."""

    class IncompleteLibrary(LikeNumpy):
        name, array_type = "unfinished", type(None)

    with pytest.raises(TypeError, match=r"allocate.*stack_values.*view"):
        IncompleteLibrary()  # type: ignore[abstract]


def test_dtypes_have_one_name_in_all_libraries() -> None:
    """It is "float32" for a class, an instance and the word."""
    words: list[Any] = [np.float32, np.dtype("float32"), wp.float32, "float32"]
    torch = pytest.importorskip("torch")
    assert {dtype_name(x) for x in (*words, torch.float32)} == {"float32"}


def test_the_error_for_a_wrong_dtype_names_the_conversion() -> None:
    """It also says which dtypes are accepted and which arrived. A parameter has its own name."""
    remedy = "for NumPy: {}.astype(np.float32)"
    message = "must be float32 or float64, got int64; convert it (for NumPy:"
    said = f"q {message} q.astype(np.float32))"
    assert str(wrong_dtype("q", "int64", remedy)) == said
    said = f"mass (params) {message} mass.astype(np.float32))"
    assert str(wrong_dtype("mass (params)", "int64", remedy)) == said


@pytest.mark.parametrize("layout", ["rows", "environments_last"])
def test_leading_dimensions_are_split_and_joined(
    library: Library, layout: str, device: str
) -> None:
    """(B, ..) becomes (T, E, ..) and back, without a copy if the library has views. An array
    without a single stride is copied when joined."""
    flat = np.arange(24.0).reshape(6, 4)
    array = make_array(library.name, flat, layout=layout, device=device)
    split = library.with_leading(array, 1, (2, 3))
    assert tuple(split.shape) == (2, 3, 4)
    assert np.array_equal(host(split), flat.reshape(2, 3, 4))
    back = library.with_leading(split, 2, (6,))
    assert np.array_equal(host(back), flat)
    if library.name in WRITABLE:
        assert library.view("x", split).address == library.view("x", array).address
        assert library.view("x", back) == library.view("x", array)
    turned = make_array(
        library.name, np.ascontiguousarray(flat.reshape(2, 3, 4).swapaxes(0, 1)), device=device
    )
    turned = turned.transpose((1, 0, 2)) if library.name != "torch" else turned.permute(1, 0, 2)
    assert np.array_equal(host(library.with_leading(turned, 2, (6,))), flat)


def test_rows_of_a_view_have_a_single_stride_or_none() -> None:
    """Dimensions of size one or zero are allowed."""
    x = np.zeros((4, 1, 6, 8))
    view = library_of(x).view
    assert rows_of(view("x", x), 3) == view("x", x.reshape(24, 8))
    assert rows_of(view("x", x[:, :, ::2, 1:3]), 3).strides == (16, 1)
    assert rows_of(view("x", x[::-1, :, ::-1]), 3).strides == (-8, 1)
    assert rows_of(view("x", x[:, :, :5]), 3) is None and rows_of(view("x", x[:, :, :5]), 1)
    assert rows_of(view("x", x.transpose(2, 1, 0, 3)), 3) is None
    assert rows_of(view("x", x[:, :, :0]), 3).shape == (0, 8)
    assert rows_of(view("x", x[:1, :, 2:3]), 3).shape == (1, 8)


@pytest.mark.parametrize("layout", ["rows", "environments_last"])
def test_picked_rows_equal_numpys_indexing(library: Library, layout: str, device: str) -> None:
    """The index is a number, a slice, whole numbers or a mask, of this library or NumPy's."""
    array = make_array(library.name, NUMBERS, layout=layout, device=device)
    mask = np.array([True, False, True, True, False])
    whole = np.array([4, -1, 0])
    for index in (2, -1, slice(1, 4), whole, whole[:0], mask):
        picked = library.rows(array, index)
        assert isinstance(picked, library.array_type)
        assert np.array_equal(host(picked), NUMBERS[index])
    if library.name == "torch":
        import torch

        assert np.array_equal(host(library.rows(array, torch.tensor(whole))), NUMBERS[whole])
    if library.name == "warp":
        assert np.array_equal(host(library.rows(array, wp.array(mask))), NUMBERS[mask])
    # JAX clips such an index. Torch's check on a GPU is an assertion in a kernel, after which the
    # process cannot use the GPU.
    if library.name != "jax" and not (library.name == "torch" and library.on_cuda(array)):
        with pytest.raises(IndexError):
            library.rows(array, np.array([5]))


@pytest.mark.parametrize("layout", ["rows", "environments_last"])
def test_replace_rows_writes_the_rows_of_the_mask(
    library: Library, layout: str, device: str
) -> None:
    """No other row changes. Libraries that can do it write in place."""
    array, fresh = (
        make_array(library.name, NUMBERS, layout=layout, device=device),
        make_array(library.name, -NUMBERS, device=device),
    )
    mask = np.array([True, False, True, True, False])
    result = library.replace_rows(array, mask, fresh)
    wanted = np.where(mask[:, None, None], -NUMBERS, NUMBERS)
    assert np.array_equal(host(result), wanted)
    assert (result is array) == library.in_place
    same = library.replace_rows(
        result, np.zeros(5, bool), make_array(library.name, NUMBERS, device=device)
    )
    assert np.array_equal(host(same), wanted)


def test_arrays_can_be_converted_to_another_dtype(library: Library, device: str) -> None:
    """The device and the order of memory do not change."""
    array = make_array(library.name, NUMBERS, layout="environments_last", device=device)
    small = library.move_to(array, "float32", "cpu")
    assert np.array_equal(host(small), NUMBERS.astype(np.float32))
    assert dtype_name(small.dtype) == "float32"
    if library.name != "jax":
        assert library.view("x", small).strides[0] == 1
    assert np.array_equal(host(library.move_to(small, "float64", None)), host(small))
    if library.name == "numpy":
        with pytest.raises(ValueError, match="numpy arrays are on the CPU, not on cuda:0"):
            library.move_to(array, "float32", "cuda:0")


def test_traced_arrays_cannot_be_read(library: Library, device: str) -> None:
    """All other arrays can."""
    array = make_array(library.name, NUMBERS, device=device)
    assert library.readable(array)
    seen: list[bool] = []

    def note(x: Any) -> Any:
        seen.append(library.readable(x))
        return x

    if library.name == "jax":
        import jax

        jax.jit(note)(array)
    elif library.name == "torch":
        import torch

        torch.vmap(note)(array)
    assert not any(seen)


@pytest.mark.parametrize("library", ["numpy", "torch", "warp"])
def test_rows_are_read_and_written_in_place(library: str, device: str) -> None:
    """Rows are chosen by index, mask or slice. Other rows do not change, and the memory is the
    same."""
    usable(library, device=device)
    values = np.arange(8.0).reshape(4, 2)
    for where in (np.array([2, 0]), np.array([True, False, True, False]), slice(None)):
        array = make_array(library, values, device=device)
        lib, before = library_of(array), views.view("array", array).address
        if not isinstance(where, slice):
            assert np.array_equal(host(lib.rows(array, where)), values[where])
        wanted = values.copy()
        wanted[where] = -1.0
        lib.assign(array, where, -1.0)
        assert np.array_equal(host(array), wanted)
        wanted[where] = wanted[where] * 3
        lib.assign(array, where, make_array(library, wanted[where], device=device))
        assert np.array_equal(host(array), wanted)
        assert views.view("array", array).address == before


def test_libraries_on_the_cpu_have_no_functions_for_devices() -> None:
    """The default `address` of a library raises an error, too."""
    library = library_of(np.zeros(1))
    assert not library.on_cuda(np.zeros(1))
    with pytest.raises(NotImplementedError, match=r"^numpy arrays are on the CPU$"):
        library.row_index(np.arange(2), np.zeros(1))
    with pytest.raises(NotImplementedError, match=r"^calls with numpy arrays are not remembered$"):
        Library.address(library, np.zeros(1))
