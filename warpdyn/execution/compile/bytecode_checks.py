"""Checks of bytecode before it runs: all instructions read and write slots of the program."""

from __future__ import annotations

from math import prod

import numpy as np

from ...codegen.bytecode.bytecode import Bytecode
from ...codegen.bytecode.instructions import (
    BLOCKS,
    FIELDS,
    LOOPS,
    NUMBER,
    OPERATIONS,
    TABLES,
    WITH_FOURTH,
    WORDS,
)
from ...codegen.source import Source

CORNERS = 4
"""Slots that the instruction `cell` writes."""


def check(bytecode: Bytecode, source: Source) -> None:
    """Raise ValueError if an instruction or an array uses anything outside of the program."""
    code = np.frombuffer(bytecode.code, np.int32)
    if len(code) == 0 or len(code) % WORDS:
        raise ValueError("the code is incomplete")
    code = code.reshape(-1, WORDS)
    operations, slots = code[:, 0], bytecode.slots
    if not 0 < slots < 1 << 24 or bytecode.counters > LOOPS or len(source.tables) > TABLES:
        raise ValueError("the program is too large for the interpreter")
    if operations.min() < 0 or operations.max() >= len(OPERATIONS) or code.min() < 0:
        raise ValueError("there is an unknown instruction")
    if operations[-1] != NUMBER["end"]:
        raise ValueError("the program does not end")
    limits = {
        "s": slots,
        "k": len(bytecode.constants),
        "t": len(source.tables),
        "j": len(code),
        "l": bytecode.counters,
        "-": 1 << 31,
    }
    table = np.array([[limits[kind] for kind in FIELDS[name]] for name in OPERATIONS])
    _require(bool((code[:, 1:] < table[operations]).all()))
    # Instructions on several slots, and those that go on in the next one.
    fields = {"d": 1, "a": 2, "b": 3, "c": 4}
    for name, named in BLOCKS.items():
        chosen = code[operations == NUMBER[name]].astype(np.int64)
        for field in named:
            _require(bool((chosen[:, fields[field]] + chosen[:, 3] <= slots).all()))
    _require(bool((code[operations == NUMBER["cell"], 1] + CORNERS <= slots).all()))
    for name, field in (*((name, None) for name in WITH_FOURTH), ("keep", 1), ("kept", 2)):
        first = np.flatnonzero(operations == NUMBER[name])
        _require(bool((operations[first + 1] == NUMBER["behind"]).all()))
        more = code[first + 1, 2].astype(np.int64)
        if field is None:
            _require(bool((more < slots).all()))
        else:
            _require(bool((code[first, field] + code[first, 3] * more <= slots).all()))
    preload = np.asarray(bytecode.preload, np.int64).reshape(-1, 2)
    limit = np.array([slots, len(bytecode.constants)])
    _require(bool(((preload >= 0) & (preload < limit)).all()))
    for arrays, shapes, least in (
        (bytecode.inputs, {k: v for k, v in source.inputs.items() if k not in source.tables}, -1),
        (bytecode.results, source.results, 0),
    ):
        _require([x.name for x in arrays] == [*shapes])
        for x in arrays:
            _require(len(x.slots) == prod(shapes[x.name]))
            _require(all(least <= slot < slots for slot in x.slots))


def _require(condition: bool) -> None:
    if not condition:
        raise ValueError("an instruction or an array lies outside of the program")
