"""Rows of several arrays, written in one launch on their device.

Rows are chosen by a mask or by indices that lie on the device, so that nothing waits for it, and a
graph capture records the launch.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from math import prod
from typing import Any, NamedTuple

import warp as wp

from .protocol import View, rows_of

MOST = 16
"""Number of arrays of one launch."""

HEADER, FIELDS = 6, 8
"""Number of integers of a launch and of an array among its arguments."""

Arguments = wp.types.vector(length=HEADER + MOST * FIELDS, dtype=wp.int64)

ALL, MASK, NARROW, WIDE = range(4)
"""All rows; those where a mask holds; those of indices of 32 bits, or of 64 bits."""

SOURCE = """
typedef long long I64;
const I64 kind = args[0], rows = args[3], arrays = args[4];
const char* const chosen = (const char*)args[1] + number * args[2];
I64 row = number;
if (kind == 1 && !*(const bool*)chosen) return;
if (kind == 2) row = *(const int*)chosen;
if (kind == 3) row = *(const I64*)chosen;
if (row < 0 || row >= rows) return;
for (I64 k = 0; k < arrays; ++k) {{
  const I64 at = {header} + {fields} * k;
  {T}* const to = ({T}*)args[at] + row * args[at + 1];
  const {T}* from = (const {T}*)args[at + 4];
  if (from) from += (args[at + 7] ? number : row) * args[at + 5];
  for (I64 i = 0; i < args[at + 3]; ++i)
    to[i * args[at + 2]] = from ? from[i * args[at + 6]] : ({T})0;
}}
"""
"""C++ of one thread: it writes a row of each array. `number` counts the chosen rows, or all."""


class RowWrite(NamedTuple):
    """An array and the values of its rows."""

    array: View
    """(B, ...)"""
    values: View | None
    """(...) for one row that serves all, or (B, ...), or (n, ...) for n chosen rows; None: zeros."""
    of_chosen: bool = False
    """True if `values` has a row for each chosen row, in their order."""


def write_rows(writes: Sequence[RowWrite], where: wp.array | None, stream: Any = None) -> None:
    """Write rows of arrays of one dtype and one number of rows.

    where: a mask, or indices; None: all rows. Indices that are not rows are left out.
    """
    first = writes[0].array
    if where is None:
        kind, chosen, stride, count = ALL, 0, 0, first.shape[0]
    else:
        kinds: dict[Any, int] = {wp.bool: MASK, wp.uint8: MASK, wp.int32: NARROW, wp.int64: WIDE}
        kind, chosen, stride = kinds[where.dtype], where.ptr or 0, where.strides[0]
        count = where.shape[0]
    for start in range(0, len(writes), MOST):
        some = writes[start : start + MOST]
        fields = [number for each in some for number in _fields(each)]
        unused = [0] * (MOST * FIELDS - len(fields))
        header = (kind, chosen, stride, first.shape[0], len(some), 0)
        wp.launch(
            _kernel(first.single),
            dim=count,
            inputs=[Arguments(*header, *fields, *unused)],
            device=first.device,
            stream=stream,
        )


def can_write(write: RowWrite) -> bool:
    """True if one stride leads through the entries of a row, in the array and in its values."""
    trailing = write.array.shape[1:]
    views = (write.array,) if write.values is None else (write.array, write.values)
    return all(_entries(v, trailing) is not None for v in views)


def _fields(write: RowWrite) -> tuple[int, ...]:
    array, values, of_chosen = write
    trailing = array.shape[1:]
    entries, step = _strides(array, trailing)
    if values is None:
        return (array.address, array.strides[0], step, entries, 0, 0, 0, 0)
    row = values.strides[0] if len(values.shape) > len(trailing) else 0
    _, values_step = _strides(values, trailing)
    target = (array.address, array.strides[0], step, entries)
    return (*target, values.address, row, values_step, int(of_chosen))


def _strides(view: View, trailing: tuple[int, ...]) -> tuple[int, int]:
    found = _entries(view, trailing)
    if found is None:
        raise ValueError(f"no single stride leads through rows {trailing}, strides {view.strides}")
    return prod(trailing), found


def _entries(view: View, trailing: tuple[int, ...]) -> int | None:
    """The stride through the entries of a row; None if there is none."""
    strides = view.strides[len(view.strides) - len(trailing) :]
    row = rows_of(view._replace(shape=trailing, strides=strides), len(trailing))
    return None if row is None else row.strides[0]


@cache
def _kernel(single: bool) -> wp.Kernel:
    source = SOURCE.format(T="float" if single else "double", header=HEADER, fields=FIELDS)

    @wp.func_native(snippet=source)
    def write_row(args: Arguments, number: int) -> None: ...  # type: ignore[valid-type]

    @wp.kernel(module="unique", enable_backward=False)
    def write_chosen_rows(args: Arguments) -> None:  # type: ignore[valid-type]
        write_row(args, wp.tid())

    return write_chosen_rows
