"""The request of a public function (`Call`), and its derivatives.

A `Call` names the algorithms and the arrays on which to run one of them. A derivative of a call is
itself a call, with more inputs and other results. Derivatives of derivatives, and all devices and
layouts, therefore need no extra code.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import partial
from typing import Any, Generic, TypeVar

from ...arrays import Array
from ...model.names import printable
from ...model.params import Params
from ...model.structure import Structure
from ...recording.program import shape_of
from .base_velocity import BY_NAME, Axes
from .inputs import (
    ARRAY,
    GRAVITY,
    ArgumentSpec,
    Input,
    argument,
    force,
    forces,
    parameter,
    seed,
    solution,
)

Gravity = Sequence[float] | Array[object] | None
Forces = Mapping[str, Array[object]] | Array[object] | None

STANDARD_GRAVITY = (0.0, 0.0, -9.81)
"""Acceleration of free fall in the world frame [m/s²]; the default, folded into the program."""

AT_REST = ("v", "a")
"""Arguments that may be None, for zero: velocity and acceleration."""

R = TypeVar("R")
"""The type of the user's result: an array, a tuple of arrays, a named tuple."""


class ResultCheck(partial):
    """`named` of a call whose result is one array: a function that returns the array unchanged, or
    raises."""


@dataclass(frozen=True)
class Derivative:
    """Derivation of a call from the call without its last derivative.

    "vjp": results are cotangents of the inputs `wrt`, from cotangents of the results. "jvp":
    results are tangents, from tangents of the inputs `wrt`. "columns": derivatives of the results
    by the inputs `wrt`, with one more dimension at the end for each input; for q over the tangent
    space of nv dimensions. `seeds`: the inputs that hold the cotangents or tangents.
    """

    kind: str
    wrt: tuple[str, ...]
    seeds: tuple[Input, ...] = ()


@dataclass(eq=False)  # a frozen dataclass would take three times as long to make at every call
class Call(Generic[R]):
    """Request of a public function, with the result R.

    `algorithms`: one, or several for the same result, of which the shortest program is used. They
    are called with the tree, the arrays, `options`, and with `gravity` and `f_ext` if the algorithm
    uses them. Calls do not change; `dataclasses.replace` makes another one. `refuse` checks the
    model once and raises if the algorithm is not defined for it.
    """

    name: str
    model: Structure
    algorithms: tuple[Callable[..., Any], ...]
    arrays: Mapping[str, Any]
    """The arguments by name, in the algorithm's order. None stands for a zero velocity or
    acceleration, which is a constant of the program instead of an input."""
    _: KW_ONLY
    out: Any = None
    options: tuple[tuple[str, Any], ...] = ()
    forces: tuple[Gravity, Forces] | None = None
    """Gravity and external forces, for an algorithm that uses them."""
    refuse: Callable[[Structure], None] | None = None
    results: tuple[str, ...] = ("out",)
    """Names of the results. With several results, the algorithm returns a tuple of nested lists,
    and the function a tuple of arrays."""
    shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """Shapes of one environment's slices: of arguments other than q (nq) and coordinate vectors
    (nv); of results whose nested lists do not show the shape (a matrix of a robot without
    coordinates)."""
    by_velocity: Mapping[str, Axes] | None = field(default_factory=dict)
    """Arguments and results in velocity coordinates, with the meaning of their last dimensions, and
    their configuration. The representation of a base's velocity (`Model.base_velocity`) affects
    only these. Those in `base_velocity.BY_NAME` need not be named. None: nothing is converted,
    whatever its name."""
    local_only: str = ""
    """For an algorithm that works only with base_velocity="local": the call to make for other
    models."""
    rate_of: Callable[..., Any] | None = None
    """The algorithm of the columns whose derivative a result is, if `by_velocity` has a rate or a
    bias."""
    params: Params | None = None
    solves: Solves | None = None
    differentiable: Callable[..., Any] | None = None
    """The algorithm with the same results from which first derivatives are recorded, if it is not
    the first of `algorithms`."""
    repeats: bool = False
    """True if it iterates until it is done, an unknown number of times, and has no derivatives."""
    over: Mapping[str, str] = field(default_factory=dict)
    """Results that may overwrite an argument of the same shape. A result with an argument's name
    always may."""
    any_length: bool = False
    """True if quaternions of its configurations may have any length."""
    arguments: Mapping[str, ArgumentSpec] = field(default_factory=dict)
    """Arguments that are not an array for each environment, by name."""
    named: Callable[..., R] | None = None
    """Function that makes the user's result from the results, one argument each, or `ResultCheck`;
    None: the results themselves."""
    identity: Hashable = None
    """Identity that distinguishes calls with the same name, for a user's kernel. Its program is not
    cached on disk."""
    derivatives: tuple[Derivative, ...] = ()
    order: tuple[str, ...] = ()
    """Names of all arguments of the algorithm, if some are zero and `arrays` has no None for them
    (`arguments_in_order`)."""
    inputs: Mapping[str, Input] | None = None
    """Records of `arrays` if these are all inputs (`with_all_inputs`); None: `arrays` are the arguments,
    and gravity, external forces and params are added."""

    _gathered: Any = field(default=None, init=False, repr=False)
    """Result of `gather`, since several stages of a call ask for it."""

    @classmethod
    def of(
        cls, algorithm: Callable[..., Any], model: Structure, arrays: Mapping[str, Any], **more: Any
    ) -> Call[R]:
        """Call of one algorithm, under its name."""
        return cls(algorithm.__name__, model, (algorithm,), arrays, **more)

    @property
    def axes(self) -> Mapping[str, Axes]:
        """Axes of arguments and results by name: `by_velocity`, and the default ones."""
        return {} if self.by_velocity is None else {**BY_NAME, **self.by_velocity}

    @property
    def label(self) -> str:
        """Description of the computation for messages: "vjp of rnea for panda"."""
        kinds = "".join(f"{each.kind} of " for each in reversed(self.derivatives))
        return f"{kinds}{self.name} for {printable(self.model.name)}"

    def user_result(self, results: Any) -> R:
        """The user's result from a launch's array, or from a tuple of arrays if there are
        several."""
        if self.named is None:
            return results  # type: ignore[no-any-return]
        return self.named(*results) if len(self.results) > 1 else self.named(results)

    @property
    def key(self) -> tuple:
        """All values that distinguish this call's program from others of the model, except the
        arrays' names and kinds. The sizes of tables come with each launch."""
        return (
            self.name,
            self.identity,
            self.options,
            self.derivatives,
            None if self.params is None else self.params.key,
            *(
                (name, shape)
                for name, shape in self.shapes.items()
                if not self.arguments.get(name, ARRAY).table
            ),
        )

    @property
    def choices(self) -> tuple[Any, ...]:
        """Decisions of the function that affect its program, in addition to the algorithms. Within
        one process `key` determines them, but a program in the disk cache may come from another
        version of the function."""
        solves = self.solves and (self.solves.unknown, self.solves.right)
        axes = None if self.by_velocity is None else dict(self.by_velocity)
        rules = (self.local_only, self.repeats, self.any_length)
        return (self.results, solves, *rules, dict(self.over), axes)


