"""NumPy arrays, and a class for all libraries with NumPy's functions."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Sequence
from functools import partial
from math import prod
from typing import Any

import numpy as np

from . import layout
from .protocol import Library, Part, View, variable, wrong_dtype
from .reused_memory import MEMORY, REUSED_FROM

SINGLE, DOUBLE = np.dtype(np.float32), np.dtype(np.float64)
_SIZES = {SINGLE: 4, DOUBLE: 8}


def _address_by_interface(array: np.ndarray) -> int:
    """The address from NumPy's interface, in 3 us."""
    address: int = array.__array_interface__["data"][0]
    return address


def _address_by_object(array: np.ndarray) -> int:
    """The address read from CPython's object, directly after the object header, in 0.3 us."""
    return _word(id(array) + _HEAD).value


_word, _HEAD = ctypes.c_ssize_t.from_address, object.__basicsize__
_address = _address_by_interface
if sys.implementation.name == "cpython":
    _probes = np.zeros((3, 5)), np.zeros(7, np.float32)[2::2]
    if all(_address_by_object(x) == _address_by_interface(x) for x in _probes):
        _address = _address_by_object


def check_unmasked(name: str, array: Any) -> Any:
    """The array itself. An array with masked entries is refused, because their values are
    meaningless."""
    if type(array) is np.ndarray:  # without importing numpy.ma, which takes 20 ms
        return array
    if isinstance(array, np.ma.MaskedArray) and np.ma.is_masked(array):
        number = int(np.ma.getmaskarray(array).sum())
        raise TypeError(
            f"{name} is a masked array with {number} masked entries, which no "
            f"kernel leaves out; pass {variable(name)}.filled(value), or "
            f"{variable(name)}.data for the numbers as they are"
        )
    return array


class LikeNumpy(Library):
    """A library whose module has NumPy's functions, and whose arrays are indexed like NumPy's."""

    operations: Any
    """The module with these functions."""

    def environment_first(self, memory: Any, count: int) -> Any:
        last = memory.ndim - 1
        return memory[..., :count].transpose(last, *range(last))

    def first_of(self, array: Any) -> Any:
        return array[0, ...]  # an array, even if no dimension is left

    def with_leading(self, array: Any, number: int, leading: tuple[int, ...]) -> Any:
        return array.reshape((*leading, *array.shape[number:]))

    def from_host(self, host: np.ndarray, device: str) -> Any:
        return self.operations.asarray(host)

    def to_host(self, array: Any) -> np.ndarray:
        return np.asarray(check_unmasked("an array", array))

    def write(self, array: Any, values: np.ndarray | float) -> None:
        array[...] = values

    def assign(self, array: Any, where: Any, values: Any) -> None:
        array[where] = check_unmasked("an array", values)

    def cast(self, array: Any, dtype: str) -> Any:
        return array.astype(dtype)

    def entry(self, array: Any, k: int) -> Any:
        return array[..., k]

    def pick_columns(self, array: Any, chosen: Sequence[int]) -> Any:
        return array[..., list(chosen)]

    def convert_like(self, values: Any, dtype: Any, like: Any) -> Any:
        return self.operations.asarray(values, dtype=dtype)

    def rows(self, array: Any, index: Any) -> Any:
        if isinstance(index, (int, slice)):
            return array[index]
        if index.dtype == bool:
            (index,) = self.operations.nonzero(index)
        # Picked along the last dimension, so that environments lie side by side.
        moveaxis = self.operations.moveaxis
        return moveaxis(self.operations.take(moveaxis(array, 0, -1), index, -1), -1, 0)

    def replace_rows(self, array: Any, mask: Any, rows: Any) -> Any:
        mask = self.operations.asarray(mask).reshape(-1, *[1] * (array.ndim - 1))
        array[...] = self.operations.where(mask, rows, array)
        return array

    def move_to(self, array: Any, dtype: str, device: Any) -> Any:
        if device is not None and str(device) != "cpu":
            raise ValueError(
                f"{self.name} arrays are on the CPU, not on {device}; "
                "pass like= an array on that device"
            )
        return array.astype(dtype, copy=False)

    def as_column(self, value: Any, like: Any, rows: tuple[int, ...]) -> Any:
        if value.ndim == 0:
            number = self.convert_like(value, like.dtype, like)
            value = self.operations.broadcast_to(number, rows)
        return value[..., None]

    def join_columns(self, parts: Sequence[Part], like: Any) -> Any:
        dtype = np.float64 if like is None else like.dtype
        blocks = [self.convert_like(part.values, dtype, like) for part in parts]
        blocks = [x[..., None] if p.single else x for x, p in zip(blocks, parts, strict=True)]
        lead = np.broadcast_shapes(*(tuple(x.shape[:-1]) for x in blocks))
        spread = self.operations.broadcast_to
        whole = [spread(x, (*lead, p.width)) for x, p in zip(blocks, parts, strict=True)]
        return self.operations.concatenate(whole, -1)

    def pad_with_zeros(self, array: Any, more: Sequence[int]) -> Any:
        """An array with `more` zeros after the last entry of each dimension."""
        return self.operations.pad(array, [(0, n) for n in more])

    def end_to_end(self, arrays: Sequence[Any], shape: Sequence[int]) -> Any:
        missing = [[b - a for a, b in zip(x.shape[1:], shape, strict=True)] for x in arrays]
        wide = [self.pad_with_zeros(x, [0, *more]) for x, more in zip(arrays, missing, strict=True)]
        return self.operations.concatenate(wide)


