"""Products with derivatives, forward and reverse: consistency, differences, kernels, refusals."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from gradient_cases import CASES, MODELS, Case, turn
from states import error

import warpdyn as wd
from warpdyn.algebra.scalar import repeat
from warpdyn.execution.batched import Function, describe_call
from warpdyn.execution.request.call import Call, all_arrays, derive, inputs_of, with_all_inputs
from warpdyn.recording.differentiation import pull_back, pullback, pushforward
from warpdyn.recording.program import record

ROUND_OFF = {"float64": 1e-12, "float32": 1e-4}

SINGLE = 5e-3
"""Relative to the largest entry: rounding in single precision, amplified by matrices of loops that are
nearly singular."""

DIFFERENCES = 1e-7
"""Relative to the largest entry, of central differences by 1e-5."""

H = 1e-5

UNIT = ("q", "q0", "q1", "pose", "quaternion", "params:placement")
"""Arrays with quaternions in them, which tangents must leave at unit length."""


def carried_out(call: Call) -> tuple[np.ndarray, ...]:
    """The oracle's results of a call."""
    results = wd.oracle(Function(lambda: call))
    return results if isinstance(results, tuple) else (results,)


def described_case(case: Case) -> Call:
    positional, keywords = case.arguments(case.arrays)
    return describe_call(case.called, positional, keywords)


def tangents_of(call: Call) -> dict[str, np.ndarray]:
    """Tangents of every array for each environment. Those of quaternions keep their length."""
    draw, tangents = np.random.default_rng(1), {}
    inputs = inputs_of(call)
    for name, array in all_arrays(call).items():
        x = np.broadcast_to(array, (2, *inputs[name].shape))
        u = draw.normal(size=x.shape)
        if name in UNIT:
            for first in quaternions(call, name):
                n = x[..., first : first + 4]
                u[..., first : first + 4] -= n * np.sum(
                    n * u[..., first : first + 4], -1, keepdims=True
                )
        tangents[name] = u
    return tangents


def quaternions(call: Call, name: str) -> list[int]:
    """The columns where quaternions begin in an array."""
    if name == "quaternion":
        return [0]
    if not name.startswith("q"):
        return [3]
    moving = [
        (call.model.coordinates[j.name].q.start, j.kind.quaternion)
        for j in call.model.moving_joints
    ]
    return [start + k for start, k in moving if k is not None]


def move_along(call: Call, tangents: Mapping[str, np.ndarray], h: float) -> Call:
    given = {
        n: np.broadcast_to(x, tangents[n].shape) + h * tangents[n]
        for n, x in all_arrays(call).items()
    }
    return replace(with_all_inputs(call), arrays=given)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_adjoints_and_tangents_belong_to_one_matrix(case: Case) -> None:
    """<w, J u> = <Jᵀ w, u> with u over all arrays. J u equals finite differences along u."""
    call = described_case(case)
    tangents = tangents_of(call)
    solution = carried_out(call)[0] if call.solves else None
    along = carried_out(derive(call, "jvp", tuple(tangents), tangents, solution))
    draw = np.random.default_rng(2)
    cotangents = {
        name: draw.normal(size=x.shape) for name, x in zip(call.results, along, strict=True)
    }
    bars = carried_out(derive(call, "vjp", tuple(tangents), cotangents, solution))

    one = [w * x for w, x in zip(cotangents.values(), along, strict=True)]
    other = [bar * u for bar, u in zip(bars, tangents.values(), strict=True)]
    sums = [np.array(sum(x.sum() for x in products)) for products in (one, other)]
    assert error(*sums, *one, *other) <= ROUND_OFF["float64"]

    ahead, behind = (carried_out(move_along(call, tangents, sign * H)) for sign in (1, -1))
    for x, y, found in zip(ahead, behind, along, strict=True):
        assert error(found, (x - y) / (2 * H)) <= DIFFERENCES


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=str)
def test_adjoints_in_single_precision_are_those_in_double_precision(case: Case) -> None:
    """Slopes of branches that are not taken must be finite in single precision."""
    double, single = (adjoints(case, dtype) for dtype in (np.float64, np.float32))
    for x, y in zip(single, double, strict=True):
        assert error(x.astype(float), y) <= SINGLE


