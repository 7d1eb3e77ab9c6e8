"""Programs cut into several warps give the bits of the same programs in one warp."""

from __future__ import annotations

import pytest
from cuda_device.emulated_processes import json_of
from cuda_device.warps_on_device import BATCHES

FLOAT32 = 1e-5
"""Relative to the largest number, as in tests/codegen/test_cuda.py."""

CASES = {
    "an arm": ("panda:rnea:2", "panda:crba:2"),
    "four legs": ("quadruped:rnea:4", "quadruped:crba:4"),
    "more warps than legs": ("quadruped:rnea:8",),
    "pieces without shared memory": ("humanoid:fk:4",),
}


@pytest.mark.parametrize("case", CASES)
def test_same_bits_as_one_warp(case: str) -> None:
    """Both types, both layouts, whole and partial blocks, angles beyond the polynomials, and both orders
    of the warps, of which one shows a missing barrier."""
    found = json_of("warps_on_device.py", *CASES[case])
    assert len(found) == len(CASES[case]) * 2 * 2 * len(BATCHES)
    for name, same in found.items():
        assert same, name
    assert any(int(name.split()[1]) > 1 for name in found)


def test_calls_of_a_kernel_in_several_warps() -> None:
    """With `out=`, bound, captured, from slices, with one row for all environments: the same bits."""
    found = json_of("warps_in_calls.py")
    assert len(found) == 6 * len(BATCHES)
    for name, value in found.items():
        assert value < FLOAT32 if name.startswith("error") else value is True, name
