"""What a public function asks for, and how that becomes a program: the text run on symbols, and its derivatives.

A `Call` names an algorithm's text and the arrays to run it on. A derivative of a call is a call again, with further
inputs and other results, so that derivatives of derivatives, and every device and layout, come without another line.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..arrays import Array
from ..model import Model
from ..model.params import Params
from ..recording.program import shape_of

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


def all_arrays(call: Call) -> dict[str, Any]:
    """The call's input arrays by name: its own, gravity, external forces and parameters as far as given."""
    given: dict[str, Any] = dict(call.arrays)
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


def seed(call: Call, name: str) -> str:
    """Name of the input array that a derivative of this call takes for a result's cotangent, or an input's tangent."""
    return f"{SEED}{len(call.derivatives)}:{name}"


def _shape(array: Any) -> tuple[int, ...]:
    """Of an array or of nested lists of numbers."""
    return tuple(array.shape) if hasattr(array, "shape") else shape_of(array)
