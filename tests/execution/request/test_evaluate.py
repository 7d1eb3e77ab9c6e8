"""Evaluation of calls on numbers and on symbols, with the rules of their derivatives."""

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
from warpdyn.algebra.scalar import repeat, sin
from warpdyn.execution.request import evaluate as chosen
from warpdyn.execution.request.call import Call, derive, gather, input_shapes
from warpdyn.execution.request.evaluate import (
    evaluate,
    nothing_collected,
    on_numbers,
    record_call,
    result_shapes,
    tree_of,
)

CLOSE = 1e-11
"""Relative to the largest entry: the same operations in another order."""

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
def test_the_recorded_program_equals_the_algorithm(function: str, robot: str) -> None:
    """Both are evaluated on the same numbers."""
    call = call_of(function, robot)
    program = record_call(call, input_shapes(call), None)
    found = programs.evaluate(program, gather(call)[1])
    wanted = flat(evaluate(replace(call, algorithms=call.algorithms[:1]), numbers(call)))
    assert error(np.array(found), wanted) <= CLOSE


@pytest.mark.parametrize("function", FUNCTIONS)
def test_result_shapes_equal_those_of_the_results(function: str) -> None:
    """They are those of the function, of its tangents (the same) and of its columns (one more
    dimension)."""
    call = call_of(function, "mimic_branches")
    results = {name: np.shape(x) for name, x in evaluate(call, numbers(call)).items()}
    assert result_shapes(call) == results
    q = gather(call)[1]["q"]
    assert result_shapes(derive(call, "jvp", ("q",), {"q": q})) == results
    if not call.solves:
        nv = call.model.nv
        columns = result_shapes(derive(call, "columns", ("q",)))
        assert columns == {f"{name} by q": (*shape, nv) for name, shape in results.items()}


@pytest.mark.parametrize("robot", ROBOTS)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_adjoints_are_transposed_tangents(function: str, robot: str) -> None:
    """w · (J u) = (Jᵀ w) · u holds for all inputs at once, and by the implicit rule for solvers."""
    call = call_of(function, robot)
    inputs, arrays = gather(call)
    draw = np.random.default_rng(0)
    u = {name: draw.normal(size=x.shape) for name, x in inputs.items()}
    (result,) = evaluate(call, numbers(call)).values()
    w, solution = draw.normal(size=np.shape(result)), np.array(result) if call.solves else None
    forward = derive(call, "jvp", tuple(u), u, solution)
    back = derive(call, "vjp", tuple(u), {"out": w}, solution)
    moved = flat(on_numbers(forward)(numbers(forward)))
    bars = flat(on_numbers(back)(numbers(back)))
    along = np.concatenate([u[name].ravel() for name in arrays])
    assert error(np.array([bars @ along]), np.array([moved @ w.ravel()])) <= 1e-9


@pytest.mark.parametrize("times", [5, 40])
def test_second_derivatives_of_loops_equal_differences(times: int) -> None:
    """Tangents of adjoints, of short and of long loops, are compared with central differences with
    a step of 1e-5."""

    def swings(tree: Any, q: Any) -> Any:
        return repeat(lambda s: [s[0] + 0.1 * s[1], s[1] - 0.1 * sin(s[0])], list(q), times)

    call = Call("swings", by_name("cartpole").model, (swings,), {"q": np.array([0.7, -0.4])})
    u, w, h = np.array([0.3, 1.0]), np.array([-0.8, 0.5]), 1e-5
    first = derive(call, "vjp", ("q",), {"out": u})
    second = derive(first, "jvp", ("q",), {"q": w})
    given = numbers(second)
    moved = ({**given, "q": (call.arrays["q"] + t * w).tolist()} for t in (h, -h))
    later, earlier = (flat(on_numbers(first)(each)) for each in moved)
    assert error(flat(on_numbers(second)(given)), (later - earlier) / (2 * h)) <= 1e-8


def test_the_shortest_program_is_chosen() -> None:
    """It is the program with the fewest operations for the robot, of several algorithms for a
    result."""
    for robot in ("panda", "cartpole", "quadruped_floating"):
        call = call_of("aba", robot)
        shapes = input_shapes(call)
        each = [record_call(replace(call, algorithms=(a,)), shapes, True) for a in call.algorithms]
        best = min(program.operations for program in each)
        assert record_call(call, shapes, True).operations == best


def test_garbage_collection_is_off_while_recording() -> None:
    """Afterwards it is on again if it was before, after an error too."""
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


