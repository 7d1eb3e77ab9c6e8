"""What a public function asks for, and how that becomes a program: the text run on symbols, and its derivatives.

A `Call` names an algorithm's text and the arrays to run it on. A derivative of a call is a call again, with further
inputs and other results, so that derivatives of derivatives, and every device and layout, come without another line.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any
from weakref import WeakKeyDictionary

from ..algebra.linear import solve_symmetric
from ..algebra.scalar import Scalar
from ..arrays import Array
from ..model import Model
from ..model.params import Params, typical, varied
from ..model.tree import Tree, build_tree
from ..recording.differentiation import pullback, pushforward
from ..recording.program import STATE, Loop, Program, flat, folded, record, shape_of
from .base_velocity import OWN_ONLY, RESULTS, Converter, inputs_in, result_out

Gravity = Sequence[float] | Array | None
Forces = Mapping[str, Array] | Array | None

STANDARD_GRAVITY = (0.0, 0.0, -9.81)
"""Acceleration of free fall in the world frame [m/s²]; the default, folded into the program."""

FORCE_ON = "f_ext:"
"""Name of the input array of an external force: this and the link."""

SEED = "seed "
"""Name of the input array of a cotangent or a tangent: this, a number and of what it is."""

PARAMETER = "params:"
"""Name of the input array of a model parameter that varies: this and the quantity."""

SOLUTION = "solution:"
"""Name of the input array that holds the result of a call that solves a system: this and its name."""

EPSILON = {True: 2.0**-25, False: 2.0**-52, None: None}
"""Constants are rounded to 0 and 1 below half a unit in the last place (float32) and below one (float64)."""

Nested = Any
"""A scalar, or nested lists of scalars."""


@dataclass(frozen=True)
class Derivative:
    """How a call was derived from one without its last derivative.

    "vjp": results are cotangents of the inputs `wrt`, from cotangents of the results. "jvp": results are tangents, from
    tangents of the inputs `wrt`. "columns": results by the inputs `wrt`, a last dimension for each; of q over the
    tangent space of nv dimensions. `seeds`: of one robot's part of each cotangent, the shape that was given.
    """

    kind: str
    wrt: tuple[str, ...]
    seeds: tuple[tuple[int, ...], ...] = ()


@dataclass(frozen=True)
class Call:
    """What a public function asks for.

    `texts`: the algorithm, or several for the same result of which the shortest program is taken; called with the tree,
    the arrays, `options`, and with `gravity` and `f_ext` unless the algorithm has no use for them (`forces` False).
    `refuse` looks at the model once and raises where the algorithm is not defined.
    """

    name: str
    model: Model
    texts: tuple[Callable[..., Any], ...]
    arrays: Mapping[str, Array]
    out: Any = None
    options: tuple[tuple[str, Any], ...] = ()
    forces: bool = False
    gravity: Gravity = None
    f_ext: Forces = None
    refuse: Callable[[Model], None] | None = None
    results: tuple[str, ...] = ("out",)
    """Names of the results. With more than one, the text returns a tuple of as many nested lists, and the function a
    tuple of arrays."""
    shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """Of one robot: of inputs other than q (nq) and coordinate vectors (nv); of results, where nested lists cannot
    tell (a matrix of a robot without coordinates)."""
    params: Params | None = None
    solves: Solves | None = None
    rate_of: Any = None
    """The text of what a result is the derivative of, where columns of velocities make it so."""
    converts: bool = False
    """It is a conversion between representations itself."""
    loop: Repeat | None = None
    """What is repeated before the text, which then has the state before the arrays."""
    shared: tuple[str, ...] = ()
    """Arrays of which one for all environments will do."""
    named: Callable[..., Any] | None = None
    """Makes what the user gets of the results, one argument each; None: the results as they are."""
    derivatives: tuple[Derivative, ...] = ()

    @property
    def key(self) -> tuple:
        """What tells this call's program from others of the model, but for the arrays' names and kinds."""
        return (
            self.name,
            self.options,
            self.derivatives,
            None if self.params is None else self.params.key,
        )


@dataclass(frozen=True)
class Repeat:
    """A text `(tree, state, arrays..., options)` that gives the next of `size` numbers of state, all zero at first.

    It ends when the first of them is greater than zero, or after so many `steps`.
    """

    step: Callable[..., Any]
    size: int
    steps: int


@dataclass(frozen=True)
class Solves:
    """The result x solves residual(.., x) = right, with d residual / d x = matrix: derivatives by the implicit rule.

    `residual`, `matrix`: texts. `unknown` and `right` name x and the right side among the residual's and the call's
    arrays.
    """

    residual: Callable[..., Any]
    unknown: str
    right: str
    matrix: Callable[..., Any]


_shapes: WeakKeyDictionary[Model, dict[tuple, dict[str, tuple[int, ...]]]] = WeakKeyDictionary()
_trees: WeakKeyDictionary[Model, Tree] = WeakKeyDictionary()


def tree_of(model: Model) -> Tree:
    """The model's kinematic tree, built once."""
    tree = _trees.get(model)
    if tree is None:
        tree = _trees[model] = build_tree(model)
    return tree


