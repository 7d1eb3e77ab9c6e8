"""Comparison of kernels with the oracle, for functions of any shape and number of results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from devices import DeviceArray
from states import error

import warpdyn as wd


def kernel_error(
    device: str,
    function: Callable[..., Any],
    model: wd.Model,
    *given: np.ndarray,
    dtype: Any,
    **options: Any,
) -> float:
    """Largest difference from the oracle, relative to each result's largest entry; results are NaN before the call."""
    wanted = _tuple(
        wd.oracle(function, model, *(x.astype(dtype).astype(float) for x in given), **options)
    )
    places = [DeviceArray(np.ascontiguousarray(x, dtype=dtype), device) for x in given]
    outs = [DeviceArray(np.full(x.shape, np.nan, dtype=dtype), device) for x in wanted]
    arrays = tuple(out.array for out in outs)
    function(
        model, *(p.array for p in places), out=arrays if len(outs) > 1 else arrays[0], **options
    )
    return max(error(out.back().astype(float), x) for out, x in zip(outs, wanted, strict=True))


def _tuple(results: Any) -> tuple[np.ndarray, ...]:
    return results if isinstance(results, tuple) else (results,)
