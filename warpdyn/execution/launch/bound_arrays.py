"""The arrays of one call as views that agree in library, dtype, device and batch shape."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np

from ...arrays import Array, Library, View, views
from ...arrays.libraries import known, library_of
from ..request.argument_checks import array_of_numbers, check_kind, dtype_of_lists
from ..request.call import Call, gather
from ..request.inputs import Input
from .batch_shape import RowViews

LAZY_VIEW = "its memory does not hold its numbers (Torch's lazy views: resolve_neg(), clone())"
"""Reason for a copy of an input."""


@dataclass(slots=True)
class BoundArrays:
    """A call's input arrays by name, and what they have in common."""

    inputs: Mapping[str, Input]
    arrays: dict[str, Array]
    """Kept alive until the launch is over. Arrays that need a copy are replaced by it."""
    views: Mapping[str, View]
    copied: Mapping[str, str]
    """Reasons for copies, by the name of the input."""
    lead: tuple[int, ...]
    """The batch shape: () for one robot."""
    leader: str
    """The first array that has the batch shape; it decides the memory order of new results."""
    first: str
    """The first array; it decides library, dtype and device."""
    numbers: Mapping[str, np.ndarray]
    """Plain numbers that the launch passes by value, in the call's dtype."""

    library: Library = field(init=False)
    device: str = field(init=False)
    single: bool = field(init=False)
    """True for float32."""
    count: int = field(init=False)
    """Number of environments."""
    side_by_side: bool = field(init=False)
    """True if equal entries of neighbouring environments are neighbours in memory."""

    def __post_init__(self) -> None:
        leader = self.views[self.leader]
        self.library, self.device, self.single = leader.library, leader.device, leader.single
        self.count = prod(self.lead)
        several = self.count > 1 and prod(self.inputs[self.leader].shape) > 1
        self.side_by_side = several and leader.strides[0] == 1


def bind_arrays(call: Call) -> BoundArrays:
    """Read the properties of each array of a call once; refuse arrays that do not fit together.

    The first array decides library, dtype and device. The first one with leading dimensions decides
    the batch shape and the memory order.
    """
    inputs, arrays = gather(call)
    copied = copy_lazy_views(arrays)
    found: dict[str, View] = {}
    numbers: dict[str, np.ndarray] = {}
    first: View | None = None
    for name, x in inputs.items():
        array = arrays[name]
        if x.plain and first is not None:
            array = array_of_numbers(x, array, first)
            if first.device != "cpu" and isinstance(array, np.ndarray) and array.ndim < 2:
                numbers[name] = array
        if isinstance(array, (list, tuple)):
            views.check_entries(x.label, array)
            array = np.asarray(array, dtype_of_lists(arrays.values()))
        arrays[name] = array
        view = views.view(x.label, array)
        if first is not None and name in numbers:
            view = view._replace(library=first.library, device=first.device)
        found[name] = view
        first = first or view
    assert first is not None
    first_name = next(iter(inputs))
    lead = first.shape[: len(first.shape) - len(inputs[first_name].shape)]
    # Nearly every call has one row of each array for each environment. Only the others pay for `RowViews`.
    in_rows = len(lead) < 2
    for x, view in zip(inputs.values(), found.values(), strict=True):
        check_kind(x.label, view, first_name, first)
        in_rows = in_rows and view.shape == lead + x.shape
    if in_rows:
        return BoundArrays(inputs, arrays, found, copied, lead, first_name, first_name, numbers)
    rows = RowViews(call, inputs, arrays, found)
    copied |= rows.copied
    return BoundArrays(
        inputs, arrays, rows.views, copied, rows.lead, rows.leader, first_name, numbers
    )


def copy_lazy_views(arrays: dict[str, Any]) -> dict[str, str]:
    """Replace lazy views, whose memory does not hold their numbers, by copies; returns the reason for
    each copy, by name."""
    lazy = {}
    for name, array in arrays.items():
        if type(array) is np.ndarray:  # the most common library, whose views are never lazy
            continue
        library = known.get(type(array)) or library_of(array)
        arrays[name] = library.resolve_lazy_view(array)
        if arrays[name] is not array:
            lazy[name] = LAZY_VIEW
    return lazy
