"""Evaluation of a call on numbers or symbols: its algorithm, the rules of its derivatives, and its
recording."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from math import prod
from typing import Any
from weakref import WeakKeyDictionary

from ...algebra.scalar import Scalar
from ...model.lumping import build_tree
from ...model.structure import Structure
from ...model.tree import Tree
from ...model.value_substitution import substitute_values, typical
from ...recording.differentiation import pull_back, pushforward
from ...recording.program import Program, flat, fold, record, shape_of
from .base_velocity import (
    CONFIGURATION,
    FORCE,
    VELOCITY,
    Axes,
    Converter,
    inputs_in,
    result_out,
    velocity_among,
)
from .call import (
    STANDARD_GRAVITY,
    Call,
    Derivative,
    Solves,
    arguments_in_order,
    input_shapes,
    inputs_of,
    result_names,
    tables_of,
)
from .implicit_rule import SolvedEquation, solution_jvp, solution_vjp
from .inputs import Input, Nested
from .named_values import by_name, check_cotangents, flat_of, of_kind

EPSILON = {True: 2.0**-25, False: 2.0**-52, None: None}
"""Constants this close to 0 and 1 are rounded: half a unit in the last place for float32, one unit
for float64."""


_shapes: WeakKeyDictionary[Structure, dict[tuple, dict[str, tuple[int, ...]]]] = WeakKeyDictionary()


_trees: WeakKeyDictionary[Structure, Tree] = WeakKeyDictionary()


def tree_of(model: Structure) -> Tree:
    """The model's kinematic tree, built once."""
    tree = _trees.get(model)
    if tree is None:
        tree = _trees[model] = build_tree(model)
    return tree


def on_numbers(call: Call) -> Callable[[Mapping[str, Nested]], Mapping[str, Nested]]:
    """The call as a function of numbers: its algorithm or, for a derivative, the recorded
    program."""
    if not call.derivatives:
        return lambda inputs: evaluate(call, inputs)
    return record_call(call, input_shapes(call), None).on_numbers


def record_call(call: Call, inputs: Mapping[str, tuple[int, ...]], single: bool | None) -> Program:
    """Record a call for its model; with several algorithms for one result, the shortest program.

    single: constants are prepared for float32 or float64; None: they do not change.
    """
    if call.refuse:
        # Numbers that vary must not raise, so those of a typical robot are checked.
        call.refuse(call.model if call.params is None else typical(call.model, call.params.names))

    def run(algorithm: Callable[..., Any], symbols: dict[str, Nested]) -> Any:
        results = evaluate(replace(call, algorithms=(algorithm,)), symbols, EPSILON[single])
        return tuple(results.values()) if len(results) > 1 else next(iter(results.values()))

    names = result_names(call)
    # Routines have no derivatives, and loops only first derivatives. For higher ones they are
    # unrolled.
    rolls, unrolls = not call.derivatives, len(call.derivatives) > 1
    with nothing_collected():
        programs = [
            _finish(
                call,
                record(
                    lambda _each=each, **symbols: run(_each, symbols),
                    inputs,
                    names,
                    rolls,
                    unrolls,
                    tables_of(call),
                ),
            )
            for each in call.algorithms
        ]
        if len(programs) == 1:
            return programs[0]
        # The shortest program depends on the robot's joints, its zeros and the frames.
        return min(programs, key=lambda program: program.operations)


def _finish(call: Call, program: Program) -> Program:
    """The recorded program with the shapes that the call knows, and the results that may overwrite
    an input.

    This happens before its statements are needed, because a program orders them once and caches
    them.
    """
    # Nested lists do not show the shape of a matrix without rows.
    if call.derivatives:
        is_whole = all(0 not in shape for shape in program.results.values())
        return program if is_whole else replace(program, results=result_shapes(call))
    known = {name: call.shapes[name] for name in result_names(call) if name in call.shapes}
    return replace(program, results={**program.results, **known}, over=_written_over(call, program))


def _written_over(call: Call, program: Program) -> dict[str, str]:
    """Results that may overwrite an input: those with an argument's name, and those that the call
    names, if both have the same shape."""
    over = {name: name for name in program.results if name in program.inputs} | dict(call.over)
    return {r: a for r, a in over.items() if program.results[r] == program.inputs[a]}


def result_shapes(call: Call) -> dict[str, tuple[int, ...]]:
    """Shape of one environment's slice of each result, found by running the algorithm on
    symbols."""
    *before, last = call.derivatives or (None,)
    if last is None:
        known = _shapes.setdefault(call.model, {})
        if call.key not in known:
            first = replace(call, algorithms=call.algorithms[:1])
            known[call.key] = dict(record_call(first, input_shapes(call), True).results)
        return known[call.key]
    inputs = inputs_of(call)
    if last.kind == "vjp":
        return {name: inputs[name].shape for name in last.wrt}
    shapes = result_shapes(replace(call, derivatives=tuple(before)))
    if last.kind == "jvp":
        return shapes
    widths = {x: (call.model.nv,) if x == "q" else inputs[x].shape for x in last.wrt}
    return {f"{name} by {x}": (*shapes[name], prod(widths[x])) for x in last.wrt for name in shapes}


