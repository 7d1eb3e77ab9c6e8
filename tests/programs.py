"""Execution of a recorded program from its printed text."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from warpdyn.recording.program import Program

FUNCTIONS = {
    "sin": math.sin,
    "cos": math.cos,
    "sqrt": math.sqrt,
    "rsqrt": lambda x: 1.0 / math.sqrt(x),
    "abs": abs,
    "floor": math.floor,
    "exp": math.exp,
    "log": math.log,
    "atan2": math.atan2,
}
"""Functions of one number or two, by the names that programs call them."""


def evaluate(program: Program, inputs: Mapping[str, Any]) -> list[float]:
    """The outputs that the printed lines assign when they are executed as Python on nested lists or
    arrays of one robot, one result after the other."""
    entries: dict[str, Any] = {
        name: np.ravel(np.asarray(array, dtype=float)).tolist() for name, array in inputs.items()
    }
    results: dict[str, list[Any]] = {
        name: [None] * math.prod(shape) for name, shape in program.results.items()
    }
    first, *lines = program.listing().splitlines()
    assert first.startswith("program("), first
    # Force arrays are named after links, not after variables.
    names = "|".join(map(re.escape, sorted(entries, key=len, reverse=True)))
    read = re.compile(rf"(t\d+) = ({names})(\[\d+\])")
    for k, line in enumerate(lines):
        if found := read.fullmatch(line):
            target, name, entry = found.groups()
            lines[k] = f"{target} = entries[{name!r}]{entry}"
    # Executed line by line, this took half of the time of the tests of params.
    numbers = {"inf": math.inf, "nan": math.nan, "entries": entries}
    exec("\n".join(lines), {**FUNCTIONS, **results, **numbers})
    return [x for values in results.values() for x in values]
