"""Checks of a result's memory: entries that share memory with each other or with another array."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from .libraries import titles
from .protocol import Array, View


def check_writable(out: Array, v: View) -> None:
    """Refuse an `out` that cannot be written, or whose entries share memory."""
    if not v.library.in_place:
        raise TypeError(
            f"{titles[v.library.name]} arrays cannot be written in place; "
            "leave out out= and use the result"
        )
    if isinstance(out, np.ndarray) and not out.flags.writeable:
        raise ValueError("out is read-only; pass a writable array")
    # Innermost dimension first: a step must reach beyond the extent of the dimensions so far.
    reach = 0
    for stride, size in sorted(zip(map(abs, v.strides), v.shape, strict=True)):
        if size > 1 and stride <= reach and 0 not in v.shape:
            what = "a broadcast dimension (stride 0)" if stride == 0 else "rows that overlap"
            raise ValueError(f"out has {what}: its entries share memory; pass a separate array")
        reach += (size - 1) * stride


Extent = tuple[int, int]
"""The address of an array's first byte and of the byte after its last."""


def find_overlap(
    v: View,
    others: Mapping[str, View],
    extents: dict[str, Extent] | None = None,
    own: Extent | None = None,
) -> str | None:
    """Name of the first of the other arrays that may share memory; interleaved parts of one array
    do not count.

    extents: of the other arrays by name, to be computed once for many calls; missing ones are added.
    own: the extent of `v`.

    Two arrays are separate if their extents are, or if the rows of each lie between those of the
    other: columns of one array, or alternating rows.
    """
    low, high = extent(v) if own is None else own
    extents = {} if extents is None else extents
    for name, other in others.items():
        if name not in extents:
            extents[name] = extent(other)
        other_low, other_high = extents[name]
        if (
            low < other_high
            and other_low < high
            and v.device == other.device
            and not _are_interleaved(v, other)
        ):
            return name
    return None


def _are_interleaved(a: View, b: View) -> bool:
    """True if the rows of each lie between those of the other."""
    step = a.strides[0] * (4 if a.single else 8)
    if len(a.shape) < 2 or step <= 0 or a.strides[0] != b.strides[0]:
        return False
    a_low, a_high = _extent(a.address, a.shape[1:], a.strides[1:], a.single)
    b_low, b_high = _extent(b.address, b.shape[1:], b.strides[1:], b.single)
    start = (b_low - a_low) % step
    return a_high - a_low <= start and start + b_high - b_low <= step


def extent(v: View) -> Extent:
    """The address of its first byte and of the byte after its last."""
    return _extent(v.address, v.shape, v.strides, v.single)


def _extent(
    address: int, shape: Sequence[int], strides: Sequence[int], single: bool
) -> tuple[int, int]:
    """The address of the first byte and of the byte after the last."""
    low, high = 0, 1
    for n, stride in zip(shape, strides, strict=True):
        if n == 0:
            return address, address
        if stride < 0:
            low += (n - 1) * stride
        else:
            high += (n - 1) * stride
    size = 4 if single else 8
    return address + low * size, address + high * size
