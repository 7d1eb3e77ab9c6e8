"""Checks of bytecode before it runs: all instructions read and write slots of the program."""

from __future__ import annotations

from math import prod

import numpy as np

from ...codegen.bytecode.bytecode import Bytecode
from ...codegen.bytecode.instructions import (
    AT_ROW,
    BLOCKS,
    CORNERS,
    DEPTH,
    FIELDS,
    LOOPS,
    NUMBER,
    OPERATIONS,
    PER_STEP,
    TABLES,
    WITH_FOURTH,
    WORDS,
)
from ...codegen.source import Source

MOST_SLOTS = (1 << 24) - 1
"""Largest number of slots of a program in the interpreter."""


def excess(bytecode: Bytecode, source: Source) -> str:
    """The limits of the interpreter that a program exceeds, or an empty string."""
    needs = {
        "slots": (bytecode.slots, MOST_SLOTS),
        "loops": (bytecode.counters, LOOPS),
        "nested loops": (bytecode.depth, DEPTH),
        "tables": (len(source.tables), TABLES),
    }
    beyond = {name: pair for name, pair in needs.items() if pair[0] > pair[1]}
    return ", ".join(f"{n:,} {name}, at most {most:,}" for name, (n, most) in beyond.items())


def check(bytecode: Bytecode, source: Source) -> None:
    """Raise ValueError if an instruction or an array uses anything outside of the program."""
    code = np.frombuffer(bytecode.code, np.int32)
    if len(code) == 0 or len(code) % WORDS:
        raise ValueError("the code is incomplete")
    code = code.reshape(-1, WORDS)
    if bytecode.slots < 1:
        raise ValueError("the program has no slots")
    if too_large := excess(bytecode, source):
        raise ValueError(f"the program is too large for the interpreter: {too_large}")
    if code.min() < 0 or code[:, 0].max() >= len(OPERATIONS):
        raise ValueError("there is an unknown instruction")
    # The interpreter reads one instruction ahead.
    if len(code) < 2 or (code[-2:, 0] != NUMBER["end"]).any():
        raise ValueError("the program does not end")
    _check_fields(code, bytecode, len(source.tables))
    _check_blocks(code, bytecode.slots)
    _check_arrays(bytecode, source)


def _check_fields(code: np.ndarray, bytecode: Bytecode, tables: int) -> None:
    """Raise ValueError if a field of an instruction is not below the number of objects that it
    indexes."""
    limits = {
        "s": bytecode.slots,
        "k": len(bytecode.constants),
        "t": tables,
        "j": len(code) - 1,
        "l": bytecode.counters,
        "-": 1 << 31,
    }
    table = np.array([[limits[kind] for kind in FIELDS[name]] for name in OPERATIONS])
    _require((code[:, 1:] < table[code[:, 0]]).all())


def _check_blocks(code: np.ndarray, slots: int) -> None:
    """Check instructions on several slots, and instructions that continue in the next one."""
    operations, wide = code[:, 0], code.astype(np.int64)
    column = {"d": 1, "a": 2}
    for name, fields in BLOCKS.items():
        chosen = wide[operations == NUMBER[name]]
        for field in fields:
            _require((chosen[:, column[field]] + chosen[:, 3] <= slots).all())
    _require((wide[operations == NUMBER["cell"], 1] + CORNERS <= slots).all())
    for name in (*WITH_FOURTH, *PER_STEP, *AT_ROW):
        first = np.flatnonzero(operations == NUMBER[name])
        _require((operations[first + 1] == NUMBER["behind"]).all())
        more = wide[first + 1, 2]
        if name in PER_STEP:
            more = wide[first, column[PER_STEP[name]]] + wide[first, 3] * more - 1
        if name in AT_ROW:
            _require((more > 0).all())
            more = wide[first, column[AT_ROW[name]]] + wide[first, 4] * (more - 1)
        _require((more < slots).all())


def _check_arrays(bytecode: Bytecode, source: Source) -> None:
    """Check the slots of arrays, and of constants that are stored before the program starts."""
    preload = np.asarray(bytecode.preload, np.int64).reshape(-1, 2)
    limit = np.array([bytecode.slots, len(bytecode.constants)])
    _require(((preload >= 0) & (preload < limit)).all())
    inputs = {name: x for name, x in source.inputs.items() if name not in source.tables}
    for arrays, shapes, least in (
        (bytecode.inputs, inputs, -1),
        (bytecode.results, source.results, 0),
    ):
        _require([x.name for x in arrays] == [*shapes])
        for x in arrays:
            _require(len(x.slots) == prod(shapes[x.name]))
            _require(all(least <= slot < bytecode.slots for slot in x.slots))


def _require(condition: object) -> None:
    if not condition:
        raise ValueError("an instruction or an array lies outside of the program")
