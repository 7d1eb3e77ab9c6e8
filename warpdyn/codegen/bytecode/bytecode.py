"""A program as bytecode, and its form in a file."""

from __future__ import annotations

import json
from array import array
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

INTEGER = "i"
"""Type code of the integers: 32 bits."""


@dataclass(frozen=True)
class BytecodeArray:
    """An array of a program, an input or a result."""

    name: str
    slots: list[int]
    """The slot of each entry; -1 for entries that the program does not read."""
    constant: list[bool]
    """For a result: which entries are constants. Empty for an input."""


@dataclass(frozen=True)
class Bytecode:
    """Instructions (instructions.py), constants, and the slots of all arrays."""

    code: array[int]
    constants: list[float]
    slots: int
    counters: int
    """Number of loops, each of which has a counter."""
    depth: int
    """Number of routines and loops that are nested in each other."""
    inputs: list[BytecodeArray]
    """Without tables."""
    results: list[BytecodeArray]
    preload: list[int]
    """Pairs of a slot, and the number of the constant that it holds from the start."""

    def to_bytes(self) -> bytes:
        """The form in a file: a line of JSON, then integers."""
        line = {
            "code": len(self.code),
            "constants": self.constants,
            "slots": self.slots,
            "counters": self.counters,
            "depth": self.depth,
            "inputs": [[x.name, len(x.slots)] for x in self.inputs],
            "results": [[x.name, "".join("01"[k] for k in x.constant)] for x in self.results],
            "preload": self.preload,
        }
        slots = chain.from_iterable(x.slots for x in (*self.inputs, *self.results))
        integers = self.code + array(INTEGER, slots)
        return json.dumps(line).encode() + b"\n" + integers.tobytes()

    @classmethod
    def from_bytes(cls, content: bytes) -> Bytecode:
        """The bytecode from its form in a file; raises an exception if that is damaged."""
        first, _, rest = content.partition(b"\n")
        line: dict[str, Any] = json.loads(first)
        integers = array(INTEGER)
        integers.frombytes(rest)
        code = integers[: line["code"]]
        slots = iter(integers[line["code"] :])

        def arrays(names: Any) -> list[BytecodeArray]:
            found = []
            for name, entries in names:
                constant = [] if isinstance(entries, int) else [x == "1" for x in entries]
                number = entries if isinstance(entries, int) else len(constant)
                found.append(BytecodeArray(name, list(islice(slots, number)), constant))
            return found

        return cls(
            code=code,
            constants=line["constants"],
            slots=line["slots"],
            counters=line["counters"],
            depth=line["depth"],
            inputs=arrays(line["inputs"]),
            results=arrays(line["results"]),
            preload=line["preload"],
        )
