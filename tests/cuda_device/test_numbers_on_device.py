"""Results of Warp's and warpdyn's kernels on the emulated device, compared with the CPU."""

from __future__ import annotations

import pytest
from cuda_device.emulated_processes import json_of

from benchmarks.every_function import takes_robot
from warpdyn.execution.batched import FUNCTIONS

SOME = {
    "panda": ("rnea", "aba", "crba", "fk", "rnea_derivatives", "quaternion_to_matrix"),
    "quadruped": ("rnea", "aba", "crba", "fk"),
    "servos": ("actuator_torques",),
}
"""Functions of the quick tests."""

ROBOTS = ("panda", "cartpole", "quadruped", "humanoid")

PARTS = 6
"""Processes that share the functions of a robot."""

CALLS = 12
"""Of a function: two dtypes, two layouts, and streams at once, late, and captured."""

REFUSED = {
    "cartpole": ("dynamically_consistent_inverse", "operational_space", "operational_space_inertia")
}
"""Functions that are not for a robot: the pole moves in 2 of 6 directions."""

CLOSE_FOR_WARP = {
    "elementary": 5e-7,
    "elementary_double": 1e-14,
    "integers": 0,
    "random_numbers": 5e-7,
    "sums": 1e-5,
    "tiles": 5e-7,
}
"""The CPU's and CUDA's functions differ in their last bits, and sums in their order."""


@pytest.mark.parametrize("robot", SOME)
def test_some_functions_agree_with_the_cpu(robot: str) -> None:
    found = json_of("numbers_on_device.py", robot, *SOME[robot])
    assert set(found) == set(SOME[robot])
    for name, record in found.items():
        assert record.get("compared") == CALLS and not record["wrong"], (name, record)


@pytest.mark.parametrize("robot", ROBOTS)
@pytest.mark.parametrize("part", range(PARTS))
def test_every_function_agrees_with_the_cpu(
    robot: str, part: int, request: pytest.FixtureRequest
) -> None:
    """Functions without a robot are tested with those of panda."""
    if request.config.getoption("--device-tests") != "all":
        pytest.skip("takes minutes; bash scripts/test_cuda.sh runs it")
    names = sorted(name for name in FUNCTIONS if robot == ROBOTS[0] or takes_robot(name))
    names.remove("actuator_torques")  # for robots with actuators, see the quick tests
    found = json_of("numbers_on_device.py", robot, *names[part::PARTS])
    assert set(found) == set(names[part::PARTS])
    for name, record in found.items():
        if name in REFUSED.get(robot, ()):
            assert "left out" in record, (name, record)
        else:
            assert record.get("compared") == CALLS and not record["wrong"], (name, record)


def test_kernels_of_warp_agree_with_the_cpu() -> None:
    """They use elementary functions, integers, random numbers, atomics, and tiles in shared
    memory."""
    found = json_of("warp_on_device.py")
    assert found["name"].startswith("Emulated CUDA device") and found["arch"] == 90
    assert set(found["differences"]) == set(CLOSE_FOR_WARP)
    for name, difference in found["differences"].items():
        assert difference <= CLOSE_FOR_WARP[name], name
