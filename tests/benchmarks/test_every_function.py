"""Every public function is counted and timed on the two robots of the computation chapter."""

from __future__ import annotations

import json

import numpy as np
import pytest

import warpdyn as wd
from benchmarks import every_function
from benchmarks.every_function import Work
from warpdyn.execution.batched import FUNCTIONS


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_a_function_has_a_program(name: str) -> None:
    """The record has operations and bytes for an arm, which has no actuators."""
    counted = every_function.program(name, "panda")
    if name == "actuator_torques":
        assert counted == "panda has no actuators"
    else:
        operations, size = counted
        nothing = name in ("loop_errors", "loop_jacobian")  # an arm has no loops
        assert operations >= 0 and (size > 0 or nothing)


def test_the_timed_call_gives_the_functions_result() -> None:
    """It runs on random states of the robot, in the caller's memory order."""
    model = wd.load_robot("panda")
    work = Work.of("rnea", model, 5)
    q, v, a = work.arrays
    assert q.shape == (5, model.nq) and q.strides[0] == q.itemsize
    np.testing.assert_allclose(work.bind()(), wd.rnea(model, q, v, a))


def test_stored_times_belong_to_existing_functions() -> None:
    """Each function and robot has one record, with a time or a reason."""
    records = json.loads(every_function.RESULT.read_text())["records"]
    assert len({(r["function"], r["robot"]) for r in records}) == len(records)
    assert {r["function"] for r in records} <= set(FUNCTIONS)
    assert all(r["ns"] > 0.0 if "ns" in r else r["blank"] for r in records)
