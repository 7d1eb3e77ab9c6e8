"""A program as readable lines."""

from __future__ import annotations

from typing import Any

from .array_operations import ARRAY_OPERATIONS

FORMS = {
    "add": "{0} + {1}",
    "sub": "{0} - {1}",
    "mul": "{0} * {1}",
    "rcp": "1 / {0}",
    "neg": "-{0}",
    "fma": "{0} * {1} + {2}",
    "fms": "{0} * {1} - {2}",
    "fnma": "{2} - {0} * {1}",
    "select": "{2} if {0} < {1} else {3}",
    "select_equal": "{2} if {0} <= {1} else {3}",
    "uniform": "uniform({0}, {1}, {2}, {3})",
    "atan2": "atan2({0}, {1})",
    "min": "{1} if {1} < {0} else {0}",
    "max": "{1} if {0} < {1} else {0}",
    "look": "{0}[{1}, {2}]",
    "cell": "{0}[{1}.., {2}..]",
    "corner": "corner {1} of {0}",
}
"""How operations are written; all others are functions."""


def listing(program: Any, name: str) -> str:
    """The lines of a program and its routines, under this name."""
    arrays = ", ".join(f"{k}{list(n)}" for k, n in program.inputs.items())
    results = ", ".join(f"{k}{list(n)}" for k, n in program.results.items())
    lines = [f"{name}({arrays}) -> {results}    # {program.operations} operations"]

    def place(k: int) -> str:
        return "{}[{}]".format(*program.places[k])

    for s in program.statements:
        shown = [
            f"t{x}" if isinstance(x, int) else repr(x) if isinstance(x, float) else x
            for x in s.arguments
        ]
        if s.operation == "input":
            right = f"{s.arguments[0]}[{s.arguments[1]}]"
        elif s.operation in ("frame", "call", "of", *ARRAY_OPERATIONS):
            right = f"{s.operation} {', '.join(shown)}"
        else:
            right = FORMS.get(s.operation, s.operation + "({0})").format(*shown)
        lines.append(f"t{s.target} = {right}")
        lines += [
            f"{place(k)} = {'-' if program.outputs[k].negative else ''}t{s.target}"
            for k in program.stores.get(s.target, ())
        ]
    lines += [
        f"{place(k)} = {o.constant!r}" for k, o in enumerate(program.outputs) if o.node is None
    ]
    for routine, inside in program.routines.items():
        how = inside.repetition
        times = "" if how is None else f" {'at most ' if how.may_end else ''}{how.times} times"
        if inside.sweep:
            times = f" along {inside.sweep.steps} rows"
        lines += ["", listing(inside, routine + times)]
    return "\n".join(lines)
