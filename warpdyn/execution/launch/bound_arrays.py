"""The arrays of one call: its inputs as views that agree in library, dtype, device and batch shape,
and the arrays that its launch writes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np

from ...arrays import Array, Library, View, views
from ...arrays.libraries import known, library_of
from ...codegen.source import Source
from ..request.argument_checks import (
    array_of_numbers,
    check_kind,
    check_outs,
    dtype_of_lists,
    result_arrays,
)
from ..request.call import Call, gather, summed_tables
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


@dataclass(slots=True)
class ResultArrays:
    """The arrays that a launch writes, and the results that the user receives."""

    written: Sequence[Array]
    """Arrays that the kernel writes, with one dimension of environments or none."""
    arrays: Sequence[Array]
    """The same memory with the call's batch shape."""
    views: Sequence[View]
    sums: Mapping[int, tuple[tuple[int, ...], Any]] = field(default_factory=dict)
    """Results that are cotangents of tables, by their number: the table's shape, and the array of
    `out=` for the sum over all environments."""


def arrays_for_results(call: Call, source: Source, bound: BoundArrays) -> ResultArrays:
    """Results of a call: new arrays, or the checked arrays of `out=`."""
    if call.derivatives:
        tables = summed_tables(call)
        summed = {k: tables[n] for k, n in enumerate(source.results) if n in tables}
        if summed:
            return _results_with_sums(call, source, bound, summed)
    return _new_results(source, bound) if call.out is None else _results_in_out(call, source, bound)


def _new_results(source: Source, bound: BoundArrays) -> ResultArrays:
    """New arrays, in the memory order of the first batched input."""
    library, lead = bound.library, bound.lead
    where = library, bound.device, bound.single, bound.count
    outs, arrays, out_views = [], [], []
    for shape in source.results.values():
        out = views.empty(*where, shape, bound.side_by_side)
        outs.append(out)
        out_views.append(views.view("out", out))
        if not lead:
            out = library.first_of(out)
        elif len(lead) > 1:
            out = library.with_leading(out, 1, lead)
        arrays.append(out)
    return ResultArrays(outs, tuple(arrays), out_views)


def _results_in_out(call: Call, source: Source, bound: BoundArrays) -> ResultArrays:
    """The arrays of `out=`, checked against the inputs."""
    outs = result_arrays(call, list(source.results))
    out_views = check_outs(
        outs,
        [(*bound.lead, *shape) for shape in source.results.values()],
        bound.views,
        bound.first,
        bound.views[bound.leader],
        [source.over.get(name) for name in source.results],
        len(bound.lead),
    )
    return ResultArrays(outs, tuple(outs), out_views)


def _results_with_sums(
    call: Call, source: Source, bound: BoundArrays, summed: Mapping[int, tuple[int, ...]]
) -> ResultArrays:
    """Results of which some are cotangents of tables.

    A kernel writes such a cotangent for each environment. The user gets its sum.
    """
    if len(bound.lead) > 1:
        raise ValueError("a derivative by a table needs one dimension of environments: (B, ..)")
    asked: list[Any] = [None] * len(source.results)
    if call.out is not None:
        asked = result_arrays(call, list(source.results))
    where = bound.library, bound.device, bound.single, bound.count
    outs = [
        views.empty(*where, shape, False) if asked[k] is None or k in summed else asked[k]
        for k, shape in enumerate(source.results.values())
    ]
    arrays = tuple(
        x if bound.lead or k in summed or asked[k] is not None else bound.library.first_of(x)
        for k, x in enumerate(outs)
    )
    sums = {k: (shape, asked[k]) for k, shape in summed.items()}
    return ResultArrays(outs, arrays, [views.view("out", out) for out in outs], sums)
