"""What an array library does for warpdyn: arrays, where they lie, and the functions of one library.

`libraries.py` says which library an array is of. A new library is a file with a class of these
functions; one whose module has NumPy's functions needs few of them (`LikeNumpy` of
numpy_arrays.py).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from .table_sums import summed

A = TypeVar("A", bound="Array[object]")
"""The kind of array that a function is given, and gives back: of whatever shape."""

Sliced_co = TypeVar("Sliced_co", covariant=True)
"""What a part of an array is: an array of the same library and dtype, of whatever shape."""


class Array(Protocol[Sliced_co]):
    """An array of any library that libraries.py knows: what all of them have.

    `Array[A]` is one whose parts are A. By this a type checker knows that functions of NumPy's
    arrays return NumPy's, without taking results to have the number of dimensions of an argument.
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
    """Memory of an array: all that a launch needs to know of it.

    `address` in bytes, of the entry whose indices are all zero. `strides` in elements, negative or
    zero as they may be. `single` for float32, not for float64. `device` as Warp names it: "cpu",
    "cuda:0". A view does not keep the memory alive; who launches keeps the array.
    """

    library: Library
    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    single: bool
    device: str


def rows_of(v: View, number: int) -> View | None:
    """The same memory with one dimension in the place of the first `number`; None where no single
    stride leads through them."""
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
    """Columns to join: (..., width), or (...) where `single`; plain numbers and lists too."""

    values: Any
    width: int
    single: bool


