"""Programs cut into several warps give the same bits as in one warp."""

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
def test_several_warps_give_the_bits_of_one_warp(case: str) -> None:
    """The test covers both types, both layouts, whole and partial blocks, angles beyond the
    polynomials, and both orders of the warps, one of which shows a missing barrier."""
    found = json_of("warps_on_device.py", *CASES[case])
    assert len(found) == len(CASES[case]) * 2 * 2 * len(BATCHES)
    for name, same in found.items():
        assert same, name
    assert any(int(name.split()[1]) > 1 for name in found)


def test_all_forms_of_calls_have_the_same_bits_in_several_warps() -> None:
    """The forms are `out=`, bound, captured, slices, and one row for all environments."""
    found = json_of("warps_in_calls.py")
    assert len(found) == 6 * len(BATCHES)
    for name, value in found.items():
        assert value < FLOAT32 if name.startswith("error") else value is True, name
