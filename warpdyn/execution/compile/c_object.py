"""C++ other than kernels: compiled by Warp's Clang without Warp's headers, and kept in Warp's
cache.

Warp's headers take 2 to 3 s of CPU time for the first kernel of a machine, and 0.35 s for each further
one. Functions that do not need them compile in a fraction of that time.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import warp as wp
from warp._src import context

from . import kernel_objects
from .kernel_cache import KERNELS, start_kernel_cache
from .kernel_objects import ObjectFiles, place_in_cache

FUNCTIONS = ("wp_compile_cpp", "wp_load_obj", "wp_lookup")
"""Functions of Warp's compiler library. Without them no object can be loaded."""

LEVEL = 1
"""Optimisation level. The interpreter takes 1.6 s to compile with level 1 and 2.2 s with level 2, and
computes at the same speed (float32, AMD EPYC)."""


def is_possible() -> bool:
    """True if this version of Warp can compile and load an object."""
    start_kernel_cache()
    library = getattr(context.runtime, "llvm", None)
    return all(hasattr(library, name) for name in FUNCTIONS)


def is_compiled(name: str, source: str) -> bool:
    """True if the object of this source is in the cache."""
    return kernel_objects.is_whole(_place(name, source))


def load_object(name: str, source: str, function: str) -> int:
    """The address of a C function of this source, which is compiled if it is not in the cache.

    The object stays loaded as long as the process. OSError: it cannot be written.
    """
    place = _place(name, source)
    if not kernel_objects.is_whole(place):
        kernel_objects.build_object(place, source, "cpp", _write_no_metadata, _options())
    runtime: Any = context.runtime
    library = runtime.llvm
    module = place.folder.name.encode()
    path = str(place.folder / place.object).encode()
    if library.wp_load_obj(path, module, wp.config.legacy_cpu_linker):
        raise RuntimeError(f"Warp could not load {place.folder / place.object}")
    address: int = library.wp_lookup(module, function.encode())
    if not address:
        raise RuntimeError(f"{place.folder / place.object} has no function {function}")
    return address


def _place(name: str, source: str) -> ObjectFiles:
    target = wp.get_cpu_kernel_cache_key()
    digest = hashlib.sha256(f"{target} {LEVEL} {source}".encode()).hexdigest()[:16]
    return place_in_cache(f"{KERNELS}{name}_{digest}", f"{name}.o", f"{name}.json")


def _write_no_metadata(path: Path) -> None:
    """Write nothing, in place of the metadata that Warp writes for a kernel."""
    path.write_text("{}", encoding="utf-8")


def _options() -> dict[str, Any]:
    """Warp's options for the compiler; `-w`: without warnings."""
    flags = wp.config.cpu_compiler_flags
    return {
        "use_precompiled_headers": False,
        "optimization_level": LEVEL,
        "verify_fp": False,
        "fuse_fp": True,
        "fast_math": False,
        "block_dim": kernel_objects.BLOCK,
        "cpu_compiler_flags": f"{'-march=native' if flags is None else flags} -w",
        "extra_cpu_include_dirs": (),
        "mode": "release",
        "enable_tiles_in_stack_memory": True,
    }
