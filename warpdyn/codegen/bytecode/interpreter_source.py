"""The C++ of the interpreter, for one precision."""

from __future__ import annotations

from importlib.resources import files

from .. import headers
from ..arguments import FIELDS
from .instructions import DEPTH, LOOPS, MOST_BOUNDS, OPERATIONS, TABLES

ENTRY = "warpdyn_interpret"
"""Name of the interpreter's function in C."""

BEGINNING = "/// [interpreter]"
"""The line of the header that its text follows."""

LIBRARY = ("sin", "cos", "exp", "log")
"""Functions of the C library on one number that lanes.h calls, in addition to atan2."""


def interpreter_source(single: bool) -> str:
    """The source of the interpreter in float32 or float64; it includes nothing."""
    T, end = ("float", "f") if single else ("double", "")
    declared = [f"{T} {name}{end}({T});" for name in LIBRARY]
    declared += [f"{T} atan2{end}({T}, {T});", "void* malloc(size_t);", "void free(void*);"]
    lanes = headers.piece(
        "lanes.h",
        "lanes",
        single,
        ahead=0,
        members=headers.piece("table.h", "lanes", single),
        parts="",
        body="",
    )
    text = files(__package__).joinpath("interpreter.h").read_text(encoding="utf-8")
    _, _, text = text.partition(BEGINNING)
    lines = (x for x in text.splitlines() if not x.lstrip().startswith("///"))
    table = ", ".join(f"&Run<M>::{name}" for name in OPERATIONS)
    places = {"tables": TABLES, "table": table, "name": ENTRY, "depth": DEPTH, "loops": LOOPS}
    places |= {"fields": FIELDS, "bounds": MOST_BOUNDS}
    interpreter = "\n".join(lines)
    for place, value in places.items():
        interpreter = interpreter.replace(f"${place}", str(value))
    return "\n".join(
        ["typedef __SIZE_TYPE__ size_t;", 'extern "C" {', *declared, "}", lanes, interpreter, ""]
    )
