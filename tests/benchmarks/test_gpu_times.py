"""Measured times of CUDA kernels, compared with the performance model, on the emulated device."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cuda_device.emulated_processes import run_emulated

from benchmarks import gpu_times
from benchmarks.cuda_kernels import ENVIRONMENTS, KERNELS, LAYOUTS

STORED = json.loads(gpu_times.RESULT.read_text())


@pytest.mark.parametrize("options", [(), ("--one-warp",)])
def test_kernels_are_timed(options: tuple[str, ...], tmp_path: Path) -> None:
    """Both layouts are measured. With --one-warp the program is not cut."""
    path = tmp_path / "times.json"
    arguments = ("quadruped:rnea", "--batches", "64", "--no-limits", "--output", str(path))
    run_emulated("-m", "benchmarks.gpu_times", *arguments, *options)
    written = json.loads(path.read_text())
    assert [x["layout"] for x in written["records"]] == list(LAYOUTS)
    assert {x["warps"] for x in written["records"]} == {1 if options else 4}
    assert all(x["us"] > 0 for x in written["records"])
    assert written["compile_seconds"]["quadruped:rnea"] > 0


def test_stored_times_were_measured_on_a_gpu() -> None:
    """They cover all kernels of the model in both layouts and both batches, and exceed the time of
    an empty kernel."""
    assert "H100" in STORED["about"]["hardware"]
    cases = {(x["call"], x["layout"], x["count"]) for x in STORED["records"]}
    names = (*KERNELS, *ENVIRONMENTS)
    assert cases == {(x, y, n) for x in names for y in LAYOUTS for n in gpu_times.BATCHES}
    assert all(x["us"] > STORED["empty_us"] for x in STORED["records"])


def test_ratios_are_geometric_means() -> None:
    times = gpu_times.modelled()
    name, layout, count = "panda:rnea", "rows", 4096
    said = times[name, layout, count][0]
    records = [
        {"call": name, "layout": layout, "count": count, "us": factor * said} for factor in (1, 4)
    ]
    assert gpu_times.ratios(records) == {"4096 rows": 2.0}
