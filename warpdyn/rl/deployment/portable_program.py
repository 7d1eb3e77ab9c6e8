"""Programs in a form that any language evaluates in a few lines: a list of steps, each with a name,
an operation and operands.

    ["t4", "mul", 0.05, "v[6]"]

An operand is a number, an entry of an input in C order, or the name of an earlier step. A look-up,
`["t4", "look", "motion", "t3", 7.0]`, has the name of a table, a row and a column.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ...algebra.scalar import nearest_row
from ...recording.program import Program
from ..task import TaskError

LOOK = "look"
"""The operation that reads a table; beyond the table it reads the nearest row and column."""

OPERATIONS: dict[str, Callable[..., Any]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "neg": np.negative,
    "abs": np.abs,
    "min": np.minimum,
    "max": np.maximum,
    "sqrt": np.sqrt,
    "sin": np.sin,
    "cos": np.cos,
    "atan2": np.arctan2,
    "exp": np.exp,
    "log": np.log,
    "floor": np.floor,
    "where_less": lambda a, b, x, y: x if a < b else y,
    "where_less_equal": lambda a, b, x, y: x if a <= b else y,
    LOOK: lambda table, row, column: table[
        nearest_row(row, len(table)), nearest_row(column, table.shape[1])
    ],
}
"""Operations of a step, as functions of numbers."""

PLAIN = {"select": "where_less", "select_equal": "where_less_equal"}
"""Operations of a recording that have another name here."""

FORMS = {
    "add": "({0} + {1})",
    "sub": "({0} - {1})",
    "mul": "{0} * {1}",
    "div": "({0} / {1})",
    "neg": "(-{0})",
    "where_less": "where({0} < {1}, {2}, {3})",
    "where_less_equal": "where({0} <= {1}, {2}, {3})",
    LOOK: "{0}[{1}, {2}]",
}
"""Operations in formulas; all others are functions."""

LONGEST = 160
"""Longest formula in characters; longer ones are only steps."""

Steps = list[list[Any]]
Portable = dict[str, Any]
"""`steps`, and `results`: a list of operands for each result."""


def portable(program: Program, results: Iterable[str]) -> Portable:
    """Steps of a program that the named results need.

    TaskError: the program has loops, look-ups of a whole cell of a table, or random draws.
    """
    wanted = {name: program.outputs_of[name] for name in results}
    needed = {o.node for each in wanted.values() for o in each if o.node is not None}
    # Backward from the results, so that a statement is reached after all that read it.
    live = []
    for s in reversed(program.statements):
        if s.target in needed:
            live.append(s)
            if s.operation != "input":
                needed |= {x for x in s.arguments if isinstance(x, int)}
    steps: Steps = []
    names: dict[int, str] = {}

    def add(operation: str, *operands: Any) -> str:
        if operation not in OPERATIONS:
            raise TaskError(f"it needs {operation!r}, which has no portable form")
        steps.append([f"t{len(steps)}", operation, *operands])
        return str(steps[-1][0])

    for s in reversed(live):
        if s.operation == "input":
            names[s.target] = "{}[{}]".format(*s.arguments)
            continue
        operands = [names[x] if isinstance(x, int) else x for x in s.arguments]
        names[s.target] = _add_statement(add, s.operation, operands)

    def operand(output: Any) -> Any:
        if output.node is None:
            return float(output.constant)
        return add("neg", names[output.node]) if output.negative else names[output.node]

    return {
        "results": {n: [operand(o) for o in each] for n, each in wanted.items()},
        "steps": steps,
    }


def _add_statement(add: Any, operation: str, operands: list[Any]) -> str:
    """The steps of one statement; returns the name of the last one."""
    if operation in ("fma", "fms", "fnma"):
        x, y, z = operands
        product = add("mul", x, y)
        if operation == "fnma":
            return str(add("sub", z, product))
        return str(add("add" if operation == "fma" else "sub", product, z))
    if operation == "rcp":
        return str(add("div", 1.0, *operands))
    if operation == "rsqrt":
        return str(add("div", 1.0, add("sqrt", *operands)))
    return str(add(PLAIN.get(operation, operation), *operands))


def inputs_of_results(program: Program) -> dict[str, set[str]]:
    """Names of the inputs on which each result depends."""
    found: dict[int, set[str]] = {}
    for s in program.statements:
        if s.operation == "input":
            found[s.target] = {str(s.arguments[0])}
        else:
            operands = [found[x] for x in s.arguments if isinstance(x, int)]
            found[s.target] = set().union(*operands)
    return {
        name: set().union(*(found[o.node] for o in each if o.node is not None))
        for name, each in program.outputs_of.items()
    }


def table_columns(programs: Iterable[Mapping[str, Any]]) -> dict[str, list[int]]:
    """Columns of each table that the programs look up, in order; all columns as an empty list if
    some are known only from the inputs."""
    found: dict[str, set[Any]] = {}
    for program in programs:
        for _, operation, *operands in program["steps"]:
            if operation == LOOK:
                found.setdefault(operands[0], set()).add(operands[2])
    return {
        name: [] if any(isinstance(x, str) for x in each) else sorted(int(x) for x in each)
        for name, each in found.items()
    }


def run_portable(
    program: Mapping[str, Any], inputs: Mapping[str, Any], tables: Mapping[str, Any] | None = None
) -> dict[str, np.ndarray]:
    """The results of a portable program, each flat, for inputs and tables by name."""
    values: dict[str, Any] = {n: np.asarray(x, float) for n, x in (tables or {}).items()}
    values |= {
        f"{name}[{k}]": float(x)
        for name, array in inputs.items()
        for k, x in enumerate(np.ravel(array))
    }

    def value(x: Any) -> Any:
        return values[x] if isinstance(x, str) else x

    with np.errstate(all="ignore"):
        for name, operation, *operands in program["steps"]:
            values[name] = OPERATIONS[operation](*map(value, operands))
    return {n: np.array([value(x) for x in each]) for n, each in program["results"].items()}


def formulas(program: Portable, result: str) -> list[str]:
    """A formula for each entry of a result, in NumPy's notation; empty where it is too long."""
    texts: dict[str, str] = {}

    def text(x: Any) -> str:
        return f"{x:.6g}" if isinstance(x, float) else texts.get(x, x)

    for name, operation, *operands in program["steps"]:
        parts = [text(x) for x in operands]
        form = FORMS.get(operation, operation + "(" + ", ".join(["{}"] * len(parts)) + ")")
        # If a part is too long, so is the whole.
        texts[name] = form.format(*parts) if all(map(_is_short, parts)) else " " * (LONGEST + 1)
    found = [text(x) for x in program["results"][result]]
    return [_without_outer_brackets(x).replace("+ -", "- ") if _is_short(x) else "" for x in found]


def _is_short(text: str) -> bool:
    return len(text) <= LONGEST


def _without_outer_brackets(text: str) -> str:
    """`a + b` for `(a + b)`."""
    if not text.startswith("("):
        return text
    depths = np.cumsum([(x == "(") - (x == ")") for x in text])
    return text[1:-1] if (depths[:-1] > 0).all() else text


def input_entries(program: Mapping[str, Any]) -> set[str]:
    """Entries of inputs that a portable program reads, such as "q[3]"."""
    lists: list[Sequence[Any]] = [step[2:] for step in program["steps"]]
    read = {
        x for each in (*lists, *program["results"].values()) for x in each if isinstance(x, str)
    }
    return {x for x in read if "[" in x} - {step[0] for step in program["steps"]}
