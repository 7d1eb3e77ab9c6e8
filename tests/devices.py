"""Test arrays on the device under test, with their memory layout, and calls whose result was NaN
before."""

from __future__ import annotations

import ctypes
import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import warp as wp
from states import error

import warpdyn as wd
from warpdyn.execution.batched import describe_call
from warpdyn.execution.request.evaluate import result_shapes

ROUNDING = {"float32": 1e-5, "float64": 1e-12}
"""Relative difference of a program's results on the CPU and on a GPU, by dtype. They are equal bit for
bit on one device only: another compiler fuses other products and sums, and has other sines. These are
the bounds of the kernels' own errors."""


def assert_same(found: np.ndarray, wanted: np.ndarray, device: str) -> None:
    """Results on the device equal those of the CPU: bit for bit on the CPU, elsewhere up to
    rounding."""
    assert found.dtype == wanted.dtype and found.shape == wanted.shape
    if device == "cpu":
        assert np.array_equal(found, wanted)
    else:
        assert error(found, wanted) <= ROUNDING[str(wanted.dtype)]


class DeviceArray:
    """A NumPy array's memory on a device, with the same strides, and its copy back."""

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
        self.array = wp.array(
            ptr=start, shape=array.shape, strides=array.strides, dtype=kind, device=device
        )
        self.array.memory = self._memory  # lives as long as the view

    def back(self) -> np.ndarray:
        """The present contents of the array on the device."""
        if self.on_cpu:
            return self.host
        raw = self._memory.numpy()
        if self.host.size == 0:
            return self.host.copy()
        start = (self.host.__array_interface__["data"][0] - self._low) // self.host.itemsize
        return np.ndarray(
            self.host.shape, self.host.dtype, raw, start * self.host.itemsize, self.host.strides
        )


def result_shape(
    function: Callable[..., Any], model: wd.Model, options: Mapping[str, Any]
) -> tuple[int, ...]:
    """Trailing shape of a function's only result."""
    names = [
        p.name
        for p in inspect.signature(function).parameters.values()
        if p.default is p.empty and p.kind == 1
    ]
    call = function.describe(model, *(... for _ in names[1:]), **options)
    return result_shapes(call)["out"]


def call_on(
    device: str, function: Callable[..., Any], *given: Any, dtype: Any = np.float64, **options: Any
) -> np.ndarray | tuple[np.ndarray, ...]:
    """The kernel's results for these inputs in this dtype, as float64.

    `out` is full of NaN before the call. Arrays among the arguments and options are placed on the
    device; other values are passed on unchanged.
    """
    placed = [_place(x, dtype, device) for x in given]
    extra = {name: _place(x, dtype, device) for name, x in options.items()}
    shapes = result_shapes(describe_call(function, tuple(placed), extra)).values()
    leading = next(x.shape[:-1] for x in given if isinstance(x, np.ndarray))
    outs = [
        DeviceArray(np.full((*leading, *shape), np.nan, dtype=dtype), device) for shape in shapes
    ]
    arrays = tuple(out.array for out in outs)
    result = function(*placed, out=arrays if len(arrays) > 1 else arrays[0], **extra)
    assert all(
        x is y for x, y in zip(result if len(arrays) > 1 else (result,), arrays, strict=True)
    )
    results = tuple(out.back().astype(float) for out in outs)
    return results if len(results) > 1 else results[0]


def placed_params(params: wd.Params, device: str) -> wd.Params:
    """Params on the device. On the CPU they remain NumPy arrays, like the other arguments."""
    if device == "cpu":
        return params
    return params.replace(**{name: wp.array(x, device=device) for name, x in params.arrays.items()})


def _place(values: Any, dtype: Any, device: str) -> Any:
    if isinstance(values, Mapping):
        return {name: _place(x, dtype, device) for name, x in values.items()}
    if isinstance(values, tuple):
        return tuple(_place(x, dtype, device) for x in values)
    return (
        DeviceArray(np.ascontiguousarray(values, dtype=dtype), device).array
        if isinstance(values, np.ndarray)
        else values
    )
