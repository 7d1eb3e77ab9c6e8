"""The performance model of CUDA kernels: which limit binds, and its means over kernels."""

from __future__ import annotations

import json

import pytest

from benchmarks.cuda_kernels import ENVIRONMENTS, KERNELS
from benchmarks.cuda_model import (
    DRAM,
    L2,
    RESULT,
    SECTOR,
    local_time,
    means,
    modelled_time,
    record,
    resident_blocks,
)


def kernel(sectors: float, instructions: float, **more: float) -> dict[str, float]:
    half = sectors / 2
    moved = dict.fromkeys(("loaded", "stored", "to_load", "to_store"), half)
    facts = {"registers": 32, "shared_bytes": 0, "local_bytes": 0}
    return {**moved, **facts, "instructions": instructions, **more}


def test_registers_and_shared_memory_limit_the_blocks() -> None:
    assert resident_blocks(32, 0) == 32
    assert resident_blocks(255, 0) == 8
    assert resident_blocks(32, 27 * 1024) == 8


def test_the_largest_time_binds() -> None:
    """Large arrays are limited by memory, long programs by instructions, and small batches by
    latency."""
    memory = modelled_time(1_000_000, kernel(20.0, 100))
    assert memory.bound == "memory" and memory.seconds == 20.0 * SECTOR * 1_000_000 / DRAM
    assert memory.least == memory.seconds
    assert modelled_time(1_000_000, kernel(1.0, 5000)).bound == "issue"
    few = modelled_time(32, kernel(1.0, 5000, registers=255))
    assert few.bound == "latency" and few.least < few.seconds


def test_local_memory_takes_time_beyond_the_caches() -> None:
    """A multiprocessor has eight warps with 255 registers."""
    small, middle, large = (
        kernel(1.0, 1000, local_bytes=size, local_share=0.1) for size in (500, 1000, 4000)
    )
    assert local_time(small, 65536, 8) == 0.0
    assert local_time(middle, 65536, 8) == pytest.approx(100 * 4 * 65536 / L2)
    assert local_time(large, 65536, 8) == pytest.approx(100 * 4 * 65536 / DRAM)
    assert local_time(large, 4096, 1) == 0.0


def test_large_batches_use_the_form_for_many() -> None:
    """This applies to kernels with two forms."""
    few = kernel(20.0, 100, registers=255)
    made = record("aba_derivatives rows", {**few, "many": kernel(40.0, 100)})
    times = {count: time for count, (time, _) in made["modelled_us"].items()}
    assert times["65536"] == round(1e6 * modelled_time(65536, kernel(40.0, 100)).seconds, 2)
    assert times["4096"] == round(1e6 * modelled_time(4096, few).seconds, 2)
    assert made["registers"] == 255 and "many" not in made


def test_means_include_only_kernels() -> None:
    """Learning environments are left out."""
    records = [
        {"call": call, "layout": "rows", "modelled_by_bound": {"4096": ratio}}
        for call, ratio in ((KERNELS[0], 1.0), (KERNELS[1], 4.0), (ENVIRONMENTS[0], 100.0))
    ]
    assert means(records) == {"4096 rows": 2.0}


def test_all_kernels_have_stored_times() -> None:
    records = json.loads(RESULT.read_text())["records"]
    found = {(x["call"], x["layout"]) for x in records}
    layouts = ("rows", "side by side")
    assert found == {(x, layout) for x in (*KERNELS, *ENVIRONMENTS) for layout in layouts}
    assert len(KERNELS) == 22