def adjoints(case: Case, dtype: type) -> tuple[np.ndarray, ...]:
    """The derivatives of a case by all its arrays."""
    positional, keywords = case.arguments({n: x.astype(dtype) for n, x in case.arrays.items()})
    results = case.called(*positional, **keywords)
    several = isinstance(results, tuple)
    cotangents = tuple(np.cos(x).astype(dtype) for x in (results if several else (results,)))
    bars = wd.vjp(
        case.called, *positional, cotangents=cotangents if several else cotangents[0], **keywords
    )
    return bars if isinstance(bars, tuple) else (bars,)


KERNELS = (
    Case("rnea", "gripper", "q v a"),
    Case("aba", "pendulum", "q v tau"),
    Case("fk", "hopper", options={"frame": "leg", "form": "pose"}),
    Case("pose_and_jacobian", "gripper", options={"frame": "right"}),
)


@pytest.mark.parametrize("case", KERNELS, ids=str)
def test_kernels_equal_the_oracle(case: Case, run, dtype) -> None:
    """vjp, jvp and derivatives, in both precisions."""
    function, model = case.called, case.model
    given = [x.astype(dtype).astype(float) for x in case.arrays.values()]
    results = wd.oracle(function, model, *given, **case.options)
    cotangents = (
        tuple(np.cos(x).astype(dtype).astype(float) for x in results)
        if isinstance(results, tuple)
        else None
    )
    if cotangents is None:
        cotangents = np.cos(results).astype(dtype).astype(float)
    tangents = {
        name: np.sin(x).astype(dtype).astype(float)
        for name, x in zip(case.arrays, given, strict=True)
    }
    for derivative, options in (
        (wd.vjp, {"cotangents": cotangents}),
        (wd.jvp, {"tangents": tangents}),
        (wd.derivatives, {"wrt": tuple(case.arrays)}),
    ):
        wanted = wd.oracle(derivative, function, model, *given, **options, **case.options)
        found = run(derivative, function, model, *given, dtype=dtype, **options, **case.options)
        for x, y in zip(
            *(r if isinstance(r, tuple) else (r,) for r in (found, wanted)), strict=True
        ):
            assert error(x, y) <= ROUND_OFF[str(dtype)]


# Calling them.


def test_a_given_solution_does_not_change_products(run) -> None:
    """vjp and jvp of aba with `solution=` equal those that compute it."""
    model, case = MODELS["gripper"], Case("aba", "gripper", "q v tau")
    given = tuple(case.arrays.values())
    qdd, w = wd.aba(model, *given), np.cos(given[1])
    for x, y in zip(
        wd.vjp(wd.aba, model, *given, cotangents=w, solution=qdd),
        wd.vjp(wd.aba, model, *given, cotangents=w),
        strict=True,
    ):
        assert np.array_equal(x, y)
    u = {"q": w, "tau": np.sin(w)}
    assert np.array_equal(
        wd.jvp(wd.aba, model, *given, tangents=u, solution=qdd),
        wd.jvp(wd.aba, model, *given, tangents=u),
    )
    _, by_q, _, by_tau = wd.aba_derivatives(model, *given)
    assert (
        error(
            wd.vjp(wd.aba, model, *given, cotangents=w, wrt=("q",)),
            np.einsum("eij,ei->ej", by_q, w),
        )
        <= 10 * ROUND_OFF["float64"]
    )
    wanted = np.einsum("eij,ej->ei", by_q, u["q"]) + np.einsum("eij,ej->ei", by_tau, u["tau"])
    assert error(wd.jvp(wd.aba, model, *given, tangents=u), wanted) <= 10 * ROUND_OFF["float64"]


def test_bound_products_read_their_arrays_again() -> None:
    """bind prepares a vjp once. The array of the solution is read again too."""
    model, case = MODELS["gripper"], Case("aba", "gripper", "q v tau")
    given = tuple(case.arrays.values())
    qdd, w = wd.aba(model, *given), np.cos(given[1])
    run = wd.bind(wd.vjp, wd.aba, model, *given, cotangents=w, solution=qdd)
    first = tuple(x.copy() for x in run())
    w *= 2.0
    assert all(error(x, 2 * y) <= ROUND_OFF["float64"] for x, y in zip(run(), first, strict=True))
    given[0][:] += 0.3
    wd.aba(model, *given, out=qdd)
    for x, y in zip(run(), wd.vjp(wd.aba, model, *given, cotangents=w), strict=True):
        assert np.array_equal(x, y)


def test_functions_of_poses_have_products_and_second_derivatives() -> None:
    """Functions without a model, and vjp of a vjp."""
    pose = np.hstack([np.ones((2, 3)), turn(np.random.default_rng(0), 2)])
    w = np.arange(32.0).reshape(2, 4, 4)
    bar = wd.vjp(wd.convert.pose_to_matrix, pose, cotangents=w)
    assert error(bar[:, :3], w[:, :3, 3]) <= ROUND_OFF["float64"]