def test_an_empty_matrix_has_a_shape() -> None:
    """A robot without coordinates has an inertia matrix of shape (0, 0)."""
    model = wd.load('<robot name="rock"><link name="base"/></robot>')
    call = wd.crba.describe(model, np.zeros(0))
    assert record_call(call, {"q": (0,)}, True).results == {"out": (0, 0)}


def test_cotangents_must_have_the_shape_of_the_result() -> None:
    """The message contains both shapes and the function's name."""
    call = call_of("rnea", "cartpole")
    wrong = derive(call, "vjp", ("q",), {"out": np.ones(3)})
    with pytest.raises(ValueError, match=r"cotangent of rnea's result out.*\(2,\).*got \(3,\)"):
        record_call(wrong, input_shapes(wrong), None)


def test_equal_models_share_a_tree() -> None:
    """Models that differ do not."""
    model = by_name("cartpole").model
    assert tree_of(model) is tree_of(model)
    assert tree_of(wd.load_robot("cartpole")) is tree_of(wd.load_robot("cartpole"))
    assert tree_of(replace(model, name="another")) is not tree_of(model)


AT_REST = {
    "rnea": ("v", "a"),
    "aba": ("v", "tau"),
    "bias_forces": ("v",),
    "com_acceleration": ("v", "a"),
    "momentum": ("v",),
    "rnea_derivatives": ("v", "a"),
}


@pytest.mark.parametrize("representation", ["local", "mixed"])
@pytest.mark.parametrize("function", AT_REST)
def test_none_as_velocity_or_acceleration_means_zero(function: str, representation: str) -> None:
    """The results equal those of zeros, from a shorter program that reads neither, also in another
    representation of the base's velocity."""
    model = wd.load_robot("panda", floating_base=True)
    if representation == "mixed" and function != "rnea_derivatives":
        model = model.with_base_velocity("mixed")
    s = states(model, 3)
    arrays = {"v": np.zeros_like(s.v), "a": np.zeros_like(s.v), "tau": s.v}
    names = AT_REST[function]
    zeros = [arrays[name] for name in names]
    nones = [None if name in ("v", "a") else arrays[name] for name in names]
    call = getattr(wd, function)
    wanted, folded = call(model, s.q, *zeros), call(model, s.q, *nones)
    slow = wd.oracle(call, model, s.q, *nones)
    for other in (wanted, slow):
        pairs = zip(*(x if isinstance(x, tuple) else (x,) for x in (folded, other)), strict=True)
        assert all(error(x, y, np.ones(1)) <= CLOSE for x, y in pairs)
    long, short = (
        record_call(each, input_shapes(each), True)
        for each in (call.describe(model, s.q, *rest) for rest in (zeros, nones))
    )
    assert not {"v", "a"} & set(short.inputs) and short.operations < long.operations


@pytest.mark.parametrize("function", [wd.rnea, wd.aba], ids=lambda f: f.__name__)
def test_none_arguments_have_no_derivatives(function: Any) -> None:
    """Derivatives by the other arguments equal those with zeros."""
    model = by_name("mimic_branches").model
    s = states(model, 3)
    given = (None, s.a) if function is wd.aba else (None, None)
    zeros = [np.zeros_like(s.v) if x is None else x for x in given]
    wrt = ["q", "tau"] if function is wd.aba else ["q"]
    assert all(
        error(x, y) <= CLOSE
        for x, y in zip(
            *(
                np.atleast_1d(wd.vjp(function, model, s.q, *rest, cotangents=s.v, wrt=wrt))
                for rest in (given, zeros)
            ),
            strict=True,
        )
    )
    by_q = [wd.derivatives(function, model, s.q, *rest, wrt="q") for rest in (given, zeros)]
    assert error(*by_q) <= CLOSE
    q = s.q.copy()
    run = wd.bind(function, model, q, *given)
    q[:] = states(model, 3, seed=1).q
    assert error(run(), function(model, q, *zeros)) <= CLOSE
    with pytest.raises(ValueError, match=r"was given no input array 'v'; it has q"):
        wd.vjp(function, model, s.q, *given, cotangents=s.v, wrt="v")


def test_the_garbage_collector_is_restored() -> None:
    """It is restored after an error, too, and stays off if it was off before."""
    with nothing_collected():
        assert not gc.isenabled()
    assert gc.isenabled()
    with pytest.raises(ValueError, match="stop"), nothing_collected():
        raise ValueError("stop")
    assert gc.isenabled()
    gc.disable()
    try:
        with nothing_collected():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_documented_numbers() -> None:
    """They are measured, or given by other software. Another value needs another reason."""
    assert chosen.EPSILON == {
        True: 2.9802322387695312e-08,
        False: 2.220446049250313e-16,
        None: None,
    }
