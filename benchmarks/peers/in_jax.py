"""JAX as its peers run best on a CPU: one core, float32, no fusion emitters (100 times for MJX)."""

from __future__ import annotations

import os

from .jax_aot import FOLDER

os.environ.setdefault("JAX_ENABLE_X64", "0")
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

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np


def compiled(
    function: Callable[..., Any], *given: np.ndarray, batched: bool = True
) -> Callable[[], Any]:
    """The function of one state, or of all (`batched` False), jitted, on device arrays."""
    arrays = [jnp.asarray(x, jnp.float32) for x in given]
    run = jax.jit(jax.vmap(function) if batched else function)
    return lambda: jax.block_until_ready(run(*arrays))
