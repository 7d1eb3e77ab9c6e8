"""The form of a kernel for a batch on a GPU, by its size."""

from __future__ import annotations

import warp as wp

from ...codegen.targets import FOR_FEW, target_of

FEW_PER_MULTIPROCESSOR = 64
"""Most environments of a small batch, for each multiprocessor: two blocks. `aba_derivatives` of the
quadruped for 4,096 environments takes 51 us in four warps with 216 KB of shared memory, and 101 us in
one warp; for 65,536 it takes 788 and 540 us (H100, 2026-11-26)."""

SYSTEM_BYTES = 1024
"""Shared memory of each block that the system takes."""


def target_for_batch(device_name: str, count: int) -> str:
    """The target of a kernel for this number of environments."""
    device = wp.get_device(device_name)
    if count > FEW_PER_MULTIPROCESSOR * device.sm_count:
        return target_of("cuda")
    room = device.max_shared_memory_per_block - SYSTEM_BYTES
    return next(target for target, size in FOR_FEW.items() if size <= room)
