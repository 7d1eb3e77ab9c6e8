"""Evaluation of calls: on numbers and on symbols, with the rules of their derivatives."""

from __future__ import annotations

import gc
from dataclasses import replace
from typing import Any

import numpy as np
import programs
import pytest
from robots import by_name
from states import error, states

import warpdyn as wd
from warpdyn.execution.call import Call, derived, gather, input_shapes
from warpdyn.execution.evaluate import (
    evaluate,
    on_numbers,
    record_call,
    result_shapes,
    tree_of,
)

CLOSE = 1e-11
"""Relative to the largest entry, one order of the same operations against another."""

ROBOTS = ("cartpole", "mimic_branches", "quadruped_floating")
FUNCTIONS = {"rnea": "v a", "aba": "v tau", "solve": "b", "crba": "", "integrate": "d"}


def call_of(function: str, robot: str) -> Call:
    """A call on one environment."""
    model = by_name(robot).model
    s = states(model, 1)
    rest = [
        getattr(s, {"tau": "a", "b": "a", "d": "v"}.get(n, n))[0]
        for n in FUNCTIONS[function].split()
    ]
    return getattr(wd, function).describe(model, s.q[0], *rest)


def numbers(call: Call) -> dict[str, Any]:
    return {name: array.tolist() for name, array in gather(call)[1].items()}


def flat(results: Any) -> np.ndarray:
    return np.concatenate([np.ravel(np.array(x, dtype=float)) for x in results.values()])


@pytest.mark.parametrize("robot", ROBOTS)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_what_is_recorded_is_what_is_evaluated(function: str, robot: str) -> None:
    """The program on numbers gives what the algorithm gives on the same numbers."""
    call = call_of(function, robot)
    program = record_call(call, input_shapes(call), None)
    found = programs.evaluate(program, gather(call)[1])
    wanted = flat(evaluate(replace(call, algorithms=call.algorithms[:1]), numbers(call)))
    assert error(np.array(found), wanted) <= CLOSE


@pytest.mark.parametrize("function", FUNCTIONS)
def test_result_shapes_are_those_of_results(function: str) -> None:
    """Of the function, of its tangents (the same) and of its columns (one more dimension)."""
    call = call_of(function, "mimic_branches")
    results = {name: np.shape(x) for name, x in evaluate(call, numbers(call)).items()}
    assert result_shapes(call) == results
    q = gather(call)[1]["q"]
    assert result_shapes(derived(call, "jvp", ("q",), {"q": q})) == results
    if not call.solves:
        nv = call.model.nv
        columns = result_shapes(derived(call, "columns", ("q",)))
        assert columns == {f"{name} by q": (*shape, nv) for name, shape in results.items()}


@pytest.mark.parametrize("robot", ROBOTS)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_adjoints_are_transposed_tangents(function: str, robot: str) -> None:
    """w · (J u) = (Jᵀ w) · u for every input at once; by the implicit rule where a system is solved."""
    call = call_of(function, robot)
    inputs, arrays = gather(call)
    draw = np.random.default_rng(0)
    u = {name: draw.normal(size=x.shape) for name, x in inputs.items()}
    (result,) = evaluate(call, numbers(call)).values()
    w, solution = draw.normal(size=np.shape(result)), np.array(result) if call.solves else None
    forward = derived(call, "jvp", tuple(u), u, solution)
    back = derived(call, "vjp", tuple(u), {"out": w}, solution)
    moved = flat(on_numbers(forward)(numbers(forward)))
    bars = flat(on_numbers(back)(numbers(back)))
    along = np.concatenate([u[name].ravel() for name in arrays])
    assert error(np.array([bars @ along]), np.array([moved @ w.ravel()])) <= 1e-9


def test_the_shortest_program_is_taken() -> None:
    """Of several algorithms for one result, whichever needs the fewest operations for the robot."""
    for robot in ("panda", "cartpole", "quadruped_floating"):
        call = call_of("aba", robot)
        shapes = input_shapes(call)
        each = [record_call(replace(call, algorithms=(a,)), shapes, True) for a in call.algorithms]
        best = min(program.operations for program in each)
        assert record_call(call, shapes, True).operations == best


def test_nothing_is_collected_while_recording() -> None:
    """And Python's collector is on again afterwards, where it was, after an error too."""
    seen = []

    def algorithm(tree: Any, q: Any) -> Any:
        seen.append(gc.isenabled())
        if len(seen) > 1:
            raise ValueError("the second time")
        return q

    call = Call("q", by_name("cartpole").model, (algorithm,), {"q": np.zeros(2)})
    record_call(call, {"q": (2,)}, True)
    assert gc.isenabled()
    with pytest.raises(ValueError, match="the second time"):
        record_call(call, {"q": (2,)}, True)
    assert gc.isenabled() and seen == [False, False]


def test_a_matrix_without_rows_has_a_shape() -> None:
    """A robot without coordinates has an inertia matrix of none by none."""
    model = wd.load('<robot name="rock"><link name="base"/></robot>')
    call = wd.crba.describe(model, np.zeros(0))
    assert record_call(call, {"q": (0,)}, True).results == {"out": (0, 0)}


def test_cotangents_are_shaped_like_results() -> None:
    """Another shape is refused with both, and with the function's name."""
    call = call_of("rnea", "cartpole")
    wrong = derived(call, "vjp", ("q",), {"out": np.ones(3)})
    with pytest.raises(ValueError, match=r"cotangent of rnea's result out.*\(2,\).*got \(3,\)"):
        record_call(wrong, input_shapes(wrong), None)


def test_a_tree_is_built_once() -> None:
    """For a model, not for its content: another one of the same file has its own."""
    model = by_name("cartpole").model
    assert tree_of(model) is tree_of(model)
    assert tree_of(wd.load_robot("cartpole")) is not tree_of(wd.load_robot("cartpole"))
