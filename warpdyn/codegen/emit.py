"""Statements of a program as C++, on values that are floats, doubles or vectors of lanes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from ctypes import c_float
from dataclasses import dataclass, field
from math import isinf, isnan
from types import MappingProxyType
from typing import NamedTuple

from ..recording.array_operations import ARRAY_OPERATIONS, READS
from ..recording.order import CELL, CORNER, Statement
from ..recording.program import Program
from ..recording.table import LOOK
from .array_statements import ArrayForm, array_lines, arrays_of_call, read_expression, scalar_form
from .whole_products import WHOLE_FORMS


@dataclass(frozen=True)
class Dialect:
    """The syntax of one target.

    `type` of a value; the names of `functions`; `constant(x)`; `load(array, entry)` and
    `store(entries, value)` of the surrounding code; `sincos(angle, sine, cosine)`, a statement that
    declares both.
    """

    type: str
    functions: Mapping[str, str]
    constant: Callable[[float], str]
    load: Callable[[str, int], str]
    store: Callable[[list[int], str], str]
    sincos: Callable[[str, str, str], str]
    select: Callable[[str, str, str, str, str], str]
    look: Callable[[str, str, str], str]
    """The C++ of a table's number, from the table's name, a row and a column."""
    cell: Callable[[str, str, str, str], str]
    """A statement that looks up the corners of a cell, from a table's name, a row, a column and the
    name under which `corners` reads them."""
    corners: Callable[[str], str]
    workspace: str = "work"
    regions: Mapping[str, Region] = field(default_factory=dict)
    """The regions with each routine's inputs and results."""
    moves: Mapping[str, Callable[[Statement], str]] = field(default_factory=dict)
    """The C++ of a target's own further statements, by operation."""
    forms: Mapping[str, str] = field(default_factory=lambda: dict(FORMS))
    """C++ of the operations on values."""
    broadcast: Callable[[str], str] = str
    """The C++ of a constant as an argument of a function or as a stored value; operators take
    constants directly."""
    array_form: ArrayForm = field(default_factory=lambda: scalar_form("double"))
    memory: Mapping[int, str] = field(default_factory=dict)
    """Addresses of the arrays that the program makes, by their nodes."""


BARRIER_AFTER = 32
"""Number of stores of a routine's inputs before a barrier."""


class Region(NamedTuple):
    """C++ of a routine: the function; addresses of the shared inputs, the column and the results;
    and further arguments of the function."""

    function: str
    shared: str
    column: str
    out: str
    more: str = ""
    barrier: str = ""
    """A statement between groups of BARRIER_AFTER stores of inputs."""
    places: Sequence[int | None] = ()
    """The place behind `shared` of each shared input, None for one that is in place already; empty if
    they lie one after the other."""


def literal(value: float, single: bool) -> str:
    """A C++ constant of full precision; 0 in place of -0."""
    # Rounded once: nine digits of the double may be on the other side of a halfway point.
    if single:
        value = c_float(value).value
    value += 0.0
    if isnan(value):
        return f"(0.0{'f' if single else ''} / 0)"
    if isinf(value):
        return f"{'-' if value < 0 else ''}(1.0{'f' if single else ''} / 0)"
    text = f"{value:.9g}" if single else f"{value:.17g}"
    if not any(c in text for c in ".en"):
        text += ".0"
    return text + ("f" if single else "")


def emit(
    program: Program,
    statements: Sequence[Statement],
    dialect: Dialect,
    stored: set[int],
    turns: Mapping[int, tuple[str, str]] = MappingProxyType({}),
) -> Iterator[str]:
    """Lines of C++, one for each statement; outputs are stored as soon as they are known.

    `stored`: outputs that are stored already; the set grows. `turns`: sine and cosine of angles
    that the surrounding code has computed already.
    """
    # Sine and cosine are computed together: the first of the two that a program needs declares
    # both.
    declared: set[int] = set()
    for statement in statements:
        target = f"t{statement.target}"
        if statement.operation == "keep":
            yield f"{dialect.workspace}[{statement.arguments[0]}] = {target};"
            continue
        if statement.operation == CELL:
            table, *places = statement.arguments
            row, column = (_value(a, dialect) for a in places)
            yield dialect.cell(table, row, column, f"c{~statement.target}")
            continue
        if statement.operation in dialect.moves:
            yield dialect.moves[statement.operation](statement)
            continue
        if statement.operation in ("frame", "call"):
            yield from _routine(program, statement, dialect)
            continue
        if statement.operation in ARRAY_OPERATIONS and statement.operation not in READS:
            yield from array_lines(program, statement, dialect)
            continue
        if statement.operation in ("sin", "cos"):
            (angle,) = statement.arguments
            if angle not in turns and angle not in declared:
                declared.add(angle)
                yield dialect.sincos(f"t{angle}", f"s{angle}", f"c{angle}")
            sine, cosine = turns.get(angle, (f"s{angle}", f"c{angle}"))
            right = sine if statement.operation == "sin" else cosine
        elif statement.operation in READS:
            right = read_expression(program, statement, dialect)
        else:
            right = expression(statement, dialect)
        yield f"const {dialect.type} {target} = {right};"
        if statement.target not in stored:
            # Stored immediately instead of at the end: memory works while the program continues,
            # and a value that is only an output frees its register.
            stored.add(statement.target)
            entries = program.stores.get(statement.target, [])
            for negative in (False, True):
                same = [k for k in entries if program.outputs[k].negative is negative]
                if same:  # a value may be one output and its negative another
                    yield dialect.store(same, f"{'-' if negative else ''}{target}")


