"""Warp arrays. They have at least one dimension and cannot be broadcast, so parts are copied into
place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import accumulate
from operator import mul
from typing import Any, cast

import numpy as np
import warp as wp
from warp._src import context

from . import layout
from .protocol import Library, Part, View, dtype_name, rows_of, wrong_dtype
from .row_writes import RowWrite, can_write, write_rows


def find_device(device: Any) -> wp.Device:
    """Warp's device with this name; ValueError lists the devices."""
    try:
        return wp.get_device(str(device))
    except Exception:  # Warp raises several kinds, depending on the error in the name
        devices = [each.alias for each in wp.get_devices()]
        gpu = "" if len(devices) > 1 else "; Warp found no CUDA device: nvidia-smi should list one"
        raise ValueError(
            f"there is no device {str(device)!r} here, only {', '.join(devices)}{gpu}"
        ) from None


DIMENSIONS = 4
"""Largest number of dimensions in Warp."""

DTYPES = {"float32": wp.float32, "float64": wp.float64}


class WarpArrays(Library):
    """Warp, on the CPU and on CUDA devices."""

    name, array_type = "warp", wp.array
    edge = "warp"

    def view(self, name: str, array: Any) -> View:
        if array.dtype not in (wp.float32, wp.float64):
            kind = getattr(array.dtype, "__name__", array.dtype)
            raise wrong_dtype(name, kind, "wp.array({}.numpy(), dtype=wp.float32)")
        size = 4 if array.dtype is wp.float32 else 8
        strides = tuple([s // size for s in array.strides])
        return View(self, array.ptr or 0, array.shape, strides, size == 4, array.device.alias)

    def sort(self, array: wp.array) -> tuple[Any, ...]:
        if not array.device.is_cuda:  # type: ignore[union-attr]
            return ()
        return array.dtype, array.shape, array.strides, array.device.ordinal  # type: ignore[union-attr]

    def address(self, array: wp.array) -> int:
        return array.ptr or 0

    def at_rest(self) -> bool:
        return getattr(context.runtime, "tape", None) is None

    def allocate(self, device: str, single: bool, shape: tuple[int, ...]) -> wp.array:
        return wp.empty(shape, dtype=wp.float32 if single else wp.float64, device=device)

    def maker(self, device: str, single: bool, shape: tuple[int, ...]) -> Callable[[], wp.array]:
        # Without Warp's wrapper function, which would double the time.
        kind, make = (wp.float32 if single else wp.float64), cast(Callable[..., wp.array], wp.array)
        return partial(make, shape=shape, dtype=kind, device=wp.get_device(device))

    def environment_first(self, memory: wp.array, count: int) -> wp.array:
        *strides, size = memory.strides
        return _view_as(memory, (count, *memory.shape[:-1]), (size, *strides))

    def first_of(self, array: wp.array) -> wp.array:
        return array if array.ndim == 1 else array[0]

    def with_leading(self, array: wp.array, number: int, leading: tuple[int, ...]) -> wp.array:
        shape = (*leading, *array.shape[number:])
        if len(shape) > DIMENSIONS:
            raise ValueError(
                f"Warp arrays have at most {DIMENSIONS} dimensions; this one would be {shape}: "
                "give the call fewer leading dimensions"
            )
        v = self.view("an array", array)
        rows = rows_of(v, number)
        if rows is None:
            return self.with_leading(array.contiguous(), number, leading)
        size = 4 if v.single else 8
        steps = [*accumulate(reversed(leading[1:]), mul, initial=rows.strides[0])]
        strides = (*reversed(steps), *rows.strides[1:])
        return _view_as(array, shape, tuple([n * size for n in strides]))

    def from_host(self, host: np.ndarray, device: str) -> wp.array:
        return copied_from_host(host, DTYPES[str(host.dtype)], device)

    def to_host(self, array: wp.array) -> np.ndarray:
        return array.numpy()

    def write(self, array: wp.array, values: np.ndarray | float) -> None:
        if isinstance(values, np.ndarray):
            wp.copy(array, copied_from_host(values, array.dtype, array.device))
        else:
            array.fill_(values)

    def cast(self, array: wp.array, dtype: str) -> wp.array:
        result = wp.empty(array.shape, dtype=getattr(wp, dtype), device=array.device)
        wp.utils.array_cast(array, result)
        return result

    def convert_like(self, values: Any, dtype: Any, like: Any) -> wp.array:
        host = values.numpy() if isinstance(values, wp.array) else values
        return copied_from_host(host, DTYPES[dtype_name(dtype)], like.device)

    def rows(self, array: wp.array, index: Any) -> wp.array:
        if isinstance(index, slice):
            return array[index]
        if isinstance(index, int):
            return array[range(array.shape[0])[index]]
        chosen = self._row_indices(index, array)
        result = self._side_by_side((len(chosen), *array.shape[1:]), array.dtype, array.device)
        wp.copy(result, array[chosen])
        return result

    def assign(self, array: wp.array, where: Any, values: Any) -> None:
        if not (self.on_cuda(array) and isinstance(where, slice) and where == slice(None)):
            super().assign(array, where, values)
            return
        # Without a copy to the host and back, which would wait for the device.
        if isinstance(values, wp.array):
            values = self.move_to(values, array.dtype.__name__, array.device)
        else:
            values = self.convert_like(np.broadcast_to(values, array.shape), array.dtype, array)
        write_rows([RowWrite(self.view("array", array), self.view("values", values))], None)

    def replace_rows(self, array: wp.array, mask: Any, rows: wp.array) -> wp.array:
        if self.on_cuda(array):
            write = RowWrite(self.view("array", array), self.view("rows", rows))
            if can_write(write):
                write_rows([write], self.row_index(mask, array))
                return array
        chosen = self._row_indices(mask, array)
        if len(chosen):
            wp.copy(array[chosen], rows[chosen])
        return array

    def move_to(self, array: wp.array, dtype: str, device: Any) -> wp.array:
        where, kind = find_device(device or array.device), DTYPES[dtype]
        if array.dtype is not kind:
            wide = self._side_by_side(array.shape, kind, array.device)
            wp.utils.array_cast(array, wide)
            array = wide
        if where == array.device:
            return array
        result = self._side_by_side(array.shape, kind, where)
        wp.copy(result, array)
        return result

    def _row_indices(self, index: Any, array: wp.array) -> wp.array:
        """Indices of rows, from integers or a mask. They are checked, because Warp itself checks no
        bounds."""
        host = np.asarray(index.numpy() if isinstance(index, wp.array) else index)
        count = array.shape[0]
        host = np.arange(count)[host]
        return copied_from_host(host, wp.int32, array.device)

    def _side_by_side(self, shape: tuple[int, ...], kind: Any, device: Any) -> wp.array:
        """A new array of rows that lie side by side."""
        lead = layout.padded_count(shape[0], kind is wp.float32)
        memory = wp.empty((*shape[1:], lead), dtype=kind, device=device)
        return self.environment_first(memory, shape[0])

    def on_cuda(self, array: wp.array) -> bool:
        return bool(array.device.is_cuda)  # type: ignore[union-attr]

    def row_index(self, where: Any, like: wp.array) -> wp.array:
        if isinstance(where, np.ndarray):
            kind = wp.bool if where.dtype == bool else wp.int64
            return copied_from_host(where, kind, like.device)
        return where if where.device == like.device else where.to(like.device)

    def finish(self, array: wp.array) -> None:
        if self.on_cuda(array):
            wp.synchronize_stream(array.device.stream)  # type: ignore[union-attr]

    def entry(self, array: wp.array, k: int) -> wp.array:
        """array[..., k]; of a vector a view of one entry."""
        return array[k : k + 1] if array.ndim == 1 else array[_last_axis_index(array, k)]

    def pick_columns(self, array: wp.array, chosen: Sequence[int]) -> wp.array:
        columns = [array[_last_axis_index(array, slice(k, k + 1))] for k in chosen]
        return self.join_columns([Part(column, 1, False) for column in columns], array)

    def as_column(self, value: Any, like: Any, rows: tuple[int, ...]) -> wp.array:
        size = value.strides[-1]
        return _view_as(value, (*rows, 1), (size, size)[-len(rows) - 1 :])

    def join_columns(self, parts: Sequence[Part], like: wp.array) -> wp.array:
        mine = [p for p in parts if isinstance(p.values, wp.array)]
        leads = [tuple(x.shape if single else x.shape[:-1]) for x, _, single in mine]
        if () in leads:  # one robot, whose single coordinates are vectors of one entry
            leads = [() if shape == (1,) else shape for shape in leads]
        lead = leads[0]
        if any(shape != lead for shape in leads):
            raise ValueError(
                "Warp arrays are not broadcast; "
                f"their leading dimensions must be the same, got {leads}"
            )
        width = sum(part.width for part in parts)
        out = wp.empty((*lead, width), dtype=like.dtype, device=like.device)
        start = 0
        for values, width, single in parts:
            if not isinstance(values, wp.array) or (single and values.ndim == 0):
                # plain numbers, which NumPy broadcasts
                block = np.asarray(values, dtype=float)
                block = np.broadcast_to(block[..., None] if single else block, (*lead, width))
                values, single = copied_from_host(block, like.dtype, like.device), False
            columns = out[_last_axis_index(out, slice(start, start + width))]
            wp.copy(self.entry(out, start) if single else columns, values)
            start += width
        return out

    def stack_values(
        self, values: Sequence[Any], shape: tuple[int, ...], count: int | None, dtype: Any
    ) -> wp.array:
        kind = DTYPES[dtype_name(dtype)]
        device = next(x.device for x in values if isinstance(x, wp.array))
        if count is None:
            rows = [x.numpy() if isinstance(x, wp.array) else x for x in values]
            return copied_from_host(np.stack(rows), kind, device)
        lead = layout.padded_count(count, kind is wp.float32)
        memory = wp.zeros((len(values), *shape, lead), dtype=kind, device=device)
        result = self.environment_first(memory, count)
        for k, x in enumerate(values):
            if not isinstance(x, wp.array) or x.shape == shape:  # NumPy broadcasts it
                single = x.numpy() if isinstance(x, wp.array) else x
                block = np.broadcast_to(np.asarray(single, dtype=float), (count, *shape))
                x = copied_from_host(block, kind, device)
            wp.copy(result[:, k], x if x.dtype is kind else self.cast(x, kind.__name__))
        return result


def copied_from_host(values: Any, dtype: Any, device: Any) -> wp.array:
    """Numbers of the host as an array on the device. Refused in a graph capture: it would record
    the copy, and each replay would read host memory that has been freed."""
    where = wp.get_device(device)
    if where.is_cuda and where.is_capturing:
        raise RuntimeError(
            f"numbers of the host cannot be copied to {where} while a graph is captured: the graph "
            "would copy them again at each replay, after they are freed; make the arrays, or bind the "
            "call, before the capture"
        )
    return wp.array(values, dtype=dtype, device=where)


def _last_axis_index(array: wp.array, index: Any) -> tuple[Any, ...]:
    """The index for `array[..., index]`, because Warp has no ellipsis."""
    return (*[slice(None)] * (array.ndim - 1), index)


def _view_as(memory: wp.array, shape: tuple[int, ...], strides: tuple[int, ...]) -> wp.array:
    """A view of the memory with another shape, strides in bytes; the view keeps the memory
    alive."""
    return wp.array(
        ptr=memory.ptr,
        shape=shape,
        strides=strides,
        dtype=memory.dtype,
        device=memory.device,
        deleter=_keep_alive(memory),
    )


def _keep_alive(memory: Any) -> Callable[..., None]:
    """A deleter that keeps the memory's owner alive as long as the view."""

    def deleter(pointer: int, size: int, owner: Any = memory) -> None:
        del owner

    return deleter


LIBRARY = WarpArrays()
