"""The exact numbers of launches, copies, allocations and waits of warpdyn's calls. A change that
adds a copy or a wait to a call fails here."""

from __future__ import annotations

import pytest
from cuda_device.emulated_processes import json_of

RESULT = 37 * 8 * 8
"""Bytes of a result: 37 robots, 8 joints, float64."""

EXPECTED = {
    "rnea_again": {"launches": 1, "allocations": 1, "frees": 1, "allocated_bytes": RESULT},
    "rnea_into_out": {"launches": 1},
    "bound_aba": {"launches": 1},
    "simulation_step": {"launches": 1},
    "captured_bound_call": {"graph_launches": 1},
    "captured_call": {"graph_launches": 1},
    "captured_simulation_step": {"graph_launches": 1},
    "cotangents": {
        "launches": 1,
        "allocations": 3,
        "frees": 3,
        "allocated_bytes": 3 * RESULT,
    },
    "recorded_on_a_tape": {
        "launches": 1,
        "allocations": 2,
        "allocated_bytes": 2 * RESULT,
        "fills": 1,
        "live_bytes": 2 * RESULT,
    },
}
"""What is not named does not change: no copies, no waits, no events."""

CLOSE = 1e-12
CLOSE_IN_FLOAT32 = 1e-5
"""The simulations step in float32, ten times."""


@pytest.fixture(scope="module", params=[False, True], ids=["at_once", "late"])
def cases(request: pytest.FixtureRequest) -> tuple[bool, dict]:
    """A truth value for late streams, and the counters and the error of each case."""
    return request.param, json_of("asked_of_device.py", late=request.param)


@pytest.mark.parametrize("name", EXPECTED)
def test_calls_have_the_expected_counters_and_results(name: str, cases: tuple[bool, dict]) -> None:
    """The results are right in both modes. Late streams also free late, so their counters are not
    compared."""
    late, found = cases
    assert set(found) == set(EXPECTED)
    changed, error = found[name]
    assert error < (CLOSE_IN_FLOAT32 if "simulation" in name else CLOSE)
    if not late:
        assert changed == EXPECTED[name]
