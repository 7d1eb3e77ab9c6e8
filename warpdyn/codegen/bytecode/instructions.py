"""The instructions of bytecode: their names and numbers.

An instruction is five 32-bit integers: its number, the slot `d` of its value, and the operands `a`, `b`
and `c`. The last letters of a name are the kinds of its operands: `s`, a slot; `k`, a constant; `a`,
the value of the previous instruction, which is still in registers.
"""

from __future__ import annotations

from itertools import product

UNARY = ("neg", "rcp", "sqrt", "rsqrt", "abs", "floor", "move")
"""Operations on one operand of kind `s` or `a`."""

COMMUTATIVE = ("add", "mul")
"""Operations whose operands may be swapped: the constant, or the slot next to `a`, comes second."""

FUSED = ("fma", "fms", "fnma")
"""Products and sums in one rounding; the factors may be swapped."""

PAIRS = ("ss", "sk", "as", "ak")
"""Kinds of two operands that may be swapped."""

_OTHERS = {
    "end": "----",
    "behind": "----",
    "constant": "sk--",
    "min": "sss-",
    "max": "sss-",
    "select": "ssss",
    "select_equal": "ssss",
    "sincos": "sss-",
    "exp": "ss--",
    "log": "ss--",
    "atan2": "sss-",
    "uniform": "ssss",
    "look": "ssst",
    "cell": "ssst",
    "call": "j---",
    "back": "----",
    "begin": "l---",
    "again": "lj--",
    "skip_last": "lj--",
    "skip_idle": "ljs-",
    "copy": "ss--",
    "keep": "ss-l",
    "kept": "ss-l",
    "all_go": "s---",
    "copy_going": "ss-s",
    "end_some": "ssj-",
    "counter": "s--l",
    "fill": "sk--",
    "read_row": "sss-",
    "gather_row": "sss-",
    "write_row": "sss-",
    "scatter_row": "sss-",
}
"""Fields of instructions whose names have no kinds of operands (FIELDS)."""

OPERATIONS: tuple[str, ...] = (
    *(f"{name}_{kind}" for name in UNARY for kind in "sa"),
    *(f"{name}_{pair}" for name in (*COMMUTATIVE, "sub") for pair in PAIRS),
    "sub_ks",
    "sub_sa",
    "sub_ka",
    *(
        f"{name}_{pair}{last}"
        for name, pair, last in product(FUSED, PAIRS, "ska")
        if not (pair[0] == "a" and last == "a")
    ),
    *_OTHERS,
)
"""All instructions. `behind` is the second half of an instruction with more operands."""

NUMBER = {name: number for number, name in enumerate(OPERATIONS)}
"""The number of each instruction."""

WORDS = 5
"""Integers of an instruction."""

DEPTH, LOOPS, TABLES = 32, 4096, 64
"""Limits of a program: routines that call each other, loops, and tables. All pairs of a panda's shapes
have 923 loops, and a launch has a counter of 4 bytes for each loop that it may have."""

MOST_BOUNDS = 64
"""Largest number of words in the bounds of a kernel to which the interpreter passes launches on."""

CORNERS = 4
"""Corners of a cell: slots that the instruction `cell` writes."""


def _fields(name: str) -> str:
    if name in _OTHERS:
        return _OTHERS[name]
    kinds = name.rpartition("_")[2].replace("a", "-")
    return f"s{kinds}".ljust(WORDS - 1, "-")


FIELDS = {name: _fields(name) for name in OPERATIONS}
"""Kinds of `d`, `a`, `b` and `c` of each instruction: a slot `s`, a constant `k`, a table `t`, an
instruction `j`, a loop `l`; `-`: something else, or nothing."""

WITH_FOURTH = ("select", "select_equal", "uniform")
"""Instructions whose fourth operand, a slot, is `a` of the `behind` that follows."""

BLOCKS = {"fill": "d", "copy": "da", "keep": "a", "kept": "d", "copy_going": "da"}
"""Fields that name the first of `b` slots."""

PER_STEP = {"keep": "d", "kept": "a"}
"""Instructions with `b` slots for each step of a loop, and the field with the first of them. The number
of steps is `a` of the `behind` that follows."""

AT_ROW = {"read_row": "a", "gather_row": "a", "write_row": "d", "scatter_row": "d"}
"""Instructions on an entry of a row of an array, and the field with the slot of that entry in row 0. The
index of the row is in slot `b`, the number of entries in a row is `c`, and that of rows is `a` of the
`behind` that follows."""
