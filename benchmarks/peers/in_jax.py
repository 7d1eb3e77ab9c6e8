"""JAX with the fastest settings for its peers: float32; on a CPU one core, without fusion emitters.

(Fusion emitters make MJX 100 times slower.) On a GPU, matrix products are float32, too: JAX's default
TF32 has errors of 1e-4 to 2e-3. JAX allocates memory on demand, because Warp's arrays are on the same GPU.
"""

from __future__ import annotations

import os

from .jax_aot import FOLDER

os.environ.setdefault("JAX_ENABLE_X64", "0")
os.environ.setdefault("JAX_DEFAULT_MATMUL_PRECISION", "highest")
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
os.environ["JAX_COMPILATION_CACHE_DIR"] = str(FOLDER)
os.environ["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0"
os.environ["JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES"] = "-1"
os.environ["JAX_PERSISTENT_CACHE_ENABLE_XLA_CACHES"] = (
    "none"  # their folder would be part of the key
)
if "fusion_emitters" not in os.environ.get("XLA_FLAGS", ""):
    os.environ["XLA_FLAGS"] = (
        os.environ.get("XLA_FLAGS", "") + " --xla_cpu_use_fusion_emitters=false"
    )

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np


class JittedCall:
    """A jitted function with its arrays on a device. A call waits for the results; `start` does not wait."""

    finish = staticmethod(jax.block_until_ready)

    def __init__(self, function: Callable[..., Any], arrays: Sequence[Any]):
        self.function, self.arrays = function, arrays

    def __call__(self) -> Any:
        return self.finish(self.start())

    def start(self) -> Any:
        """Results that may not be computed yet."""
        return self.function(*self.arrays)


def jit_call(
    function: Callable[..., Any], *given: np.ndarray, batched: bool = True, device: str = "cpu"
) -> JittedCall:
    """Jitted function of one state, or of all states (`batched` False), with its arrays on the device."""
    arrays = [on(device, jnp.asarray(x, jnp.float32)) for x in given]
    return JittedCall(jax.jit(jax.vmap(function) if batched else function), arrays)


def on(device: str, tree: Any) -> Any:
    """The arrays of a tree on a device with Warp's name. Raises RuntimeError if JAX lacks the device."""
    kind, _, number = device.partition(":")
    return jax.device_put(tree, jax.devices("cpu" if kind == "cpu" else "gpu")[int(number or 0)])