def evaluate(
    call: Call, inputs: Mapping[str, Nested], epsilon: float | None = None, tree: Tree | None = None
) -> dict[str, Nested]:
    """Results by name for inputs by name: numbers or symbols.

    `epsilon`: prepare the tree for recording (inertias regrouped, constants below it rounded).
    `tree`: a prepared tree, from a kernel that contains this call.
    """
    if call.derivatives:
        # The last derivative comes first: its rule evaluates the call without it, and so on
        # inwards.
        *before, last = call.derivatives
        return _DERIVE[last.kind](replace(call, derivatives=tuple(before)), last, inputs, epsilon)
    known = inputs_of(call)
    if tree is None:
        tree = _tree_for(call, of_kind("parameter", known, inputs), epsilon)
    arguments = _arguments(call, known, inputs)
    extra = dict(call.options)
    if call.forces is not None:
        extra |= _forces(call, known, inputs)
    # Algorithms use only the local representation, so conversions surround them.
    converter = _converter(call, tree, inputs)
    by_velocity = call.axes
    local = inputs_in(converter, arguments, by_velocity) if converter else arguments
    results = call.algorithms[0](tree, *local.values(), **extra)
    named = dict(zip(call.results, results if len(call.results) > 1 else (results,), strict=True))
    if not converter:
        return named
    # Axes that move with the base add velocity terms to accelerations and rates. For a rate they
    # are terms of the columns of which it is the derivative.
    v_local = velocity_among(local, by_velocity)
    # A step returns the velocity at its new configuration.
    moved = [name for name in call.results if by_velocity.get(name) == CONFIGURATION]
    if moved:
        converter = Converter(tree, named[moved[0]], call.model.base_velocity)
    for name in call.results:
        axes, rows = by_velocity.get(name, ()), None
        if call.rate_of:
            at_rest = [x for n, x in local.items() if by_velocity.get(n) != VELOCITY]
            rows = call.rate_of(tree, *at_rest, **dict(call.options))
        named[name] = result_out(converter, named[name], axes, v_local, rows)
    return named


def _arguments(
    call: Call, known: Mapping[str, Input], inputs: Mapping[str, Nested]
) -> dict[str, Nested]:
    """The algorithm's arguments by name, in its order; those left out are zero."""
    # An unknown name is an argument: a loop's state, or the unknown of an equation.
    arguments = {
        name: x for name, x in inputs.items() if name not in known or known[name].kind == "argument"
    }
    order = arguments_in_order(call)
    if order:
        zero = [0.0] * call.model.nv
        arguments = {name: arguments.get(name, zero) for name in order}
    return arguments


def _forces(call: Call, known: Mapping[str, Input], inputs: Mapping[str, Nested]) -> dict[str, Any]:
    """Gravity and the external forces by link."""
    # With forces on single links, forces on all other links are not part of the program.
    f_ext = (
        dict(zip(call.model.link_names, inputs["f_ext"], strict=True))
        if "f_ext" in inputs
        else of_kind("force", known, inputs)
    )
    return {"gravity": inputs.get("gravity", STANDARD_GRAVITY), "f_ext": f_ext}


def _converter(call: Call, tree: Tree, inputs: Mapping[str, Nested]) -> Converter | None:
    """Conversions between the model's representation and the algorithm's, if both differ and it
    matters."""
    model = call.model
    if _is_local(model):
        return None
    if call.local_only:
        raise ValueError(
            f'{call.name} is for models with base_velocity="local"; {model.name} has '
            f'"{model.base_velocity}": use {call.local_only}, or model.with_base_velocity("local")'
        )
    axes = call.axes
    at = next((name for name in inputs if axes.get(name) == CONFIGURATION), None)
    return None if at is None else _converter_at(model, tree, inputs[at])


def _is_local(model: Structure) -> bool:
    """True if a model has the velocities that algorithms use."""
    return model.base_velocity == "local" or not model.floating_base


def _converter_at(model: Structure, tree: Tree, q: Sequence[Scalar]) -> Converter | None:
    if _is_local(model):
        return None
    return Converter(tree, q, model.base_velocity)


def _tree_for(call: Call, values: Mapping[str, Nested], epsilon: float | None) -> Tree:
    """The model's tree, with the values of params among the inputs."""
    tree = tree_of(call.model)
    if call.params is not None:
        tree = build_tree(substitute_values(call.model, call.params.names, values))
    if epsilon is not None:
        tree = tree.regroup().snap(epsilon)
    return tree


def _differentiable(call: Call) -> Call:
    """The call with the algorithm from which its derivative is recorded. Higher derivatives need
    the first algorithm, in which nothing is constant."""
    if call.differentiable is None:
        return call
    if call.derivatives:
        return replace(call, differentiable=None)
    return replace(call, algorithms=(call.differentiable,))


