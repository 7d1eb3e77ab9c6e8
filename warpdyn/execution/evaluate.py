"""A call on numbers or symbols: its algorithm, and the rules of its derivatives; and how it is recorded."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import Any
from weakref import WeakKeyDictionary

from ..algebra.linear import solve_symmetric
from ..algebra.scalar import Scalar
from ..model import Model
from ..model.params import typical, varied
from ..model.tree import Tree, build_tree
from ..recording.differentiation import pullback, pushforward
from ..recording.program import STATE, Loop, Program, flat, folded, record, shape_of
from .base_velocity import OWN_ONLY, RESULTS, Converter, inputs_in, result_out
from .call import (
    FORCE_ON,
    PARAMETER,
    SOLUTION,
    STANDARD_GRAVITY,
    Call,
    Derivative,
    Nested,
    Solves,
    all_arrays,
    input_shape,
    result_names,
    seed,
)

EPSILON = {True: 2.0**-25, False: 2.0**-52, None: None}
"""Constants are rounded to 0 and 1 below half a unit in the last place (float32) and below one (float64)."""


_shapes: WeakKeyDictionary[Model, dict[tuple, dict[str, tuple[int, ...]]]] = WeakKeyDictionary()


_trees: WeakKeyDictionary[Model, Tree] = WeakKeyDictionary()


def tree_of(model: Model) -> Tree:
    """The model's kinematic tree, built once."""
    tree = _trees.get(model)
    if tree is None:
        tree = _trees[model] = build_tree(model)
    return tree


def on_numbers(call: Call) -> Callable[[Mapping[str, Nested]], Mapping[str, Nested]]:
    """The call as a function of numbers: its text, or for a derivative the recording."""
    if not call.derivatives:
        return lambda inputs: evaluate(call, inputs)
    return record_call(
        call, {name: input_shape(call, name) for name in all_arrays(call)}, None
    ).on_numbers


def record_call(call: Call, inputs: Mapping[str, tuple[int, ...]], single: bool | None) -> Program:
    """Record a call for its model; of several texts for one result, the shortest program.

    single: constants are prepared for float32 or float64; None: they are left as they are.
    """
    if call.refuse:
        call.refuse(call.model if call.params is None else typical(call.model, call.params.names))

    def run(text: Callable[..., Any], symbols: dict[str, Nested]) -> Any:
        results = evaluate(replace(call, texts=(text,)), symbols, EPSILON[single])
        return tuple(results.values()) if len(results) > 1 else next(iter(results.values()))

    names = result_names(call)
    if call.loop:
        inputs = {STATE: (call.loop.size,), **inputs}
        stepping = replace(call, texts=(call.loop.step,), results=(STATE,))
        step = record(
            lambda **symbols: evaluate(stepping, symbols, EPSILON[single])[STATE],
            inputs,
            (STATE,),
            False,
        )
        program = record(lambda **symbols: run(call.texts[0], symbols), inputs, names, False)
        return replace(program, loop=Loop(step, call.loop.steps))
    rolls = not call.derivatives
    programs = [
        record(lambda _text=text, **symbols: run(_text, symbols), inputs, names, rolls)
        for text in call.texts
    ]
    program = min(programs, key=lambda program: program.operations)
    if call.derivatives:
        return program
    return replace(
        program,
        results={**program.results, **{n: call.shapes[n] for n in names if n in call.shapes}},
    )


def result_shapes(call: Call) -> dict[str, tuple[int, ...]]:
    """Of one robot's part of each result, by running the text on symbols."""
    *before, last = call.derivatives or (None,)
    if last is None:
        known = _shapes.setdefault(call.model, {})
        if call.key not in known:
            inputs = {name: input_shape(call, name) for name in all_arrays(call)}
            known[call.key] = dict(
                record_call(replace(call, texts=call.texts[:1]), inputs, True).results
            )
        return known[call.key]
    if last.kind == "vjp":
        return {name: input_shape(call, name) for name in last.wrt}
    base = replace(call, derivatives=tuple(before))
    own = {
        name: x
        for name, x in _unseeded(base, all_arrays(call)).items()
        if not name.startswith(SOLUTION)
    }
    shapes = result_shapes(replace(base, arrays=own))
    if last.kind == "jvp":
        return shapes
    widths = {x: (call.model.nv,) if x == "q" else input_shape(call, x) for x in last.wrt}
    return {f"{name} by {x}": (*shapes[name], prod(widths[x])) for x in last.wrt for name in shapes}