def test_out_accepts_one_array_per_input(run) -> None:
    """The arrays are a tuple."""
    model, (q, v, a) = MODELS["gripper"], Case("rnea", "gripper", "q v a").arrays.values()
    out = np.full((2, 2), np.nan), np.full((2, 2), np.nan)
    found = wd.vjp(wd.rnea, model, q, v, a, cotangents=v, wrt=("a", "q"), out=out)
    assert (
        found[0] is out[0]
        and error(out[0], np.einsum("eij,ei->ej", wd.crba(model, q), v)) <= ROUND_OFF["float64"]
    )


ONE = np.ones((3, 2))
PENDULUM = MODELS["pendulum"]
RNEA = (wd.rnea, PENDULUM, ONE, ONE, ONE)
WRONG: tuple[tuple[Callable[..., Any], dict[str, Any], str], ...] = (
    (wd.vjp, {"cotangents": (ONE, ONE)}, "cotangents must be 1 arrays, for out; got 2"),
    (
        wd.vjp,
        {"cotangents": ONE[:, :1]},
        r"cotangent of rnea's result out must be shaped like it, \(2,\).*got \(1,\)",
    ),
    (wd.vjp, {"cotangents": ONE, "wrt": ("gravity",)}, "no input array 'gravity'; it has q, v, a"),
    (wd.jvp, {"tangents": {"tau": ONE}}, "no input array 'tau'; it has q, v, a"),
    (
        wd.jvp,
        {"tangents": {"q": ONE[:, :1]}},
        r"tangent of q must be shaped like it, \(2,\).*got \(3, 1\)",
    ),
    (wd.derivatives, {"wrt": ("f_ext",)}, "no input array 'f_ext'; it has q, v, a"),
)


@pytest.mark.parametrize("function, options, text", WRONG)
def test_wrong_cotangents_and_inputs_are_refused(
    function: Callable[..., Any], options: dict[str, Any], text: str
) -> None:
    """The message has the wanted and the actual shape, also where the kernel is compiled."""
    wd.vjp(*RNEA, cotangents=ONE)
    with pytest.raises(ValueError, match=text):
        function(*RNEA, **options)
    with pytest.raises(
        ValueError, match=r"cotangent of aba's result out.*\(2,\) for each robot; got \(1,\)"
    ):
        wd.vjp(wd.aba, PENDULUM, ONE, ONE, ONE, cotangents=ONE[:, :1])
    with pytest.raises(TypeError, match="one of warpdyn's batched functions"):
        wd.derivatives(len, PENDULUM, ONE)


def test_derivatives_of_numbers_are_zero() -> None:
    """No statement is recorded without symbols."""
    assert pull_back([], [2.0], [1.0]) == ([], [])
    assert pull_back([3.0], [2.0], [1.0]) == ([0.0], [])  # type: ignore[list-item]
    assert pullback([], [2.0], [1.0]) == []


def test_the_derivative_of_a_number_with_respect_to_a_symbol_is_zero() -> None:
    """The symbol is the only node of its program."""

    @wd.kernel
    def number(robot: Any, x: ()) -> Any:  # type: ignore[valid-type]
        return np.stack([2.0])

    x, cotangents = np.ones(3), np.ones((3, 1))
    assert wd.jvp(number, PENDULUM, x, tangents={"x": x}).tolist() == [[0.0]] * 3
    assert wd.vjp(number, PENDULUM, x, cotangents=cotangents).tolist() == [0.0] * 3


def test_loops_that_end_early_have_no_derivatives() -> None:
    """Rolled or not, in both modes. Loops that read values stored by others have none either."""

    def ends(x: list) -> list:
        return repeat(lambda s: [0.5 * s[0]], x, 30, until=lambda s: 0.1 - s[0])

    modes = (
        lambda x, y: pullback(x, y, [1.0]),
        lambda x, y: pushforward(x, [1.0], y),
    )
    for mode in modes:
        for unrolls, words in (
            (False, "only a loop that is repeated a known number of times has derivatives"),
            (True, "a loop that repeats until it is done has no derivatives; detach its arrays"),
        ):
            with pytest.raises(TypeError, match=words):
                record(
                    lambda x, mode=mode: mode(x, ends(x)),
                    {"x": (1,)},
                    rolls=False,
                    unrolls=unrolls,
                )
