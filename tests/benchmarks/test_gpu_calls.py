"""Host times of calls on a GPU, on the emulated device."""

from __future__ import annotations

import json
from pathlib import Path

from cuda_device.emulated_processes import run_emulated

from benchmarks import gpu_calls

SCRIPT = """
import sys
import warpdyn as wd
from benchmarks import gpu_calls
small = wd.load_robot("cartpole")
wd.load_robot = lambda name: small
gpu_calls.CALLS = 2
gpu_calls.main(sys.argv[1:])
"""
"""Few calls, and a small robot in place of others: its kernels compile sooner."""


def test_calls_on_warp_arrays_are_timed(tmp_path: Path) -> None:
    path = tmp_path / "calls.json"
    done = run_emulated("-c", SCRIPT, "--envs", "32", "--no-torch", "--output", str(path))
    assert done.returncode == 0, done.stderr
    times = json.loads(path.read_text())["microseconds"]
    stored = json.loads(gpu_calls.RESULT.read_text())["microseconds"]
    assert times.keys() == {name for name in stored if "torch" not in name}
    assert all(us > 0 for us in times.values())
