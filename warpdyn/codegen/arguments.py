"""A kernel's argument: one vector of 64-bit integers, on every device, that holds the addresses and
strides of its arrays, and on CUDA the plain numbers among its inputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

HEADER = ("first", "count", "keep_constants", "stream")
"""The launch: the `first` environment and the number of them; whether constant outputs already hold
their value; whether the batch is too large for the cache, so that stores should bypass it: 1, if
environments lie side by side; 2, in rows too."""

FIELDS = 5
"""Fields of each array: address, then strides in elements: environment, and three trailing
dimensions (0 for missing ones). Fields of a table: address, rows, columns, and the strides of
both."""


@dataclass(frozen=True)
class ArgumentLayout:
    """Arrays of a kernel in order, inputs and then results, with their trailing shapes. The inputs
    in `numbers` follow by value, an integer with the bits of each number."""

    inputs: Mapping[str, tuple[int, ...]]
    results: Mapping[str, tuple[int, ...]]
    numbers: tuple[str, ...] = ()

    @property
    def arrays(self) -> list[tuple[str, tuple[int, ...]]]:
        """C++ names and shapes of the arrays. An input and a result of one name have different C++
        names."""
        inputs = [(input_identifier(name), shape) for name, shape in self.inputs.items()]
        return inputs + [(result_identifier(name), shape) for name, shape in self.results.items()]

    @property
    def length(self) -> int:
        """Number of integers in the vector."""
        return self._end_of_fields + sum(prod(self.inputs[name]) for name in self.numbers)

    @property
    def _end_of_fields(self) -> int:
        return len(HEADER) + FIELDS * (len(self.inputs) + len(self.results))

    def fields(self, array: str) -> list[str]:
        """C++ of the fields of the array with this C++ name."""
        first = self.position(array)
        return [f"args[{first + k}]" for k in range(FIELDS)]

    def position(self, array: str) -> int:
        """Index of the first field of the array with this C++ name."""
        return len(HEADER) + FIELDS * [name for name, _ in self.arrays].index(array)

    @property
    def values(self) -> dict[str, range]:
        """Indices of the numbers of each input that is passed by value, by its C++ name."""
        places, first = {}, self._end_of_fields
        for name in self.numbers:
            places[input_identifier(name)] = range(first, first + prod(self.inputs[name]))
            first += prod(self.inputs[name])
        return places


def input_identifier(array: str) -> str:
    """An input's name in C++ (forces are keyed by link names, which may hold any characters)."""
    return "a_" + _plain(array)


def result_identifier(array: str) -> str:
    """A result's name in C++."""
    return "r_" + _plain(array)


def _plain(name: str) -> str:
    return "".join(c if c.isascii() and c.isalnum() else f"_{ord(c):x}_" for c in name)