def evaluate(
    call: Call, inputs: Mapping[str, Nested], epsilon: float | None = None
) -> dict[str, Nested]:
    """Results by name for inputs by name: numbers or symbols.

    `epsilon`: prepare the tree for recording (inertias regrouped, constants below it rounded).
    """
    if call.derivatives:
        *before, last = call.derivatives
        return _DERIVE[last.kind](
            replace(call, derivatives=tuple(before)), last.wrt, inputs, epsilon
        )
    given = dict(inputs)
    tree = _tree_for(call, given, epsilon)
    extra = dict(call.options)
    if call.forces:
        extra["gravity"] = given.pop("gravity", STANDARD_GRAVITY)
        f_ext = given.pop("f_ext", None)
        if f_ext is None:
            links = [name for name in given if name.startswith(FORCE_ON)]
            extra["f_ext"] = {name.removeprefix(FORCE_ON): given.pop(name) for name in links}
        else:
            extra["f_ext"] = dict(zip(call.model.link_names, f_ext, strict=True))
    if call.loop and STATE not in given:
        state: Nested = [0.0] * call.loop.size
        for _ in range(call.loop.steps):
            state = call.loop.step(tree, state, *given.values(), **extra)
            if state[0] > 0:
                break
        given = {STATE: state, **given}
    converter = _converter(call, tree, given)
    own = inputs_in(converter, given) if converter else given
    results = call.texts[0](tree, *own.values(), **extra)
    named = dict(zip(call.results, results if len(call.results) > 1 else (results,), strict=True))
    if converter:
        for name, kinds in RESULTS.get(call.name, {}).items():
            rows = None
            if {"rate", "bias", "bias force"} & set(kinds):
                options = {k: x for k, x in extra.items() if k not in ("gravity", "f_ext")}
                rows = call.rate_of(tree, *(x for n, x in own.items() if n != "v"), **options)
            named[name] = result_out(converter, named[name], kinds, own, rows)
    return named


def _converter(call: Call, tree: Tree, given: Mapping[str, Nested]) -> Converter | None:
    """Where the model's free base has its velocity in another representation than texts have."""
    if call.model.base_velocity == "local" or not call.model.floating_base or call.converts:
        return None
    if call.name in OWN_ONLY:
        raise ValueError(
            f'{call.name} is for models with base_velocity="local"; {call.model.name} has '
            f'"{call.model.base_velocity}": use {OWN_ONLY[call.name]}, or model.with_base_velocity("local")'
        )
    return Converter(tree, given["q0" if "q0" in given else "q"], call.model.base_velocity)


def _tree_for(call: Call, given: dict[str, Nested], epsilon: float | None) -> Tree:
    """The model's tree with the parameters among the inputs, which are taken out, in place of its own."""
    tree = tree_of(call.model)
    if call.params is not None:
        values = {quantity: given.pop(PARAMETER + quantity) for quantity in call.params.names}
        tree = build_tree(varied(call.model, call.params.names, values))
    if epsilon is not None:
        tree = tree.regrouped().snapped(epsilon)
    return tree


def _flat(nested: Mapping[str, Nested], names: Sequence[str]) -> list[Any]:
    return [x for name in names for x in flat(nested[name])]


def _by_name(
    values: Sequence[Scalar], like: Mapping[str, Nested], names: Sequence[str]
) -> dict[str, Nested]:
    """A flat list cut and folded like the nested lists of the given names."""
    folds, start = {}, 0
    for name in names:
        shape = shape_of(like[name])
        folds[name] = folded(list(values[start : start + prod(shape)]), shape)
        start += prod(shape)
    return folds


def _unseeded(call: Call, inputs: Mapping[str, Nested]) -> dict[str, Nested]:
    """Inputs without those that the derivative of this call added."""
    return {name: x for name, x in inputs.items() if not name.startswith(seed(call, ""))}


def _vjp(
    call: Call, wrt: tuple[str, ...], inputs: Mapping[str, Nested], epsilon: float | None
) -> dict[str, Nested]:
    """Jᵀ w."""
    own = _unseeded(call, inputs)
    cotangents = {name: inputs[seed(call, name)] for name in result_names(call)}
    if call.solves and not call.derivatives:
        return _solution_vjp(call, call.solves, wrt, own, cotangents, epsilon)
    results = evaluate(call, own, epsilon)
    _check_cotangents(call, cotangents, results)
    names = list(cotangents)
    return _by_name(
        pullback(_flat(own, wrt), _flat(results, names), _flat(cotangents, names)), own, wrt
    )


def _check_cotangents(
    call: Call, cotangents: Mapping[str, Nested], results: Mapping[str, Nested]
) -> None:
    """Shaped like the results, but for one number, which Warp has as (1,)."""
    for name, w in cotangents.items():
        given, needed = shape_of(w), shape_of(results[name])
        if given != needed and not prod(given) == prod(needed) <= 1:
            raise ValueError(
                f"the cotangent of {call.name}'s result {name} must be shaped like it, {needed} for each robot; "
                f"got {given}"
            )


