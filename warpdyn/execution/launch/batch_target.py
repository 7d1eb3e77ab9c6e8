"""The form of a kernel that suits a batch on a GPU."""

from __future__ import annotations

import warp as wp

from ...codegen.targets import FOR_FEW, target_of

FEW = 64
"""Environments for each multiprocessor, which are two blocks. Up to there, `aba_derivatives` of the
quadruped takes half the time in four warps with 216 KB of shared memory (4,096 environments: 51 us in
place of 101); at 65,536 it takes 788 us in place of 540 (H100, 2026-11-26)."""

OF_SYSTEM = 1024
"""Bytes of shared memory of each block that the system takes."""


def target_for_batch(device_name: str, count: int) -> str:
    """The target of a kernel for so many environments."""
    device = wp.get_device(device_name)
    if count > FEW * device.sm_count:
        return target_of("cuda")
    room = device.max_shared_memory_per_block - OF_SYSTEM
    return next(target for target, size in FOR_FEW.items() if size <= room)
