"""The benchmark of first calls, and its law: interpreted and compiled results have the same
bits."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import pytest

import warpdyn as wd
from benchmarks import first_calls
from benchmarks.every_function import Work, takes_robot
from warpdyn.codegen.bytecode.encode import encode
from warpdyn.codegen.bytecode.instructions import OPERATIONS, WORDS
from warpdyn.execution.batched import FUNCTIONS
from warpdyn.execution.launch import launch
from warpdyn.execution.request.call import input_shapes
from warpdyn.execution.request.evaluate import record_call
from warpdyn.model.names import ModelError

OF_ARMS = ("dynamically_consistent_inverse", "operational_space", "operational_space_inertia")
"""Functions that need more joints than cartpole has: compared on panda."""

OF_OTHER_ROBOTS = (*OF_ARMS, "actuator_torques")
"""Functions that cartpole does not have."""

LOOPS = ("inverse_kinematics", "step", "state_derivative", "aba_derivatives", "rnea_derivatives")
"""Functions whose programs have loops or routines, also compared on larger robots."""


@pytest.fixture(autouse=True)
def no_caches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Record programs again, and load no kernel."""
    monkeypatch.setenv("WARPDYN_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(launch, "_kernels", WeakKeyDictionary())


IN_DOUBLE = (
    *("aba", "crba", "fk", "height_scan", "inverse_kinematics", "momentum_observer", "rnea"),
    *("state_derivative", "step"),
)
"""Functions whose float64 kernels are compiled without `--slow`: together they use every
instruction. In float32 all functions are compiled."""


def cases() -> list[Any]:
    """Each function in both precisions."""
    slow = pytest.mark.slow
    return [
        pytest.param(name, dtype, marks=() if single or name in IN_DOUBLE else slow)
        for name in sorted(FUNCTIONS)
        for dtype, single in ((np.float32, True), (np.float64, False))
    ]


def instructions(name: str) -> set[str]:
    """Instructions of a function's program for the cartpole, or none if the function does not apply
    to it."""
    try:
        call = Work.of(name, wd.load_robot("cartpole"), 5).describe_call()
        bytecode = encode(record_call(call, input_shapes(call), False))
    except (ModelError, ValueError):
        return set()
    return {OPERATIONS[number] for number in bytecode.code[::WORDS]}


def test_a_few_functions_have_all_instructions() -> None:
    """The functions compared in double use all instructions."""
    used = {name: instructions(name) for name in FUNCTIONS}
    assert set().union(*used.values()) == set().union(*(used[name] for name in IN_DOUBLE))


@pytest.mark.parametrize(("name", "dtype"), cases())
def test_interpreted_and_compiled_results_have_the_same_bits(
    name: str, dtype: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All functions run for one robot and for a batch that fills tiles and leaves a rest."""
    monkeypatch.setattr(first_calls, "COUNTS", (1, 5, 100))
    number, different = first_calls.compare("cartpole", name, dtype)
    assert number in (0, 3) and different == []
    assert number or name in OF_OTHER_ROBOTS


@pytest.mark.slow
@pytest.mark.parametrize("robot", ["panda", "quadruped", "humanoid"])
@pytest.mark.parametrize("name", [name for name in sorted(FUNCTIONS) if takes_robot(name)])
def test_results_have_the_same_bits_for_all_robots(name: str, robot: str) -> None:
    for dtype in (np.float32, np.float64):
        assert first_calls.compare(robot, name, dtype)[1] == []


@pytest.mark.parametrize("name", (*OF_ARMS, *(name for name in LOOPS if name in FUNCTIONS)))
def test_results_have_the_same_bits_for_an_arm(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(first_calls, "COUNTS", (1, 33))
    assert first_calls.compare("panda", name, np.float32)[1] == []


def test_rotations_of_a_free_base_have_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fused sums compute the angles from inputs."""
    monkeypatch.setattr(first_calls, "COUNTS", (1, 100))
    assert first_calls.compare("quadruped", "integrate", np.float32)[1] == []


def test_same_bits_compares_bits() -> None:
    """0.0 and -0.0 differ. Two NaNs are equal."""
    x = np.array([0.0, np.nan, 1.0])
    assert first_calls.same_bits(x, x.copy())
    assert not first_calls.same_bits(x, np.array([-0.0, np.nan, 1.0]))
    assert not first_calls.same_bits(x, np.array([0.0, 2.0, 1.0]))


def test_functions_are_timed_alternately() -> None:
    turns: list[int] = []
    medians = first_calls.interleaved_medians([lambda: turns.append(0), lambda: turns.append(1)], 3)
    assert turns == [0, 1, 0, 1, 0, 1] and len(medians) == 2 and min(medians) >= 0


def test_a_compile_policy_applies_to_one_binding() -> None:
    work = first_calls.in_rows(first_calls.Work.of("rnea", wd.load_robot("cartpole"), 3))
    before = wd.config.compile
    interpreted, compiled = (
        first_calls.bind_anew(work, "never"),
        first_calls.bind_anew(work, "wait"),
    )
    assert wd.config.compile == before
    np.testing.assert_allclose(interpreted(), compiled(), atol=0.5)  # armatures differ slightly