class NumpyArrays(LikeNumpy):
    """NumPy, the library of plain numbers and lists too."""

    name = "numpy"
    array_type: type | tuple[type, ...] = np.ndarray
    operations = np

    def view(self, name: str, array: np.ndarray) -> View:
        dtype = array.dtype
        size = _SIZES.get(dtype)
        if size is None:
            raise wrong_dtype(name, dtype, "for NumPy: {}.astype(np.float32)")
        if type(array) is not np.ndarray:
            check_unmasked(name, array)
        address = _address(array)
        strides = array.strides
        together = address  # their low bits combined
        for stride in strides:
            together |= stride
        if together & (size - 1):
            raise ValueError(
                f"{name} is not aligned to whole {dtype} elements "
                "(a field of a structured array?); pass a copy"
            )
        across = tuple(map(size.__rfloordiv__, strides))  # whole: checked above
        return View(self, address, array.shape, across, size == 4, "cpu")

    def maker(self, device: str, single: bool, shape: tuple[int, ...]) -> Callable[[], Any]:
        if prod(shape) < layout.ALIGNED_FROM:
            return partial(np.empty, shape, SINGLE if single else DOUBLE)
        return super().maker(device, single, shape)

    def sort(self, array: np.ndarray) -> tuple[Any, ...]:
        if type(array) is not np.ndarray and isinstance(array, np.ma.MaskedArray):
            return ()  # its mask is checked each time
        return array.dtype, array.shape, array.strides

    def address(self, array: np.ndarray) -> int:
        return _address(array)

    def writable(self, arrays: Sequence[np.ndarray]) -> bool:
        for x in arrays:  # noqa: SIM110 (takes half the time)
            if not x.flags.writeable:
                return False
        return True

    def allocate(self, device: str, single: bool, shape: tuple[int, ...]) -> np.ndarray:
        dtype, entries = SINGLE if single else DOUBLE, prod(shape)
        if entries < layout.ALIGNED_FROM:
            return np.empty(shape, dtype)
        size = entries * dtype.itemsize
        if size >= REUSED_FROM:
            return MEMORY.array(shape, dtype)
        raw = np.empty(size + layout.ALIGNMENT, np.uint8)
        start = -_address(raw) % layout.ALIGNMENT
        return np.ndarray(shape, dtype, raw, start)

    def stack_values(
        self, values: Sequence[Any], shape: tuple[int, ...], count: int | None, dtype: Any
    ) -> Any:
        arrays = [np.asarray(check_unmasked("an array", x), dtype=dtype) for x in values]
        if count is None:
            return np.stack(arrays, 0)
        lead = layout.padded_count(count, np.dtype(dtype).itemsize == 4)
        result = self.environment_first(np.empty((len(values), *shape, lead), dtype), count)
        for k, x in enumerate(arrays):
            result[:, k] = x
        return result


LIBRARY = NumpyArrays()
