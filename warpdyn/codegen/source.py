"""A program written for a target, with the facts needed to call it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from .arguments import ArgumentLayout


@dataclass(frozen=True)
class Source:
    """A program written for one target, with the facts needed to call it."""

    name: str
    code: str
    """Body of the native function, in C++; empty in a description of a program that is not written."""
    inputs: dict[str, tuple[int, ...]]
    results: dict[str, tuple[int, ...]]
    """Result arrays and their trailing shapes."""
    operations: int
    bytes: int
    """Bytes that are read and written for one environment, without constant outputs."""
    target: str
    loops: bool = False
    """True if environments take different numbers of steps."""
    tables: tuple[str, ...] = ()
    """Inputs that are tables."""
    over: dict[str, str] = field(default_factory=dict)
    """Results that may be written over an input, with that input."""
    constant_bytes: int = 0
    """Bytes of one environment's constant outputs, which an unbound call always writes and a bound
    one only at first."""
    translation_units: tuple[str, ...] = ()
    """Bodies that are compiled separately and that the code calls (translation_units.py)."""
    numbers: tuple[str, ...] = ()
    """Inputs that a launch passes by value."""
    warps: int = 1
    """Warps of a CUDA block, which serves 32 environments."""
    shared_bytes: int = 0
    """Shared memory that a launch on CUDA has to ask for."""

    @property
    def layout(self) -> ArgumentLayout:
        """Arguments of a launch."""
        return ArgumentLayout(self.inputs, self.results, self.numbers)

    @property
    def full_source(self) -> str:
        """The code and its further translation units."""
        return "\n".join((self.code, *self.translation_units))

    @property
    def unit_sources(self) -> list[Source]:
        """The further translation units, as sources of their own."""
        return [replace(self, code=code, translation_units=()) for code in self.translation_units]