def all_arrays(call: Call) -> dict[str, Any]:
    """The call's input arrays by name: its own, gravity, external forces and parameters as far as given."""
    given = dict(call.arrays)
    if not (call.params is None or isinstance(call.params, Params)):
        raise TypeError(
            f"params must come from model.params(...), got {type(call.params).__name__}"
        )
    if call.forces:
        gravity = (
            call.params.gravity
            if call.gravity is None and call.params is not None
            else call.gravity
        )
        if gravity is not None:
            given.setdefault("gravity", gravity)
        if isinstance(call.f_ext, Mapping):
            for link in call.f_ext:
                call.model.link_index(link)
            for link in (
                call.model.link_names
            ):  # in the model's order, so that the order given makes no second kernel
                if link in call.f_ext:
                    given.setdefault(FORCE_ON + link, call.f_ext[link])
        elif call.f_ext is not None:
            given.setdefault("f_ext", call.f_ext)
    if call.params is not None:
        if call.params.model is not call.model and call.params.model.key != call.model.key:
            theirs, ours = call.params.model.name, call.model.name
            other = "another model of that name" if theirs == ours else f"not {ours}"
            raise ValueError(
                f"these params are of {theirs}, {other}; make them with this model's own params()"
            )
        for name, array in call.params.arrays.items():
            given.setdefault(PARAMETER + name, array)
    return given


def input_shape(call: Call, name: str) -> tuple[int, ...]:
    """Of one robot's part of an input array."""
    if name in call.shapes:
        return call.shapes[name]
    if name == "gravity":
        return (3,)
    if name == "f_ext":
        return (call.model.nlinks, 6)
    if name.startswith(FORCE_ON):
        return (6,)
    if call.params is not None and name.startswith(PARAMETER):
        return call.params.shape(name.removeprefix(PARAMETER))
    return (call.model.nq if name == "q" else call.model.nv,)


def serves_all(call: Call, name: str) -> bool:
    """Whether one environment's part of an input array will do for all."""
    return name == "gravity" or name.startswith(PARAMETER) or name in call.shared


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
        call.refuse(call.model if call.params is None else typical(call.params))

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


def texts_of(call: Call) -> list[Callable[..., Any]]:
    """Every text that a call's program may be recorded from."""
    solved = (call.solves.residual, call.solves.matrix) if call.solves else ()
    others = (call.rate_of, call.loop.step if call.loop else None)
    return [*call.texts, *solved, *(text for text in others if text)]


def result_names(call: Call) -> tuple[str, ...]:
    """Names of the results of a call with its derivatives."""
    names = call.results
    for derivative in call.derivatives:
        if derivative.kind == "vjp":
            names = derivative.wrt
        elif derivative.kind == "columns":
            names = tuple(f"{name} by {x}" for x in derivative.wrt for name in names)
    return names


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


def derived(
    call: Call,
    kind: str,
    wrt: Sequence[str],
    seeds: Mapping[str, Array] | None = None,
    solution: Array | None = None,
    out: Any = None,
) -> Call:
    """The call for a derivative of a call (`Derivative`), with the cotangents or tangents `seeds` by name.

    `solution`: the result, for a call that solves a system.
    """
    if call.loop:
        raise TypeError(
            f"{call.name} has no derivatives: it repeats until it is done. Detach its arrays"
        )
    given = all_arrays(call)
    shapes = dict(call.shapes)
    first = next(iter(given))
    leading = len(_shape(given[first])) - len(input_shape(call, first))
    if solution is not None:
        given[SOLUTION + call.results[0]] = solution
    cotangents: list[tuple[int, ...]] = []
    for name, array in (seeds or {}).items():
        shape = input_shape(call, name) if kind == "jvp" else _shape(array)[leading:]
        given[seed(call, name)], shapes[seed(call, name)] = array, shape
        cotangents += [shape] if kind == "vjp" else []
    derivatives = (*call.derivatives, Derivative(kind, tuple(wrt), tuple(cotangents)))
    texts = call.texts[:1] if call.solves else call.texts
    return replace(call, texts=texts, arrays=given, shapes=shapes, derivatives=derivatives, out=out)


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


def seed(call: Call, name: str) -> str:
    """Name of the input array that a derivative of this call takes for a result's cotangent, or an input's tangent."""
    return f"{SEED}{len(call.derivatives)}:{name}"


def _shape(array: Any) -> tuple[int, ...]:
    """Of an array or of nested lists of numbers."""
    return tuple(array.shape) if hasattr(array, "shape") else shape_of(array)


def _flat(nested: Mapping[str, Nested], names: Sequence[str]) -> list[Scalar]:
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
        steps = [[float(i == k) for i in range(width)] for k in range(width)]
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
