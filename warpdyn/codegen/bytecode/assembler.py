"""Bytecode under construction: instructions, constants and slots."""

from __future__ import annotations

from collections.abc import Sequence

from .instructions import NUMBER, WORDS

NOWHERE = 0
"""The slot of values that no instruction reads from a slot."""


class Assembler:
    """Instructions, constants and slots of a program."""

    def __init__(self, tables: Sequence[str]):
        self.code: list[int] = []
        self.constants: list[float] = []
        self.slots = 1
        """Number of slots, NOWHERE among them."""
        self.free: list[int] = []
        """Slots that may be used again."""
        self.preload: dict[int, int] = {}
        """The slot of each constant that is in one from the start."""
        self.counters = 0
        self.depth = 0
        """Number of routines and loops that are nested in each other."""
        self.tables = {name: k for k, name in enumerate(tables)}
        self._numbers: dict[float | str, int] = {}

    def new_slots(self, number: int) -> int:
        """The first of some neighbouring slots that stay in use."""
        first = self.slots
        self.slots += number
        return first

    def new_counter(self) -> int:
        """The number of a loop."""
        self.counters += 1
        return self.counters - 1

    def constant(self, value: float) -> int:
        """The number of a constant."""
        key = value or repr(value)  # 0.0 and -0.0 are two constants
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self.constants)
            self.constants.append(float(value))
        return number

    def constant_slot(self, value: float) -> int:
        """A slot that holds a constant before the program starts."""
        number = self.constant(value)
        if number not in self.preload:
            self.preload[number] = self.new_slots(1)
        return self.preload[number]

    def add(self, name: str, d: int = 0, a: int = 0, b: int = 0, c: int = 0) -> None:
        """Write an instruction."""
        self.code += (NUMBER[name], d, a, b, c)

    @property
    def here(self) -> int:
        """Number of the next instruction."""
        return len(self.code) // WORDS