@dataclass(frozen=True)
class Solves:
    """The result x solves residual(.., x) = right, with d residual / d x = matrix: its derivatives
    use the implicit rule.

    `residual`, `matrix`: algorithms. `unknown` and `right` name x and the right side among the
    residual's and the call's arrays.
    """

    residual: Callable[..., Any]
    unknown: str
    right: str
    matrix: Callable[..., Any]


def gather(call: Call) -> tuple[Mapping[str, Input], dict[str, Array]]:
    """Records and arrays of all inputs of the call, by name: arguments, gravity, external forces
    and params."""
    if call.inputs is not None:
        return call.inputs, dict(call.arrays)
    if call._gathered is None:
        call._gathered = _gather(call)
    inputs, arrays = call._gathered
    return inputs, dict(arrays)


def _gather(call: Call) -> tuple[Mapping[str, Input], dict[str, Array]]:
    model, shapes, params = call.model, call.shapes, call.params
    nq, nv = model.nq, model.nv
    inputs: dict[str, Input] = {}
    arrays: dict[str, Array] = {}
    for name, x in call.arrays.items():
        if x is not None or name not in AT_REST:
            spec = call.arguments.get(name, ARRAY)
            inputs[name] = argument(name, shapes.get(name), nq, nv, spec)
            arrays[name] = x

    more: list[tuple[Input, Any]] = []
    if params is not None:
        _check_params(params, model)
    if call.forces is not None:
        gravity, f_ext = call.forces
        # An argument of the function takes precedence over the value for all environments.
        if gravity is None and params is not None:
            gravity = params.gravity
        if gravity is not None:
            more.append((GRAVITY, gravity))
        if f_ext is not None:
            more += _external_forces(model, f_ext)
    if params is not None:
        for quantity, array in params.arrays.items():
            more.append((parameter(quantity, params.shape(quantity)), array))
    for record, array in more:
        inputs[record.name], arrays[record.name] = record, array
    return inputs, arrays


def _external_forces(
    model: Structure, f_ext: Mapping[str, Array[object]] | Array[object]
) -> list[tuple[Input, Any]]:
    """Records and arrays of external forces, by link or on all links."""
    if not isinstance(f_ext, Mapping):
        return [(forces(model.nlinks), f_ext)]
    for link in f_ext:
        model.link_index(link)
    # In the model's order, so that the order in which a caller lists them does not make another
    # kernel.
    return [(force(link), f_ext[link]) for link in model.link_names if link in f_ext]


def _check_params(params: Params, model: Structure) -> None:
    if not isinstance(params, Params):
        raise TypeError(f"params must come from model.params(...), got {type(params).__name__}")
    if params.model is not model and params.model.key != model.key:
        theirs, ours = params.model.name, model.name
        other = "another model of that name" if theirs == ours else f"not {ours}"
        raise ValueError(
            f"these params are of {theirs}, {other}; make them with this model's own params()"
        )


