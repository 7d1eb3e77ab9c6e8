"""Numbers of Warp's and warpdyn's kernels on the emulated device, next to those of the CPU."""

from __future__ import annotations

import pytest
from cuda_device.emulated_processes import json_of

CLOSE = {"float32": 1e-5, "float64": 1e-12}
"""Relative to the largest number, as in tests/codegen/test_cpu.py."""

CLOSE_FOR_WARP = {
    "elementary": 5e-7,
    "elementary_double": 1e-14,
    "integers": 0,
    "random_numbers": 5e-7,
    "sums": 1e-5,
    "tiles": 5e-7,
}
"""The CPU's and CUDA's functions differ in their last bits, and sums in their order."""


@pytest.mark.parametrize("late", [False, True], ids=["at_once", "late"])
def test_functions_of_warpdyn(late: bool) -> None:
    """Both types of numbers, both layouts, streams that run at once and late."""
    found = json_of("numbers_on_device.py", late=late)
    assert len(found) == 9 * 2 * 2
    for name, error in found.items():
        assert error < CLOSE[name.split()[2]], name


def test_kernels_of_warp() -> None:
    """Elementary functions, integers, random numbers, atomics, and tiles in shared memory."""
    found = json_of("warp_on_device.py")
    assert found["name"].startswith("Emulated CUDA device") and found["arch"] == 90
    assert set(found["differences"]) == set(CLOSE_FOR_WARP)
    for name, difference in found["differences"].items():
        assert difference <= CLOSE_FOR_WARP[name], name