def _jvp(
    call: Call, wrt: tuple[str, ...], inputs: Mapping[str, Nested], epsilon: float | None
) -> dict[str, Nested]:
    """J u."""
    own = _unseeded(call, inputs)
    tangents = {name: inputs[seed(call, name)] for name in wrt}
    if call.solves and not call.derivatives:
        return _solution_jvp(call, call.solves, wrt, own, tangents, epsilon)
    results = evaluate(call, own, epsilon)
    names = list(results)
    return _by_name(
        pushforward(_flat(own, wrt), _flat(tangents, wrt), _flat(results, names)), results, names
    )


def _columns(
    call: Call, wrt: tuple[str, ...], inputs: Mapping[str, Nested], epsilon: float | None
) -> dict[str, Nested]:
    """The whole of J, by tangents along each coordinate."""
    results = evaluate(call, inputs, epsilon)
    values = _flat(results, list(results))
    by: dict[str, Nested] = {}
    for name in wrt:
        x = _flat(inputs, [name])
        width = call.model.nv if name == "q" else len(x)
        steps: list[list[Scalar]] = [[float(i == k) for i in range(width)] for k in range(width)]
        if name == "q":
            tree = tree_of(call.model)
            converter = _converter(replace(call, name=""), tree, inputs)
            steps = [
                tree.rate(x, converter.velocity_in(step) if converter else step) for step in steps
            ]
        columns = [pushforward(x, step, values) for step in steps]
        start = 0
        for result, nested in results.items():
            shape = shape_of(nested)
            rows = [column[k] for k in range(start, start + prod(shape)) for column in columns]
            by[f"{result} by {name}"] = folded(rows, (*shape, width))
            start += prod(shape)
    return {
        name: by[name]
        for name in result_names(
            replace(call, derivatives=(*call.derivatives, Derivative("columns", wrt)))
        )
    }


_DERIVE = {"vjp": _vjp, "jvp": _jvp, "columns": _columns}


def _equation(
    call: Call, solves: Solves, inputs: Mapping[str, Nested], epsilon: float | None
) -> tuple[dict[str, Nested], list[Scalar], Nested]:
    """Of a call that solves a system: the residual's inputs at the solution, the residual, and the matrix."""
    solution = SOLUTION + call.results[0]
    at = {
        solves.unknown if name == solves.right else name: x
        for name, x in inputs.items()
        if name != solution
    }
    at[solves.unknown] = inputs[solution]
    residual = evaluate(_text_of(call, solves.residual), at, epsilon)
    reads = {name: x for name, x in at.items() if name == "q" or name.startswith(PARAMETER)}
    matrix = evaluate(replace(_text_of(call, solves.matrix), forces=False), reads, epsilon)
    return at, list(flat(residual["out"])), matrix["out"]


def _text_of(call: Call, text: Callable[..., Any]) -> Call:
    return replace(call, name=text.__name__, texts=(text,), options=())


def _solution_vjp(
    call: Call,
    solves: Solves,
    wrt: tuple[str, ...],
    inputs: Mapping[str, Nested],
    cotangents: Mapping[str, Nested],
    epsilon: float | None,
) -> dict[str, Nested]:
    """With multipliers l = matrix⁻ᵀ w: l for the right side, -(d residual)ᵀ l for all else."""
    at, residual, matrix = _equation(call, solves, inputs, epsilon)
    name = call.results[0]
    _check_cotangents(call, cotangents, {name: residual})
    multipliers = solve_symmetric(matrix, cotangents[name])
    others = [name for name in wrt if name != solves.right]
    bars = pullback(_flat(at, others), residual, [-x for x in multipliers])
    named = {solves.right: multipliers, **_by_name(bars, at, others)}
    return {name: named[name] for name in wrt}


def _solution_jvp(
    call: Call,
    solves: Solves,
    wrt: tuple[str, ...],
    inputs: Mapping[str, Nested],
    tangents: Mapping[str, Nested],
    epsilon: float | None,
) -> dict[str, Nested]:
    """matrix⁻¹ (d right - d residual)."""
    at, residual, matrix = _equation(call, solves, inputs, epsilon)
    others = [name for name in wrt if name != solves.right]
    moved = pushforward(_flat(at, others), _flat(tangents, others), residual)
    right = tangents.get(solves.right, [0.0] * len(moved))
    return {
        call.results[0]: solve_symmetric(matrix, [t - r for t, r in zip(right, moved, strict=True)])
    }
