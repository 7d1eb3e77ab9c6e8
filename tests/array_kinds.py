"""Conversion of NumPy arrays to arrays of every library and back, written without warpdyn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import warp as wp

LIBRARIES = ("numpy", "torch", "warp", "jax")


def usable(library: str, device: str = "cpu") -> None:
    """Skip the test if the library is not installed or has no arrays on the device."""
    if library in ("torch", "jax"):
        module = pytest.importorskip(library)
        if library == "torch" and device != "cpu" and not module.cuda.is_available():
            pytest.skip("this Torch is built for the CPU")
    if device != "cpu" and library in ("numpy", "jax"):
        pytest.skip(f"{library} arrays are on the CPU")


def make_array(library: str, array: np.ndarray, device: str = "cpu", layout: str = "rows") -> Any:
    """An array of the library on the device, in C order or with environments contiguous in
    memory."""
    if layout == "environments_last" and library != "jax":
        memory = np.ascontiguousarray(np.moveaxis(array, 0, -1))
        if library == "warp":
            flat = wp.array(memory, device=device)
            return wp.array(
                ptr=flat.ptr,
                shape=array.shape,
                strides=(array.itemsize, *memory.strides[:-1]),
                dtype=flat.dtype,
                device=device,
                deleter=lambda *_, keep=flat: None,
            )
        whole = make_array(library, memory, device)
        return np.moveaxis(whole, -1, 0) if library == "numpy" else whole.movedim(-1, 0)
    if library == "numpy":
        return array.copy()
    if library == "torch":
        import torch

        return torch.tensor(array, device=device)
    if library == "warp":
        return wp.array(array, device=device)
    import jax

    jax.config.update("jax_enable_x64", True)
    return jax.numpy.asarray(array)


def host(array: Any) -> np.ndarray:
    """The array as a NumPy array."""
    if isinstance(array, np.ndarray):
        return array
    if hasattr(array, "detach"):
        return array.detach().cpu().numpy()
    return array.numpy() if hasattr(array, "numpy") else np.asarray(array)