def inputs_of(call: Call) -> Mapping[str, Input]:
    """Records of the call's input arrays, by name."""
    return gather(call)[0]


def all_arrays(call: Call) -> dict[str, Array]:
    """The call's input arrays by name: arguments, gravity, external forces and params."""
    return gather(call)[1]


def input_shapes(call: Call) -> dict[str, tuple[int, ...]]:
    """Shapes of one environment's slices of the call's inputs, by name."""
    return {name: x.shape for name, x in inputs_of(call).items()}


def with_all_inputs(call: Call) -> Call:
    """The same call with all its inputs among its `arrays`."""
    inputs, arrays = gather(call)
    return replace(call, arrays=arrays, inputs=inputs, order=arguments_in_order(call))


def arguments_in_order(call: Call) -> tuple[str, ...]:
    """Names of all arguments of a call's algorithm if some are zero; () if none is."""
    some = any(x is None and name in AT_REST for name, x in call.arrays.items())
    return tuple(call.arrays) if some else call.order


def tables_of(call: Call) -> tuple[str, ...]:
    """Names of the call's inputs that are tables."""
    return tuple(name for name, x in inputs_of(call).items() if x.table)


def summed_tables(call: Call) -> dict[str, tuple[int, ...]]:
    """Results that are cotangents of tables, summed over environments, with their shapes.

    A program returns (share, row, column) for each lookup, for each environment.
    """
    last = call.derivatives[-1] if call.derivatives else None
    if last is None or last.kind != "vjp":
        return {}
    inputs = inputs_of(call)
    return {name: inputs[name].shape for name in last.wrt if inputs[name].table}


def algorithms_of(call: Call) -> list[Callable[..., Any]]:
    """Every algorithm from which a call's program may be recorded."""
    solved = (call.solves.residual, call.solves.matrix) if call.solves else ()
    others = (call.rate_of, call.differentiable)
    return [*call.algorithms, *solved, *(each for each in others if each)]


def result_names(call: Call) -> tuple[str, ...]:
    """Names of the results of a call with its derivatives."""
    names = call.results
    for derivative in call.derivatives:
        if derivative.kind == "vjp":
            names = derivative.wrt
        elif derivative.kind == "columns":
            names = tuple(f"{name} by {x}" for x in derivative.wrt for name in names)
    return names


def derive(
    call: Call,
    kind: str,
    wrt: Sequence[str],
    seeds: Mapping[str, Array] | None = None,
    solved: Array | None = None,
    out: Any = None,
) -> Call:
    """The call for a derivative of a call (`Derivative`), with the cotangents or tangents `seeds`
    by name.

    `solved`: the result, for a call that solves a system.
    """
    if call.repeats:
        raise TypeError(
            f"{call.name} has no derivatives: it repeats until it is done. Detach its arrays"
        )
    known, arrays = gather(call)
    inputs = dict(known)
    by_tables = [x for d in (*call.derivatives, Derivative(kind, tuple(wrt))) for x in d.wrt]
    by_tables = [name for name in by_tables if inputs[name].table]
    if by_tables and (call.derivatives or kind == "columns"):
        raise TypeError(
            f"by {by_tables[0]}, a table, there are first derivatives, by wd.vjp and wd.jvp; "
            "no columns, and none of further order"
        )
    leading = max(len(_shape(arrays[x.name])) - len(x.shape) for x in inputs.values())
    if solved is not None and call.solves:
        x = solution(call.results[0], inputs[call.solves.right].shape)
        inputs[x.name], arrays[x.name] = x, solved
    records = []
    for name, array in (seeds or {}).items():
        # A tangent must be shaped like its input; a cotangent's shape is checked when the results'
        # shapes are known.
        shape = inputs[name].shape if kind == "jvp" else _shape(array)[leading:]
        x = seed(len(call.derivatives), name, shape)
        x = x._replace(table=kind == "jvp" and inputs[name].table)
        inputs[x.name], arrays[x.name] = x, array
        records.append(x)
    return replace(
        call,
        algorithms=call.algorithms[:1] if call.solves else call.algorithms,
        arrays=arrays,
        inputs=inputs,
        derivatives=(*call.derivatives, Derivative(kind, tuple(wrt), tuple(records))),
        order=arguments_in_order(call),
        out=out,
        named=None,  # the names belong to the results, not to their derivatives
    )


def without_seeds(call: Call) -> Call:
    """The call from which a derivative was derived, with its own inputs."""
    *before, last = call.derivatives
    inputs, arrays = gather(call)
    dropped = {x.name for x in last.seeds}
    return replace(
        call,
        arrays={name: array for name, array in arrays.items() if name not in dropped},
        inputs={name: x for name, x in inputs.items() if name not in dropped},
        derivatives=tuple(before),
    )


def _shape(array: Any) -> tuple[int, ...]:
    """Shape of an array or of nested lists of numbers."""
    return tuple(array.shape) if hasattr(array, "shape") else shape_of(array)
