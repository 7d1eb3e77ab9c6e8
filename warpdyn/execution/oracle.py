"""The same algorithm on plain float64 numbers, one robot at a time, as a reference for tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ParamSpec

import numpy as np

from ..arrays import views
from ..arrays.table_sums import sum_into_table
from .batched import describe_call
from .launch.batch_shape import leading_shape
from .request.call import gather, result_names, summed_tables
from .request.evaluate import on_numbers

P = ParamSpec("P")


def oracle(function: Callable[P, Any], *args: P.args, **kwargs: P.kwargs) -> Any:
    """The same call on plain float64 numbers, one robot at a time: slow and simple, a reference for
    tests.

    For a derivative, it evaluates the recorded program statement by statement.
    """
    call = describe_call(function, args, kwargs)
    inputs, arrays = gather(call)
    hosted = {name: views.on_host(array) for name, array in arrays.items()}
    lead, _ = leading_shape(call, inputs, {name: array.shape for name, array in hosted.items()})
    run = on_numbers(call)
    rows = []
    for e in np.ndindex(lead):
        slices = {n: _slice(array, len(inputs[n].shape), e) for n, array in hosted.items()}
        rows.append(tuple(run(slices).values()))
    results = tuple(np.array(column, dtype=float) for column in zip(*rows, strict=True))
    results = tuple(result.reshape((*lead, *result.shape[1:])) for result in results)
    tables = summed_tables(call)
    if tables:
        named = zip(result_names(call), results, strict=True)
        results = tuple(
            sum_into_table(x, tables[name]) if name in tables else x for name, x in named
        )
    if call.named is not None:
        return call.named(*results)
    return results if len(results) > 1 else results[0]


def _slice(array: np.ndarray, dimensions: int, e: tuple[int, ...]) -> Any:
    """The slice of environment e: its row, or the one slice that serves all."""
    return (array if array.ndim == dimensions else array[e]).tolist()
