"""The interface of an array library: types of arrays, their memory, and the functions of one
library.

`libraries.py` finds the library of an array. A new library is a file with a class of these
functions. A library whose module has NumPy's functions needs few of them (`LikeNumpy` of
numpy_arrays.py).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from .table_sums import sum_into_table

A = TypeVar("A", bound="Array[object]")
"""The kind of array that a function receives and returns, of any shape."""

Sliced_co = TypeVar("Sliced_co", covariant=True)
"""The type of a part of an array: an array of the same library and dtype, of any shape."""


class Array(Protocol[Sliced_co]):
    """An array of any library that libraries.py knows: the attributes that all of them have.

    `Array[A]` is one whose parts are A. With it a type checker infers that functions of NumPy
    arrays return NumPy arrays, without assuming that results have as many dimensions as an
    argument.
    """

    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def ndim(self) -> int: ...
    @property
    def dtype(self) -> Any: ...
    def __getitem__(self, key: slice | tuple[slice, ...], /) -> Sliced_co: ...
    def __array__(self) -> np.ndarray: ...


class View(NamedTuple):
    """Memory of an array: everything that a launch needs.

    `address` in bytes, of the entry whose indices are all zero. `strides` in elements, which may be
    negative or zero. `single` is true for float32 and false for float64. `device` in Warp's
    notation: "cpu", "cuda:0". A view does not keep the memory alive; the launching code keeps the
    array.
    """

    library: Library
    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    single: bool
    device: str


def rows_of(v: View, number: int) -> View | None:
    """The same memory with one dimension in place of the first `number`; None if no single
    stride covers them."""
    count, stride = 1, 0
    for size, step in zip(reversed(v.shape[:number]), reversed(v.strides[:number]), strict=True):
        if size == 0:
            count, stride = 0, 0
            break
        if size == 1:
            continue
        if count == 1:
            stride = step
        elif step != stride * count:
            return None
        count *= size
    shape, strides = (count, *v.shape[number:]), (stride, *v.strides[number:])
    return v._replace(shape=shape, strides=strides)


class Part(NamedTuple):
    """Columns to join: (..., width), or (...) if `single`; plain numbers and lists too."""

    values: Any
    width: int
    single: bool


class Library(ABC):
    """The functions of one array library, as a single instance.

    A call needs `view`, `allocate`, `environment_first`, `first_of` and `with_leading`, and
    `from_host` for plain numbers. The other functions serve the oracle, coordinates by name,
    parameters that vary, groups and the command line.
    """

    name: str
    """Its name in errors: "numpy"."""
    array_type: type | tuple[type, ...]
    """The type, or types, of its arrays."""
    edge: str | None = None
    """The name under which `execution/dispatch` finds the module that turns calls into operations
    that the library differentiates; None if it differentiates nothing."""
    native: bool = False
    """True if its arrays are Torch tensors, which the C functions of `execution/repeat/native_call`
    can read."""
    in_place: bool = True
    """True if arrays can be written in place: a result is then the memory that its kernel wrote."""
    own_streams: bool = False
    """True if the library uses its own CUDA streams instead of Warp's."""
    takes_numpy: bool = False
    """True if NumPy arrays in a call with the library's own arrays are converted, as its operations
    do."""

    @abstractmethod
    def view(self, name: str, array: Any) -> View:
        """The memory of one of the library's arrays. An array that a kernel cannot read is refused
        under its `name`."""

    @abstractmethod
    def allocate(self, device: str, single: bool, shape: tuple[int, ...]) -> Any:
        """A new array in C order, with undefined entries."""

    @abstractmethod
    def environment_first(self, memory: Any, count: int) -> Any:
        """A (count, ...) array in the memory of (..., lead); entries beyond `count` stay unused."""

    @abstractmethod
    def first_of(self, array: Any) -> Any:
        """The only environment of a (1, ...) array, in the same memory."""

    @abstractmethod
    def with_leading(self, array: Any, number: int, leading: tuple[int, ...]) -> Any:
        """The entries with the dimensions `leading` in place of the first `number`.

        A view if strides allow it, as for one dimension that is split into several.
        """

    @abstractmethod
    def from_host(self, host: np.ndarray, device: str) -> Any:
        """A NumPy array as an array of this library on the device."""

    @abstractmethod
    def to_host(self, array: Any) -> np.ndarray:
        """An array's numbers in NumPy, from any device."""

    @abstractmethod
    def write(self, array: Any, values: np.ndarray | float) -> None:
        """Set every entry of an array that `allocate` made, from NumPy's numbers or from one."""

    def assign(self, array: Any, where: Any, values: Any) -> None:
        """Set array[where] = values in place, for rows by index, mask or slice; `where` is an array
        of this library or of NumPy."""
        mine = self.array_type
        host = self.to_host(array).copy()
        rows, new = (self.to_host(x) if isinstance(x, mine) else x for x in (where, values))
        host[rows] = new
        self.write(array, host)

    @abstractmethod
    def cast(self, array: Any, dtype: str) -> Any:
        """The numbers as "bool" or "int32"."""

    @abstractmethod
    def convert_like(self, values: Any, dtype: Any, like: Any) -> Any:
        """Any values in a dtype, on the device of `like`."""

    @abstractmethod
    def rows(self, array: Any, index: Any) -> Any:
        """array[index], by a number, a slice, or an array of integers or a mask, of this
        library or of NumPy."""

    @abstractmethod
    def replace_rows(self, array: Any, mask: Any, rows: Any) -> Any:
        """The array with the rows of `rows`, an array of this library, where a mask (B,) of this
        library or of NumPy is true. It is written in place if the library can do so."""

    @abstractmethod
    def move_to(self, array: Any, dtype: str, device: Any) -> Any:
        """The numbers in a dtype, and on a device if one is named. Environments that lie side by
        side in memory stay so."""

    @abstractmethod
    def entry(self, array: Any, k: int) -> Any:
        """array[..., k], a view if the library has views."""

    @abstractmethod
    def pick_columns(self, array: Any, chosen: Sequence[int]) -> Any:
        """array[..., chosen], for columns in any order."""

    @abstractmethod
    def as_column(self, value: Any, like: Any, rows: tuple[int, ...]) -> Any:
        """(*rows, 1) of an array of shape `rows`, or of one without dimensions, without a copy."""

    @abstractmethod
    def join_columns(self, parts: Sequence[Part], like: Any) -> Any:
        """The parts side by side in the dtype and on the device of `like`; None: float64."""

    @abstractmethod
    def stack_values(
        self, values: Sequence[Any], shape: tuple[int, ...], count: int | None, dtype: Any
    ) -> Any:
        """(count, k, *shape) from k values of `shape` or (count, *shape); (k, *shape) if `count` is
        None."""

    def maker(self, device: str, single: bool, shape: tuple[int, ...]) -> Callable[[], Any]:
        """A function that makes arrays like `allocate`, for repeated calls."""
        return partial(self.allocate, device, single, shape)

    def resolve_lazy_view(self, array: Any) -> Any:
        """The array, or a copy if its memory does not hold its numbers, as for Torch's lazy
        views."""
        return array

    def sort(self, array: Any) -> tuple[Any, ...]:
        """Everything that a launch depends on except for the address, the dtype first, for
        remembered calls; () if an array has to be examined each time."""
        return ()

    def address(self, array: Any) -> int:
        """The first number's address, for an array that has a `sort`."""
        raise NotImplementedError(f"calls with {self.name} arrays are not remembered")

    def hold(self, array: Any) -> Any:
        """An object that keeps the array's memory where it is, for a bound call."""
        return array

    def writable(self, arrays: Sequence[Any]) -> bool:
        """True if arrays that have a `sort` can be written."""
        return True

    def differentiates(self, arrays: Sequence[Any]) -> bool:
        """True if results computed from arrays that have a `sort` need gradients by them."""
        return False

    def mark_written(self, arrays: Sequence[Any]) -> None:  # noqa: B027 (most libraries need not know)
        """Tell the library that a kernel has written the caller's arrays."""

    def at_rest(self) -> bool:
        """True if nothing (such as a tracer) is currently recording the library's operations."""
        return True

    def sum_into_table(self, shares: Any, shape: tuple[int, ...], out: Any) -> Any:
        """A table of sums of (.., 3) shares, rows and columns (`table_sums`), in `out` if it is
        given."""
        host = self.to_host(shares)
        total = sum_into_table(host, shape).astype(host.dtype)
        if out is None:
            return self.convert_like(total, host.dtype, shares)
        self.write(out, total)
        return out

    def end_to_end(self, arrays: Sequence[Any], shape: Sequence[int]) -> Any:
        """Rows of all arrays one after the other, widened with zeros to `shape`.

        Called only for `functional` arrays; other arrays are written into parts of one array.
        """
        raise NotImplementedError(f"{self.name} arrays are written in place")

    def functional(self, array: Any) -> bool:
        """True if the library records operations on this array, so that results must come from
        operations instead of being written in place."""
        return False

    def wrap_result(self, result: Any) -> Any:
        """A result, in memory that `allocate` made, as the library's own array."""
        return result

    def readable(self, array: Any) -> bool:
        """True if the numbers can be read now; False for an array that is traced."""
        return True

    def on_cuda(self, array: Any) -> bool:
        """True if the array lies on a CUDA device. A launch on it passes plain numbers by value."""
        return False

    def row_index(self, where: Any, like: Any) -> Any:
        """A mask (B,) or indices (n,), of this library or of NumPy, as a Warp array on the CUDA device
        of `like`, for `row_writes`."""
        raise NotImplementedError(f"{self.name} arrays are on the CPU")

    def finish(self, array: Any) -> None:  # noqa: B027 (on the CPU nothing is asynchronous)
        """Wait until a new array holds its numbers, so that calls on any stream may read it."""

    def stream(self, device: str) -> Any:
        """The CUDA stream that the library currently uses; None for Warp's own."""
        return None


def wrong_dtype(name: str, dtype: object, remedy: str) -> TypeError:
    """The error for an argument of another dtype. The remedy is a line with {} for the variable."""
    line = remedy.format(variable(name))
    return TypeError(f"{name} must be float32 or float64, got {dtype}; convert it ({line})")


def variable(name: str) -> str:
    """The variable of an argument, for a line of code in an error: "mass" for "mass (params)"."""
    return name.partition(" (")[0]


def dtype_name(dtype: Any) -> str:
    """Name of a dtype of any library, such as "float32"; a name is returned as it is."""
    return str(getattr(dtype, "__name__", str(dtype))).rpartition(".")[2]
