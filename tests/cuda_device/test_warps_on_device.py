"""Programs cut into several warps give the bits of the same programs in one warp."""

from __future__ import annotations

import pytest
from cuda_device.emulated_processes import json_of
from cuda_device.warps_on_device import BATCHES

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
