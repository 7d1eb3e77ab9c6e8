"""Statements emitted as Python, to be run on numbers. Only the dialect of `emit` makes its text
C++."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from programs import FUNCTIONS

from warpdyn.algebra.scalar import look, uniform
from warpdyn.codegen.emit import Dialect, emit
from warpdyn.recording.order import Statement
from warpdyn.recording.program import Program

NAMED = {"fma": lambda x, y, z: x * y + z, "uniform": uniform, "look": look, **FUNCTIONS}

PYTHON = Dialect(
    type="V",
    functions={name: name for name in NAMED},
    constant=repr,
    load=lambda array, entry: f"{array}[{entry}]",
    store=lambda entries, value: " ".join(f"out[{k}] = {value};" for k in entries),
    sincos=lambda x, s, c: f"{s}, {c} = sin({x}), cos({x});",
    select=lambda x, sign, y, a, b: f"{a} if {x} {sign} {y} else {b}",
    look=lambda table, row, column: f"look({table}, {row}, {column})",
    cell=lambda table, row, column, name: (
        f"work[:4] = [look({table}, {row} + a, {column} + b) for a in (0, 1) for b in (0, 1)]"
    ),
    corners=lambda name: "work",
)


def run(
    program: Program,
    parts: Sequence[Sequence[Statement]],
    inputs: Mapping[str, Any],
    slots: int = 0,
) -> tuple[list[float], list[str]]:
    """Outputs of the parts, and the lines that ran. Each part has its own names, and all share one
    workspace."""
    arrays = {
        name: x if name in program.tables else np.ravel(np.asarray(x, dtype=float)).tolist()
        for name, x in inputs.items()
    }
    out = [math.nan if o.node is not None else o.constant for o in program.outputs]
    work, stored, lines = [math.nan] * slots, set[int](), []
    for part in parts:
        scope = {**NAMED, **arrays, "out": out, "work": work}
        for line in emit(program, part, PYTHON, stored):
            lines.append(line)
            exec(re.sub(r"^const V ", "", line), scope)
    return out, lines
