"""Lanes of a vector on the CPU, and the body of a native function that computes in them.

The constant part of the C++ is in lanes.h and the headers that it names. This module writes the
part that depends on the program.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType

from . import headers
from .arguments import FIELDS, ArgumentLayout, input_identifier
from .array_statements import function_form
from .emit import Dialect, Region, literal

NARROW = """#ifndef __AVX512F__
#define WARPDYN_NARROW
#endif"""
"""Text in front of a program with arrays in loops: its vectors are narrow on processors without
AVX-512. There a vector of a cache line takes two of sixteen registers, and such programs need more
than that. With narrow vectors a grasp and a pile take 0.7 to 0.8 of the time (AMD EPYC, AVX2), and
half the code. Other programs take equally long with both."""


def frame(
    single: bool,
    *,
    ahead: int,
    members: Iterable[str],
    parts: Iterable[str],
    body: str,
    narrow: bool = False,
) -> str:
    """Body of the native function.

    `members` and `parts` are the contents of struct Lanes: the fields that parts need in addition
    to the lanes, and the functions of the program. `body` is the code that runs. `ahead`: blocks
    between an access and the prefetch issued with it. `narrow`: see NARROW.
    """
    text = headers.piece(
        "lanes.h",
        "lanes",
        single,
        ahead=ahead,
        members="\n".join(members),
        parts="\n".join(parts),
        body=body,
    )
    if narrow:
        text = f"{NARROW}\n{text}\n#undef WARPDYN_NARROW"
    return f"\n{text}\n"


CORNERS = "work"
"""Place of the corners of the cell that was looked up last: the first slots of a workspace, which
are reserved for them."""


class Tables:
    """The tables of a program. If there are any, all functions receive their fields, one after the
    other. A call with a name, a row and a column gives the C++ of a look-up."""

    def __init__(self, names: Sequence[str], single: bool):
        self.names = tuple(names)
        self.parameter, self.argument = (", const I64* tables", ", tables") if names else ("", "")
        self.members = [headers.piece("table.h", "lanes", single)] if names else []

    def __call__(self, name: str, row: str, column: str) -> str:
        return f"Lanes::look(tables + {self.place(name)}, {row}, {column})"

    def place(self, name: str) -> int:
        """Index of the first field of a table."""
        return FIELDS * self.names.index(name)

    def cell(self, name: str, row: str, column: str, _: str) -> str:
        """The statement that looks up the corners of a cell."""
        return f"Lanes::cell(tables + {self.place(name)}, {row}, {column}, {CORNERS});"

    def declaration(self, layout: ArgumentLayout) -> list[str]:
        """Declarations of the tables' fields."""
        fields = [x for name in self.names for x in layout.fields(input_identifier(name))]
        return [f"const I64 tables[] = {{{', '.join(fields)}}};"] if fields else []


class Constants:
    """The constants of a program, in a table that its functions receive. A call with a constant
    gives its C++. `tables`: those that the program looks up.

    A literal needs an instruction of ten bytes for its address, for which the lanes have to wait.
    With the table a 32-joint robot's aba takes 63 ns instead of 80, all derivatives of its rnea 219
    instead of 256 (one core).
    """

    def __init__(self, single: bool, tables: Sequence[str] = ()):
        self.single, self.number = single, dict[float, int]()
        self.tables = Tables(tables, single)

    def __call__(self, value: float) -> str:
        return f"Lanes::all(constants[{self.number.setdefault(value, len(self.number))}])"

    @property
    def declaration(self) -> str:
        """The declaration of the table, which hides its contents from the compiler: it would
        otherwise make literals of them."""
        values = ", ".join(literal(value, self.single) for value in (*self.number, 0.0))
        return (
            f"static const T table[] = {{{values}}};\n"
            "const T* constants = table;\n"
            '__asm__("" : "+r"(constants));'
        )


def in_lanes(
    constant: Constants,
    load: Callable[[str, int], str],
    store: Callable[[list[int], str], str],
    regions: Mapping[str, Region] = MappingProxyType({}),
) -> Dialect:
    """The syntax of values in the lanes of a vector."""
    return Dialect(
        type="V",
        functions={
            **{name: f"Lanes::{name}" for name in ("exp", "log", "atan2", "uniform")},
            **{name: f"__builtin_elementwise_{name}" for name in ("fma", "sqrt", "abs", "floor")},
        },
        constant=constant,
        load=load,
        store=store,
        sincos=lambda x, s, c: f"V {s}, {c}; Lanes::sincos({x}, {s}, {c});",
        select=lambda x, sign, y, a, b: f"({x} {sign} {y}) ? {a} : {b}",
        look=constant.tables,
        cell=constant.tables.cell,
        corners=lambda _: CORNERS,
        regions=regions,
        array_form=function_form(lambda name: f"Lanes::{name}"),
    )
