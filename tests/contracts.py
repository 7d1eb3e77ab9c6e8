"""Checks of the contract of every public function: shapes, one robot or a batch, dtypes, `out=` and
defaults."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from states import error

import warpdyn as wd
from warpdyn.execution.request.evaluate import result_shapes

SINGLE = 1e-4
"""Relative to the largest entry (or one): float32 against float64 of the same numbers."""

Shape = tuple[int, ...]


def each(result: Any) -> list[Any]:
    """The results of a function as a list."""
    return list(result) if isinstance(result, tuple) else [result]


def check_shapes(
    function: Callable[..., Any], *given: Any, shapes: Shape | Sequence[Shape], **options: Any
) -> None:
    """Check the shapes of the oracle's and the kernel's results, with a leading axis where the
    arrays have one. `shapes`: one environment's result, or one shape for each of several results.
    Compiles nothing."""
    wanted = [shapes] if not shapes or isinstance(shapes[0], int) else list(shapes)
    call = function.describe(*given, **options)  # type: ignore[attr-defined]
    assert list(result_shapes(call).values()) == wanted
    first = [x[0] if isinstance(x, np.ndarray) else x for x in given]
    batch, one = (each(wd.oracle(function, *x, **options)) for x in (given, first))
    assert [np.shape(x) for x in one] == wanted
    assert [np.shape(x[0]) for x in batch] == wanted
    assert all(np.array_equal(x[0], y) for x, y in zip(batch, one, strict=True))


def check_call(
    function: Callable[..., Any], *given: Any, single: float = SINGLE, **options: Any
) -> None:
    """Check that row e of a batch is the result for row e alone, that dtypes are those of the
    arrays, and that `out=` is filled and returned."""

    def call_changed(change: Callable[[np.ndarray], np.ndarray], **more: Any) -> list[Any]:
        changed = [change(x) if isinstance(x, np.ndarray) else x for x in given]
        return each(function(*changed, **options, **more))

    batch = call_changed(lambda x: x)
    assert all(x.dtype == np.float64 for x in batch)
    wanted = each(wd.oracle(function, *given, **options))
    assert all(error(x, y, np.ones(1)) <= 1e-9 for x, y in zip(batch, wanted, strict=True))
    one = call_changed(lambda x: x[-1])
    assert all(np.array_equal(x, whole[-1]) for x, whole in zip(one, batch, strict=True))
    small = call_changed(lambda x: x.astype(np.float32))
    assert all(x.dtype == np.float32 for x in small)
    assert all(error(x, y, np.ones(1)) <= single for x, y in zip(small, batch, strict=True))
    outs = tuple(np.full_like(x, np.nan) for x in batch)
    found = call_changed(lambda x: x, out=outs if len(outs) > 1 else outs[0])
    assert all(x is out for x, out in zip(found, outs, strict=True))
    assert all(np.array_equal(x, y) for x, y in zip(outs, batch, strict=True))


def check_defaults(function: Callable[..., Any], *given: Any, **defaults: Any) -> None:
    """Check that leaving these options out is the same as passing these values."""
    left_out, explicit = (
        function.describe(*given, **options)  # type: ignore[attr-defined]
        for options in ({}, defaults)
    )
    assert left_out.options == explicit.options
    results = [each(wd.oracle(function, *given, **options)) for options in ({}, defaults)]
    assert all(np.array_equal(x, y) for x, y in zip(*results, strict=True))