class Library(ABC):
    """The functions of one array library, made once.

    A call needs `view`, `allocate`, `environment_first`, `first_of` and `with_leading`, and
    `from_host` for plain numbers; the rest serves the oracle, coordinates by name, parameters that vary, groups and the
    command line.
    """

    name: str
    """As errors call it: "numpy"."""
    array_type: type | tuple[type, ...]
    """Type, or types, of its arrays."""
    edge: str | None = None
    """The name under which `execution/dispatch` finds how calls become operations that the library
    differentiates; None: it differentiates nothing."""
    native: bool = False
    """Its arrays are Torch tensors, which the C functions of `execution/repeat/native_call` can read."""
    in_place: bool = True
    """Arrays can be written where they lie; a result is the memory that its kernel wrote."""
    takes_numpy: bool = False
    """NumPy arrays in a call beside its own are converted, as its operations do."""

    @abstractmethod
    def view(self, name: str, array: Any) -> View:
        """Where one of the library's arrays lies; refuses, by `name`, what a kernel cannot read."""

    @abstractmethod
    def allocate(self, device: str, single: bool, shape: tuple[int, ...]) -> Any:
        """A new array in C order, its entries whatever the memory held."""

    @abstractmethod
    def environment_first(self, memory: Any, count: int) -> Any:
        """A (count, ...) array in the memory of (..., lead), entries beyond `count` left unused."""

    @abstractmethod
    def first_of(self, array: Any) -> Any:
        """The only environment of a (1, ...) array, in the same memory."""

    @abstractmethod
    def with_leading(self, array: Any, number: int, leading: tuple[int, ...]) -> Any:
        """The entries with dimensions `leading` in the place of the first `number`.

        A view where strides allow, as they do for one dimension split into several.
        """

    @abstractmethod
    def from_host(self, host: np.ndarray, device: str) -> Any:
        """NumPy's numbers as an array of this library on the device."""

    @abstractmethod
    def to_host(self, array: Any) -> np.ndarray:
        """An array's numbers in NumPy, whatever device it lies on."""

    @abstractmethod
    def write(self, array: Any, values: np.ndarray | float) -> None:
        """Set every entry of an array that `allocate` made, from NumPy's numbers or from one."""

    def assign(self, array: Any, where: Any, values: Any) -> None:
        """array[where] = values, in place: for rows by index, mask or slice, of this library's arrays
        or NumPy's."""
        mine = self.array_type
        host = self.to_host(array).copy()
        rows, new = (self.to_host(x) if isinstance(x, mine) else x for x in (where, values))
        host[rows] = new
        self.write(array, host)

    @abstractmethod
    def cast(self, array: Any, dtype: str) -> Any:
        """The numbers as "bool" or "int32"."""

    @abstractmethod
    def converted(self, values: Any, dtype: Any, like: Any) -> Any:
        """Any values in a dtype, on the device of `like`."""

    @abstractmethod
    def rows(self, array: Any, index: Any) -> Any:
        """array[index], by a number, a slice, or an array of whole numbers or a mask, of this
        library's or of NumPy's."""

    @abstractmethod
    def overwritten(self, array: Any, mask: Any, rows: Any) -> Any:
        """The array with those of `rows`, of its own kind, where a mask (B,), this library's or
        NumPy's, holds: in place where the library can write so."""

    @abstractmethod
    def moved(self, array: Any, dtype: str, device: Any) -> Any:
        """The numbers in a dtype, and on a device where one is named; environments that lie side by
        side in memory stay so."""

    @abstractmethod
    def entry(self, array: Any, k: int) -> Any:
        """array[..., k], a view where the library has views."""

    @abstractmethod
    def picked(self, array: Any, chosen: Sequence[int]) -> Any:
        """array[..., chosen], for columns in any order."""

    @abstractmethod
    def as_column(self, value: Any, like: Any, rows: tuple[int, ...]) -> Any:
        """(*rows, 1) of one number, or of an array of shape `rows` without a copy."""

    @abstractmethod
    def joined(self, parts: Sequence[Part], like: Any) -> Any:
        """The parts side by side in the dtype and on the device of `like`; None: float64."""

    @abstractmethod
    def stacked(
        self, values: Sequence[Any], shape: tuple[int, ...], count: int | None, dtype: Any
    ) -> Any:
        """(count, k, *shape) of k values of `shape` or (count, *shape); None: (k, *shape)."""

    def maker(self, device: str, single: bool, shape: tuple[int, ...]) -> Callable[[], Any]:
        """Makes arrays as `allocate` does, again and again."""
        return partial(self.allocate, device, single, shape)

    def resolved(self, array: Any) -> Any:
        """The array, or a copy where its memory does not hold its numbers: Torch's lazy views."""
        return array

    def sort(self, array: Any) -> tuple[Any, ...]:
        """All but the address that a launch depends on, the dtype first, for calls that are
        remembered; () where an array has to be looked at each time."""
        return ()

    def address(self, array: Any) -> int:
        """The first number's address, of an array that has a `sort`."""
        raise NotImplementedError(f"calls with {self.name} arrays are not remembered")

    def writable(self, arrays: Sequence[Any]) -> bool:
        """Whether numbers can be written into arrays that have a `sort`."""
        return True

    def differentiates(self, arrays: Sequence[Any]) -> bool:
        """Whether what is computed of arrays that have a `sort` is to have gradients by them."""
        return False

    def written(self, arrays: Sequence[Any]) -> None:  # noqa: B027 (most need not know)
        """Hear that a kernel has written the caller's arrays."""

    def at_rest(self) -> bool:
        """Whether nothing follows, at the moment, what operations the library carries out."""
        return True

    def summed_at(self, shares: Any, shape: tuple[int, ...], out: Any) -> Any:
        """A table of sums of (.., 3) shares, rows and columns (`table_sums`), in `out` unless that
        is None."""
        host = self.to_host(shares)
        total = summed(host, shape).astype(host.dtype)
        if out is None:
            return self.converted(total, host.dtype, shares)
        self.write(out, total)
        return out

    def end_to_end(self, arrays: Sequence[Any], shape: Sequence[int]) -> Any:
        """Rows of all arrays one after the other, widened with zeros to `shape`.

        Asked only of arrays that are `functional`; others are written into parts of one array.
        """
        raise NotImplementedError(f"{self.name} arrays are written in place")

    def functional(self, array: Any) -> bool:
        """Whether the library follows operations on this array, so that results must come from
        operations instead of being written in place."""
        return False

    def handed_back(self, result: Any) -> Any:
        """A result, in what `allocate` made, as the library's own array."""
        return result

    def readable(self, array: Any) -> bool:
        """Whether the numbers can be read now; not those of an array that is traced."""
        return True

    def stream(self, device: str) -> Any:
        """The CUDA stream that the library works on; None for Warp's own."""
        return None


def wrong_dtype(name: str, dtype: object, remedy: str) -> TypeError:
    return TypeError(f"{name} must be float32 or float64, got {dtype}; convert it ({remedy})")


def dtype_name(dtype: Any) -> str:
    """Name of a dtype of any library, such as "float32"; of the name itself, too."""
    return str(getattr(dtype, "__name__", str(dtype))).rpartition(".")[2]
