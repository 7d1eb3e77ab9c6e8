"""An interpreter of the bytecode of one robot in Python: the oracle of the one in C++."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from warpdyn.algebra import scalar
from warpdyn.codegen.bytecode.bytecode import Bytecode
from warpdyn.codegen.bytecode.instructions import FUSED, OPERATIONS, UNARY, WORDS
from warpdyn.recording.number_operations import ON_NUMBERS

ARITHMETIC = (*UNARY, "add", "mul", "sub", *FUSED)
"""Operations whose instructions have the kinds of operands in their names."""


def run(
    bytecode: Bytecode,
    inputs: Mapping[str, Sequence[float]],
    tables: Sequence[Sequence[Sequence[float]]] = (),
) -> dict[str, list[float]]:
    """The entries of each result for the entries of each input."""
    slots: list[Any] = [float("nan")] * bytecode.slots
    for slot, number in zip(bytecode.preload[::2], bytecode.preload[1::2], strict=True):
        slots[slot] = bytecode.constants[number]
    for array in bytecode.inputs:
        for slot, x in zip(array.slots, inputs[array.name], strict=True):
            if slot >= 0:
                slots[slot] = x
    counters = [0] * bytecode.counters
    back: list[int] = []
    at, value = 0, float("nan")
    while True:
        number, d, a, b, c = bytecode.code[at * WORDS : (at + 1) * WORDS]
        more = bytecode.code[(at + 1) * WORDS + 2] if (at + 2) * WORDS <= len(bytecode.code) else 0
        name = OPERATIONS[number]
        at += 1
        operation, _, kinds = name.rpartition("_")
        if operation in ARITHMETIC:
            operands = [
                {"s": slots, "k": bytecode.constants}[kind][x] if kind != "a" else value
                for kind, x in zip(kinds, (a, b, c), strict=False)
            ]
            value = operands[0] if operation == "move" else ON_NUMBERS[operation](*operands)
            slots[d] = value
        elif name in ("select", "select_equal", "uniform"):
            value = slots[d] = ON_NUMBERS[name](slots[a], slots[b], slots[c], slots[more])
        elif name in ("min", "max", "atan2"):
            value = slots[d] = ON_NUMBERS[name](slots[a], slots[b])
        elif name in ("exp", "log"):
            slots[d] = ON_NUMBERS[name](slots[a])
        elif name == "constant":
            value = slots[d] = bytecode.constants[a]
        elif name == "sincos":
            slots[d], slots[b] = ON_NUMBERS["sin"](slots[a]), ON_NUMBERS["cos"](slots[a])
        elif name == "look":
            slots[d] = scalar.look(tables[c], slots[a], slots[b])
        elif name == "cell":
            corners = [(slots[a] + i, slots[b] + j) for i in (0.0, 1.0) for j in (0.0, 1.0)]
            slots[d : d + 4] = [scalar.look(tables[c], *corner) for corner in corners]
        elif name == "call":
            back.append(at)
            at = d
        elif name == "back":
            at = back.pop()
        elif name == "begin":
            counters[d] = 0
        elif name == "again":
            counters[d] += 1
            at = a if counters[d] < b else at
        elif name == "skip_last":
            at = a if counters[d] == b - 1 else at
        elif name == "skip_idle":
            at = at if counters[d] < slots[b] else a
        elif name == "copy":
            slots[d : d + b] = slots[a : a + b]
        elif name == "keep":
            to = d + counters[c] * b
            slots[to : to + b] = slots[a : a + b]
        elif name == "kept":
            start = a + (more - 1 - counters[c]) * b
            slots[d : d + b] = slots[start : start + b]
        elif name == "all_go":
            slots[d] = True
        elif name == "copy_going":
            if slots[c]:
                slots[d : d + b] = slots[a : a + b]
        elif name == "end_some":
            slots[d] = slots[d] and not slots[a] > 0
            at = at if slots[d] else b
        elif name == "counter":
            slots[d] = float(counters[c])
        elif name == "fill":
            slots[d : d + b] = [bytecode.constants[a]] * b
        elif name in ("read_row", "gather_row"):
            slots[d] = slots[a + c * row_of(slots[b], more)]
        elif name in ("write_row", "scatter_row"):
            slots[d + c * row_of(slots[b], more)] = slots[a]
        elif name == "end":
            return {x.name: [slots[slot] for slot in x.slots] for x in bytecode.results}
        else:
            assert name == "behind", name


def row_of(index: float, rows: int) -> int:
    """The row of an index, limited to the table."""
    return int(min(index, rows - 1.0)) if index > 0 else 0
