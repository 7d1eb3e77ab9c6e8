"""How a kernel is told where its arrays lie: one vector of 64-bit integers, the same for CPU and CUDA."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

HEADER = ("first", "count", "keep_constants", "stream")
"""Environments to do: `first` and how many; whether constant outputs already hold their value; whether the result is
too large for the cache, so that stores had better pass it by."""

FIELDS = 5
"""For each array: address, then strides in elements: environment, and three trailing dimensions (0 where there is
none)."""


@dataclass(frozen=True)
class Layout:
    """The arrays of a kernel in order, inputs and then "out", with their trailing shapes."""

    arrays: tuple[tuple[str, tuple[int, ...]], ...]

    @classmethod
    def of(cls, inputs: Mapping[str, tuple[int, ...]], output: tuple[int, ...]) -> Layout:
        return cls((*inputs.items(), ("out", output)))

    @property
    def length(self) -> int:
        return len(HEADER) + FIELDS * len(self.arrays)

    def position(self, array: str) -> int:
        """Index of an array's first field."""
        return len(HEADER) + FIELDS * [name for name, _ in self.arrays].index(array)


def identifier(array: str) -> str:
    """An array's name in C++ (forces are keyed by link names, which may hold anything)."""
    return "a_" + "".join(c if c.isascii() and c.isalnum() else f"_{ord(c):x}_" for c in array)
