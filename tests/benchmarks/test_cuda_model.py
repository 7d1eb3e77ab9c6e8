"""The model of CUDA kernels: which limit binds, and what a cubin says."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.cubin import KernelResources, read_cubin
from benchmarks.cuda_model import (
    DRAM,
    SECTOR,
    compiled_resources,
    modelled_time,
    program_stage,
    resident_blocks,
)

FEW = KernelResources(registers=32, local_bytes=0, code_bytes=1000)
MANY = KernelResources(registers=255, local_bytes=0, code_bytes=1000)


def counted(sectors: float, instructions: float) -> dict[str, float]:
    half = sectors / 2
    return {
        "loaded": half,
        "stored": half,
        "to_load": half,
        "to_store": half,
        "instructions": instructions,
    }


def test_registers_and_shared_memory_limit_the_blocks() -> None:
    assert resident_blocks(FEW, 0) == 32
    assert resident_blocks(MANY, 0) == 8
    assert resident_blocks(FEW, 27 * 1024) == 8


def test_the_largest_time_binds() -> None:
    """Large arrays are bound by memory, long programs by instructions, small batches by latency."""
    memory = modelled_time(1_000_000, FEW, counted(20.0, 100), 0)
    assert memory.bound == "memory" and memory.seconds == 20.0 * SECTOR * 1_000_000 / DRAM
    assert modelled_time(1_000_000, FEW, counted(1.0, 5000), 0).bound == "issue"
    assert modelled_time(32, MANY, counted(1.0, 5000), 0).bound == "latency"


def test_machine_code_says_what_a_thread_needs() -> None:
    """The kernel of panda's rnea stages three inputs and the torques, in rows of 9 numbers for 32 lanes."""
    resources, shared_bytes = compiled_resources("panda:rnea")
    assert 32 <= resources.registers <= 255 and resources.code_bytes > 5000
    assert shared_bytes == 4 * 4 * 32 * 9


def test_a_file_that_is_no_cubin_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "kernel.cubin"
    file.write_bytes(b"no cubin")
    with pytest.raises(ValueError, match="is no cubin"):
        read_cubin(file)


def test_a_source_without_rows_has_no_shared_memory() -> None:
    assert program_stage("const int lane = 0;") == 0
    assert program_stage("__shared__ T stage[672];") == 672
