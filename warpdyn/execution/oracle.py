"""The same text on plain float64 numbers, one robot at a time: what tests compare with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..arrays import views
from .argument_checks import check_shape
from .call import all_arrays, input_shape
from .evaluate import on_numbers
from .launch import described


def oracle(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """The same call on plain float64 numbers, one robot at a time: slow, obvious, and what tests compare with.

    Of a derivative, its recording is carried out statement by statement.
    """
    call = described(function, args, kwargs)
    given = {name: views.on_host(array) for name, array in all_arrays(call).items()}
    first_name, first = next(iter(given.items()))
    single = first.ndim == len(input_shape(call, first_name))
    for name, array in given.items():
        check_shape(
            call, name, array.shape, None if single else len(first), (first_name, first.shape)
        )
    rows, run = [], on_numbers(call)
    for e in range(1 if single else len(first)):
        inputs = {n: _row(array, len(input_shape(call, n)), e) for n, array in given.items()}
        rows.append(tuple(run(inputs).values()))
    results = tuple(np.array(column, dtype=float) for column in zip(*rows, strict=True))
    results = tuple(result[0] if single else result for result in results)
    if call.named is not None:
        return call.named(*results)
    return results if len(results) > 1 else results[0]


def _row(array: np.ndarray, own: int, e: int) -> Any:
    """What holds for environment e: its row, or what serves all."""
    return (array if array.ndim == own else array[e]).tolist()
