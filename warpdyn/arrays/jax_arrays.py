"""JAX arrays, including traced ones; imported when the first one arrives. Results are first written
to NumPy memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .numpy_arrays import NumpyArrays
from .protocol import View, wrong_dtype


def is_elsewhere(x: Any) -> bool:
    """True for an array that is on a GPU, or divided among several devices."""
    if not isinstance(x, jax.Array) or isinstance(x, jax.core.Tracer):
        return False
    devices = x.devices()  # JAX's own set, which must not change
    return len(devices) > 1 or any(d.platform != "cpu" for d in devices)


class JaxArrays(NumpyArrays):
    """JAX on the CPU. Traced arrays, and those on a GPU or on several devices, are handled earlier,
    by `execution/autodiff/jax_gradients.py`."""

    name, array_type, operations = "jax", (jax.Array, jax.core.Tracer), jnp
    edge = "jax"
    takes_numpy = True
    in_place = False

    def sort(self, array: Any) -> tuple[Any, ...]:
        # platform() of a deleted array ends the process.
        if isinstance(array, jax.core.Tracer) or array.is_deleted() or array.platform() != "cpu":
            return ()
        if type(array.sharding) is not jax.sharding.SingleDeviceSharding:
            return ()
        return array.dtype, array.shape

    def view(self, name: str, array: Any) -> View:
        if not hasattr(array, "devices") or isinstance(array, jax.core.Tracer):
            raise TypeError(
                f"{name} is traced by JAX (inside jit, grad or vmap): the call's first array must "
                "be a JAX array too (jnp.asarray), and bind accepts no traced arrays"
            )
        if any(d.platform != "cpu" for d in array.devices()):
            raise ValueError(
                f"{name} is a JAX array on {array.devices()}; "
                "warpdyn accepts JAX arrays on the CPU only"
            )
        if len(array.devices()) > 1:
            raise ValueError(
                f"{name} is a JAX array on {len(array.devices())} devices; gather it first: "
                f"jax.device_put({name}, jax.devices()[0])"
            )
        if array.dtype not in (np.float32, np.float64):
            raise wrong_dtype(name, array.dtype, "{}.astype(jnp.float32)")
        return super().view(name, np.from_dlpack(array))

    def replace_rows(self, array: Any, mask: Any, rows: Any) -> Any:
        return jnp.where(jnp.asarray(mask).reshape(-1, *[1] * (array.ndim - 1)), rows, array)

    def move_to(self, array: Any, dtype: str, device: Any) -> Any:
        array = array.astype(dtype)
        if isinstance(device, str):
            platform, _, number = device.partition(":")
            device = jax.devices(platform)[int(number or 0)]
        return array if device is None else jax.device_put(array, device)

    def readable(self, array: Any) -> bool:
        return not isinstance(array, jax.core.Tracer)

    def as_column(self, value: Any, like: Any, rows: tuple[int, ...]) -> Any:
        if value.ndim == 0:
            value = jnp.asarray(value, like.dtype)
        return jnp.broadcast_to(value, rows)[..., None]  # NumPy values become JAX arrays here

    def stack_values(
        self, values: Sequence[Any], shape: tuple[int, ...], count: int | None, dtype: Any
    ) -> Any:
        arrays = [jnp.asarray(x, dtype=dtype) for x in values]
        if count is None:
            return jnp.stack(arrays)
        return jnp.stack([jnp.broadcast_to(x, (count, *shape)) for x in arrays], 1)

    def functional(self, array: Any) -> bool:
        return True

    def wrap_result(self, result: np.ndarray) -> Any:
        return jnp.asarray(result)


LIBRARY = JaxArrays()