def _routine(program: Program, statement: Statement, dialect: Dialect) -> Iterator[str]:
    """Stores of a routine's inputs: the values that its calls share, or one column and then the
    call."""
    region = dialect.regions[statement.arguments[0]]
    called = statement.operation == "call"
    place, values = (
        (region.column, statement.arguments[2:])
        if called
        else (region.shared, statement.arguments[1:])
    )
    for k, x in enumerate(values):
        at = k if called or not region.places else region.places[k]
        if x is None or at is None:  # it is already in place
            continue
        if region.barrier and k % BARRIER_AFTER == BARRIER_AFTER - 1:
            yield region.barrier
        text = _value(x, dialect)
        yield f"({place})[{at}] = {text if isinstance(x, int) else dialect.broadcast(text)};"
    if called:
        more = region.more + arrays_of_call(program, statement, dialect.memory)
        yield f"{region.function}({region.shared}, {region.column}, {region.out}{more});"


def expression(statement: Statement, dialect: Dialect) -> str:
    """The right side of a statement that is neither sine nor cosine."""
    operation = statement.operation
    if operation == "input":
        array, entry = statement.arguments
        return dialect.load(array, entry)
    if operation == "of":
        name, _, k = statement.arguments
        return f"({dialect.regions[name].out})[{k}]"
    if operation == CORNER:
        cell, k = statement.arguments
        return f"{dialect.corners(f'c{~cell}')}[{k}]"
    if operation == "recall":
        return f"{dialect.workspace}[{statement.arguments[0]}]"
    if operation == LOOK:
        table, row, column = statement.arguments
        return dialect.look(table, _value(row, dialect), _value(column, dialect))
    x = [_value(a, dialect) for a in statement.arguments]
    # Operators mix constants with vectors, but functions need a vector for every argument.
    if operation in CALLED:
        pairs = zip(x, statement.arguments, strict=True)
        x = [text if isinstance(a, int) else dialect.broadcast(text) for text, a in pairs]
    if operation in COMPARISONS:
        return dialect.select(x[0], COMPARISONS[operation], *x[1:])
    if operation in ("min", "max"):
        first, second = x
        less, greater = (second, first) if operation == "min" else (first, second)
        return dialect.select(less, "<", greater, second, first)
    return dialect.forms[operation].format(*x, one=dialect.constant(1.0), **dialect.functions)


def _value(argument: int | float, dialect: Dialect) -> str:
    """A node or a constant."""
    return f"t{argument}" if isinstance(argument, int) else dialect.constant(argument)


COMPARISONS = {"select": "<", "select_equal": "<="}
"""Selections, by the comparison of their first two arguments."""

CALLED = (*COMPARISONS, "min", "max", "atan2", "uniform", *WHOLE_FORMS)
"""Operations on several values that a target may write as functions."""

FORMS: Mapping[str, str] = {
    "add": "{0} + {1}",
    "sub": "{0} - {1}",
    "mul": "{0} * {1}",
    "rcp": "{one} / {0}",
    "neg": "-{0}",
    "sqrt": "{sqrt}({0})",
    "rsqrt": "{one} / {sqrt}({0})",
    "abs": "{abs}({0})",
    "floor": "{floor}({0})",
    "exp": "{exp}({0})",
    "log": "{log}({0})",
    "atan2": "{atan2}({0}, {1})",
    "uniform": "{uniform}({0}, {1}, {2}, {3})",
    "fma": "{fma}({0}, {1}, {2})",
    "fms": "{fma}({0}, {1}, -{2})",
    "fnma": "{fma}(-{0}, {1}, {2})",
}
"""C++ of the operations on values."""