def solved_equation(
    call: Call, solves: Solves, inputs: Mapping[str, Nested], epsilon: float | None
) -> SolvedEquation:
    """The equation that a call solves, at the solution among the inputs."""
    known = inputs_of(call)
    (solution,) = of_kind("solution", known, inputs).values()
    at = {
        solves.unknown if name == solves.right else name: x
        for name, x in inputs.items()
        if known[name].kind not in ("solution", "seed")
    }
    at[solves.unknown] = solution
    residual = evaluate(_equation_part(call, solves, solves.residual, FORCE), at, epsilon)
    reads = {
        name: x
        for name, x in at.items()
        if name == "q" or (name in known and known[name].kind == "parameter")
    }
    matrix_call = _equation_part(call, solves, solves.matrix, FORCE + FORCE)
    matrix_call = replace(matrix_call, forces=None, order=())
    matrix = evaluate(matrix_call, reads, epsilon)["out"]
    return SolvedEquation(at, list(flat(residual["out"])), matrix, solves.right)


def _equation_part(call: Call, solves: Solves, algorithm: Callable[..., Any], out: Axes) -> Call:
    """The residual or the matrix as a call. The result of the original call is its unknown."""
    by_velocity = {**call.axes, "out": out, solves.unknown: call.axes[call.results[0]]}
    arguments = arguments_in_order(call)
    return replace(
        call,
        name=algorithm.__name__,
        algorithms=(algorithm,),
        options=(),
        order=tuple(solves.unknown if name == solves.right else name for name in arguments),
        by_velocity=by_velocity,
    )


def _vjp(
    call: Call, last: Derivative, inputs: Mapping[str, Nested], epsilon: float | None
) -> dict[str, Nested]:
    """Jᵀ w."""
    cotangents = {x.subject: inputs[x.name] for x in last.seeds}
    if call.solves and not call.derivatives:
        equation = solved_equation(call, call.solves, inputs, epsilon)
        (name,) = call.results
        check_cotangents(call.name, cotangents, {name: equation.residual})
        return solution_vjp(equation, last.wrt, cotangents[name])
    results = evaluate(_differentiable(call), inputs, epsilon)
    check_cotangents(call.name, cotangents, results)
    names, known = list(cotangents), inputs_of(call)
    numbers = [name for name in last.wrt if not known[name].table]
    tables = {name for name in last.wrt if known[name].table}
    bars, touches = pull_back(
        flat_of(inputs, numbers), flat_of(results, names), flat_of(cotangents, names), tables
    )
    found = by_name(bars, inputs, numbers)
    for name in tables:
        shares = [[x.share, x.row, x.column] for x in touches if x.table == name]
        found[name] = shares or [[0.0, 0.0, 0.0]]
    return {name: found[name] for name in last.wrt}


def _jvp(
    call: Call, last: Derivative, inputs: Mapping[str, Nested], epsilon: float | None
) -> dict[str, Nested]:
    """J u."""
    tangents = {x.subject: inputs[x.name] for x in last.seeds}
    if call.solves and not call.derivatives:
        equation = solved_equation(call, call.solves, inputs, epsilon)
        return {call.results[0]: solution_jvp(equation, last.wrt, tangents)}
    results = evaluate(_differentiable(call), inputs, epsilon)
    names, known = list(results), inputs_of(call)
    numbers = [name for name in last.wrt if not known[name].table]
    moved = pushforward(
        flat_of(inputs, numbers),
        flat_of(tangents, numbers),
        flat_of(results, names),
        {name: tangents[name] for name in last.wrt if known[name].table},
    )
    return by_name(moved, results, names)


def _columns(
    call: Call, last: Derivative, inputs: Mapping[str, Nested], epsilon: float | None
) -> dict[str, Nested]:
    """The whole Jacobian J, from tangents along each coordinate."""
    results = evaluate(_differentiable(call), inputs, epsilon)
    values = flat_of(results, list(results))
    by: dict[str, Nested] = {}
    for name in last.wrt:
        x = flat_of(inputs, [name])
        width = call.model.nv if name == "q" else len(x)
        steps: list[list[Scalar]] = [[float(i == k) for i in range(width)] for k in range(width)]
        if name == "q":
            # q moves along velocities, in the model's representation, because the entries of a
            # quaternion cannot move independently.
            tree = tree_of(call.model)
            converter = _converter_at(call.model, tree, x)
            steps = [
                tree.rate(x, converter.velocity_in(step) if converter else step) for step in steps
            ]
        columns = [pushforward(x, step, values) for step in steps]
        start = 0
        for result, nested in results.items():
            shape = shape_of(nested)
            rows = [column[k] for k in range(start, start + prod(shape)) for column in columns]
            by[f"{result} by {name}"] = fold(rows, (*shape, width))
            start += prod(shape)
    names = result_names(replace(call, derivatives=(*call.derivatives, last)))
    return {name: by[name] for name in names}


_DERIVE = {"vjp": _vjp, "jvp": _jvp, "columns": _columns}


@contextmanager
def nothing_collected() -> Iterator[None]:
    """A block without garbage collection: recorded objects stay alive, and scanning them repeatedly
    takes a third of the time."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()
