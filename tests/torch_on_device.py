"""Torch tensors for calls on the device under test.

Torch does not know the emulated device. There, tensors on the CPU replace tensors on the device:
warpdyn takes them for device tensors, and each launch works on copies of their memory.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import warp as wp
from cuda_device import emulated_warp

from warpdyn.execution.launch.job import Job
from warpdyn.execution.repeat.planned_call import LaunchPlan

torch = pytest.importorskip("torch")

from warpdyn.arrays.torch_arrays import TorchArrays  # noqa: E402


@contextmanager
def tensors_on(device: str) -> Iterator[str]:
    """The device name for Torch tensors in calls on a device of Warp."""
    if device == "cpu" or not emulated_warp.is_imported():
        yield device
        return
    with pytest.MonkeyPatch.context() as patch:
        _stand_in(patch, device)
        yield "cpu"


class _Memory:
    """Memory of tensors, copied to the emulated device and back."""

    def __init__(self, device: str):
        self._device = device
        self._copies: dict[int, tuple[wp.array, int]] = {}

    def address(self, x: Any) -> int:
        here = x.data_ptr()
        if not here:
            return 0
        storage = x.untyped_storage()
        start, size = storage.data_ptr(), storage.nbytes()
        if start not in self._copies:
            copy = wp.empty(size, dtype=wp.uint8, device=self._device)
            wp.synchronize_device(self._device)
            self._copies[start] = copy, size
        there = self._copies[start][0].ptr
        ctypes.memmove(there, start, size)
        return int(there + here - start)

    def copy_back(self) -> None:
        wp.synchronize_device(self._device)
        for start, (copy, size) in self._copies.items():
            ctypes.memmove(start, copy.ptr, size)
        self._copies.clear()


def _stand_in(patch: pytest.MonkeyPatch, device: str) -> None:
    memory = _Memory(device)
    viewed, allocated = TorchArrays.view, TorchArrays.allocate

    def view(self: Any, name: str, array: Any) -> Any:
        found = viewed(self, name, array)
        return found._replace(device=device, address=memory.address(array))

    def allocate(self: Any, _: str, single: bool, shape: tuple[int, ...]) -> Any:
        return allocated(self, "cpu", single, shape)

    def followed_by_copies(launch: Callable[..., Any]) -> Callable[..., Any]:
        def launch_and_copy(*arguments: Any) -> Any:
            results = launch(*arguments)
            memory.copy_back()
            return results

        return launch_and_copy

    patch.setattr(TorchArrays, "view", view)
    patch.setattr(TorchArrays, "address", staticmethod(memory.address))
    patch.setattr(TorchArrays, "allocate", allocate)
    patch.setattr(TorchArrays, "on_cuda", lambda self, array: True)
    patch.setattr(TorchArrays, "stream", lambda self, _: wp.get_device(device).stream)
    patch.setattr(LaunchPlan, "launch", followed_by_copies(LaunchPlan.launch))
    patch.setattr(Job, "launch_once", followed_by_copies(Job.launch_once))
