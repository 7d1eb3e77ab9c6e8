"""Arrays of the tests on the device under test, memory layout kept, and calls whose result was NaN before."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import warp as wp

import warpdyn as wd


class Placed:
    """A NumPy array's memory on a device, with the same strides, and the way back."""

    def __init__(self, array: np.ndarray, device: str):
        self.host, self.on_cpu = array, device == "cpu"
        if self.on_cpu:
            self.array: Any = array
            return
        low, high = np.lib.array_utils.byte_bounds(array)
        self._low = low
        raw = (
            np.frombuffer(ctypes.string_at(low, high - low), dtype=array.dtype)
            if array.size
            else np.zeros(1, array.dtype)
        )
        self._memory = wp.array(raw, device=device)
        kind = wp.float32 if array.dtype == np.float32 else wp.float64
        start = self._memory.ptr + (array.__array_interface__["data"][0] - low if array.size else 0)
        self.array = wp.array(ptr=start, shape=array.shape, strides=array.strides, dtype=kind, device=device)
        self.array.memory = self._memory  # lives as long as the view

    def back(self) -> np.ndarray:
        """The array as it is now on the device."""
        if self.on_cpu:
            return self.host
        raw = self._memory.numpy()
        if self.host.size == 0:
            return self.host.copy()
        start = (self.host.__array_interface__["data"][0] - self._low) // self.host.itemsize
        return np.ndarray(self.host.shape, self.host.dtype, raw, start * self.host.itemsize, self.host.strides)


def result_shape(function: Callable[..., Any], model: wd.Model, options: Mapping[str, Any]) -> tuple[int, ...]:
    """Trailing shape of a public function's result."""
    name = function.__name__
    if name == "fk":
        if "frame" in options:
            return (4, 4)
        return (len(options.get("frames", model.link_names)), 4, 4)
    return {"jacobian": (6, model.nv), "crba": (model.nv, model.nv)}.get(name, (model.nv,))


def called(
    device: str,
    function: Callable[..., Any],
    model: wd.Model,
    *given: np.ndarray,
    dtype: Any = np.float64,
    gravity: Any = None,
    f_ext: Any = None,
    **options: Any,
) -> np.ndarray:
    """The kernel's result for these inputs in this dtype, as float64; `out` is full of NaN before the call."""
    places = [Placed(np.ascontiguousarray(x, dtype=dtype), device) for x in given]
    shape = (*given[0].shape[:-1], *result_shape(function, model, options))
    out = Placed(np.full(shape, np.nan, dtype=dtype), device)
    extra: dict[str, Any] = {}
    if gravity is not None:
        extra["gravity"] = _placed(gravity, dtype, device)
    if isinstance(f_ext, Mapping):
        extra["f_ext"] = {link: _placed(f, dtype, device) for link, f in f_ext.items()}
    elif f_ext is not None:
        extra["f_ext"] = _placed(f_ext, dtype, device)
    result = function(model, *(p.array for p in places), out=out.array, **extra, **options)
    assert result is out.array
    return out.back().astype(float)


def _placed(values: Any, dtype: Any, device: str) -> Any:
    if not isinstance(values, np.ndarray):
        return values
    return Placed(np.ascontiguousarray(values, dtype=dtype), device).array
