"""Derivatives by the implicit rule, for a call that solves a system."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from ...algebra.linear import solve_symmetric
from ...algebra.scalar import Scalar
from ...recording.differentiation import pullback, pushforward
from ...recording.program import flat
from .base_velocity import FORCE, Axes
from .call import Call, Solves, arguments_in_order, inputs_of
from .inputs import Input, Nested
from .named_values import by_name, check_cotangents, flat_of, of_kind

Evaluate = Callable[..., dict[str, Nested]]
"""Function from a call, its inputs and an epsilon to its results by name: `evaluate.evaluate`."""


def _equation(
    evaluate: Evaluate,
    call: Call,
    solves: Solves,
    inputs: Mapping[str, Nested],
    epsilon: float | None,
) -> tuple[dict[str, Nested], list[Scalar], Nested]:
    """The residual's inputs at the solution, the residual, and the matrix, for a call that solves a
    system."""
    known = inputs_of(call)
    (solution,) = of_kind("solution", known, inputs).values()
    at = {
        solves.unknown if name == solves.right else name: x
        for name, x in inputs.items()
        if known[name].kind not in ("solution", "seed")
    }
    at[solves.unknown] = solution
    residual = evaluate(_equation_part(call, solves, solves.residual, FORCE), at, epsilon)
    reads = {name: x for name, x in at.items() if name == "q" or _is_parameter(known, name)}
    matrix_call = _equation_part(call, solves, solves.matrix, FORCE + FORCE)
    matrix_call = replace(matrix_call, forces=False, order=())
    return at, list(flat(residual["out"])), evaluate(matrix_call, reads, epsilon)["out"]


def _is_parameter(known: Mapping[str, Input], name: str) -> bool:
    return name in known and known[name].kind == "parameter"


def _equation_part(call: Call, solves: Solves, algorithm: Callable[..., Any], out: Axes) -> Call:
    """The residual or the matrix as a call, in which the result of the original call is the
    unknown."""
    by_velocity = {**call.axes, "out": out, solves.unknown: call.axes[call.results[0]]}
    return replace(
        call,
        name=algorithm.__name__,
        algorithms=(algorithm,),
        options=(),
        order=tuple(
            solves.unknown if name == solves.right else name for name in arguments_in_order(call)
        ),
        by_velocity=by_velocity,
    )


def solution_vjp(
    evaluate: Evaluate,
    call: Call,
    solves: Solves,
    wrt: tuple[str, ...],
    inputs: Mapping[str, Nested],
    cotangents: Mapping[str, Nested],
    epsilon: float | None,
) -> dict[str, Nested]:
    """Adjoint by the implicit rule: with multipliers l = matrix⁻ᵀ w, l for the right side and -(d
    residual)ᵀ l for all other inputs."""
    at, residual, matrix = _equation(evaluate, call, solves, inputs, epsilon)
    name = call.results[0]
    check_cotangents(call.name, cotangents, {name: residual})
    multipliers = solve_symmetric(matrix, cotangents[name])
    others = [name for name in wrt if name != solves.right]
    bars = pullback(flat_of(at, others), residual, [-x for x in multipliers])
    named = {solves.right: multipliers, **by_name(bars, at, others)}
    return {name: named[name] for name in wrt}


def solution_jvp(
    evaluate: Evaluate,
    call: Call,
    solves: Solves,
    wrt: tuple[str, ...],
    inputs: Mapping[str, Nested],
    tangents: Mapping[str, Nested],
    epsilon: float | None,
) -> dict[str, Nested]:
    """Tangent by the implicit rule: matrix⁻¹ (d right - d residual)."""
    at, residual, matrix = _equation(evaluate, call, solves, inputs, epsilon)
    others = [name for name in wrt if name != solves.right]
    moved = pushforward(flat_of(at, others), flat_of(tangents, others), residual)
    right = tangents.get(solves.right, [0.0] * len(moved))
    return {
        call.results[0]: solve_symmetric(matrix, [t - r for t, r in zip(right, moved, strict=True)])
    }
