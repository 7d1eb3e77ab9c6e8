"""The signature of a kernel: its arrays with their shapes, and its options."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, get_args, get_origin

from ..model import Model

Shape = tuple[int | str, ...]
"""Sizes of one environment's slice: numbers, or "nq", "nv", "nlinks"."""

SIZES = ("nq", "nv", "nlinks")

NEEDED = inspect.Parameter.empty
"""The default of an option without a default."""

RESERVED = ("out", "params", "model", "env")
"""Names that the caller of a kernel uses for other purposes."""


class SharedArray(NamedTuple):
    """An annotation: one array of this shape for all environments, or one for each."""

    shape: Shape


def shared(shape: Shape) -> SharedArray:
    """Annotation of a kernel argument whose one array serves all environments:
    `table: wd.kernels.shared((12, 12))`.

    shape: sizes, like those of other arguments. An array with a dimension of environments is accepted too.
    """
    return SharedArray(shape)


class Table(NamedTuple):
    """An annotation: a lookup table."""

    shape: Shape


def table(shape: Shape) -> Table:
    """Annotation of a kernel argument that is a lookup table for all environments:
    `heights: wd.kernels.table((200, 200))`, `heights.look(row, column)`.

    shape: rows and columns.
    """
    return Table(shape)


class ArrayArgument(NamedTuple):
    """An array argument of a kernel: the shape of one environment's slice, True in `serves_all` if
    one array serves all, a constant default (None without one), and True in `table` if it is a
    table."""

    shape: Shape
    serves_all: bool
    default: Any
    table: bool

    def sizes(self, model: Model) -> tuple[int, ...]:
        """The shape for a model."""
        return tuple(getattr(model, n) if isinstance(n, str) else n for n in self.shape)


class Signature(NamedTuple):
    """Arrays and options of a kernel, in order, and the defaults of the options."""

    arrays: Mapping[str, ArrayArgument]
    defaults: Mapping[str, Any]
    call: inspect.Signature
    """The whole signature as the caller sees it: with the model, `params` and `out`."""


def read_signature(text: Callable[..., Any]) -> Signature:
    """The signature of a kernel's function; TypeError names arguments that cannot be used."""
    if not callable(text):
        raise TypeError(f"wd.kernel takes a function of one robot, got {type(text).__name__}")
    name = getattr(text, "__name__", "")
    signature = inspect.signature(text)
    parameters = list(signature.parameters.values())
    if (
        not parameters
        or parameters[0].kind
        not in (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        or parameters[0].name in ("q", "v", "tau")
    ):
        raise TypeError(
            f"{name}: a kernel's first argument is the robot: def {name}(robot, q, ...)"
        )
    arrays: dict[str, ArrayArgument] = {}
    defaults: dict[str, Any] = {}
    # Positional arguments are arrays, keyword-only arguments are options.
    for parameter in parameters[1:]:
        _refuse_reserved(name, parameter.name)
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise TypeError(
                f"{name}: a kernel has no *{parameter.name}; name its arrays, and its options after a *"
            )
        if parameter.kind is parameter.KEYWORD_ONLY:
            defaults[parameter.name] = parameter.default
            continue
        annotation = _evaluate_annotation(parameter.annotation, text)
        arrays[parameter.name] = _array(name, parameter, annotation)
    return Signature(arrays, defaults, _call_signature(signature))


def of_shapes(name: str, shapes: Mapping[str, Shape | SharedArray | Table]) -> Signature:
    """The signature of the kernel `name` for arrays that are listed with their shapes, without
    options."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = [inspect.Parameter(n, kind, annotation=shape) for n, shape in shapes.items()]
    for each in shapes:
        _refuse_reserved(name, each)
    arrays = {each.name: _array(name, each, each.annotation) for each in parameters}
    robot = inspect.Parameter("robot", kind)
    return Signature(arrays, {}, _call_signature(inspect.Signature([robot, *parameters])))


def _refuse_reserved(kernel: str, argument: str) -> None:
    if argument in RESERVED:
        raise TypeError(
            f"{kernel}: the argument {argument!r} needs another name; "
            f"{', '.join(RESERVED)} are reserved for the caller"
        )


def _array(kernel: str, parameter: inspect.Parameter, annotation: Any) -> ArrayArgument:
    """Description of an array, from its annotation or its name."""
    serves_all, shape, table = False, None, False
    for each in get_args(annotation)[1:] if hasattr(annotation, "__metadata__") else (annotation,):
        if isinstance(each, SharedArray):
            serves_all, shape = True, each.shape
        elif isinstance(each, Table):
            table, shape = True, tuple(each.shape)
        elif isinstance(each, (tuple, list)) and get_origin(each) is None:
            shape = tuple(each)
    # Names such as q, v and tau have a usual shape, so they need no annotation.
    if shape is None:
        shape = by_name(parameter.name)
    if shape is None:
        raise TypeError(
            f"{kernel}: the shape of {parameter.name!r} is not known; annotate it: "
            f"{parameter.name}: (3,) for three numbers "
            'of each environment, ("nv", 6), () for one number'
        )
    for size in shape:
        if size not in SIZES and not (isinstance(size, int) and size >= 0):
            raise TypeError(
                f"{kernel}: sizes of {parameter.name!r} are whole numbers or {', '.join(SIZES)}, got {size!r}"
            )
    if table and (len(shape) != 2 or parameter.default is not parameter.empty):
        raise TypeError(
            f"{kernel}: the table {parameter.name!r} has rows and columns, and no default"
        )
    default = None if parameter.default is parameter.empty else (parameter.default,)
    return ArrayArgument(shape, serves_all, default, table)


def by_name(name: str) -> Shape | None:
    """The usual shape of an array by its name: q, q0, q_next are configurations; v, a, tau, qd ...
    have nv entries."""
    if re.fullmatch(r"q\d*|q_\w+", name):
        return ("nq",)
    if re.fullmatch(r"(v|a|b|tau|dq|ddq|qd|qdd|torques?|velocity|acceleration)\d*(_\w+)?", name):
        return ("nv",)
    return None


def _evaluate_annotation(annotation: Any, text: Callable[..., Any]) -> Any:
    """Value of an annotation that a module stores as text (`from __future__ import
    annotations`)."""
    if not isinstance(annotation, str):
        return annotation
    scope = getattr(text, "__globals__", {})
    closure = inspect.getclosurevars(text).nonlocals if hasattr(text, "__code__") else {}
    try:
        return eval(annotation, scope, {**dict(zip(SIZES, SIZES, strict=True)), **closure})
    except Exception as error:
        raise TypeError(
            f"{getattr(text, '__name__', text)}: the annotation {annotation!r} cannot be evaluated ({error})"
        ) from None


def _call_signature(signature: inspect.Signature) -> inspect.Signature:
    """The signature of the kernel: the model instead of the robot, and `params` and `out` at the
    end."""
    robot, *rest = signature.parameters.values()
    more = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None)
        for name in ("params", "out")
    ]
    return signature.replace(
        parameters=[inspect.Parameter("model", robot.kind), *rest, *more],
        return_annotation=signature.empty,
    )
