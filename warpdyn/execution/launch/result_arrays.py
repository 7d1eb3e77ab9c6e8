"""The arrays that a launch writes: new ones, or those of `out=`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...arrays import Array, View, views
from ...codegen.source import Source
from ..request.argument_checks import check_outs, result_arrays
from ..request.call import Call, summed_tables
from .bound_arrays import BoundArrays


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
