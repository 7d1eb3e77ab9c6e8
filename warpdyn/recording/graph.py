"""The nodes of a recording, those of the loops and routines in it, and what these read from around
them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

Operand = int | float
"""An argument of a node: the index of another node, or a constant."""


class ForeignError(TypeError):
    """A value is used in a text that it is not known in."""


class UnknownError(TypeError):
    """A Python `if`, comparison or conversion needs a value before the program runs."""


class Graph:
    """The nodes recorded so far: node i is (operation, arguments), and arguments come before it."""

    def __init__(
        self, rolls: bool = True, around: Graph | None = None, unrolls: bool = False
    ) -> None:
        self.rolls: bool = rolls if around is None else around.rolls
        """Nothing of it is differentiated: functions that are called for many columns may become
        routines, which have no derivatives, and a loop needs no segments whose states an adjoint
        keeps."""
        self.unrolls: bool = unrolls if around is None else around.unrolls
        """Steps of loops are recorded one after the other: what has derivatives of every order."""
        self.guards_slopes = False
        """Slopes that are not finite are 0 where a choice has to do with them: in a user's own kernel."""
        self.around = around
        """The graph that a loop or a routine is called in; None for a whole program."""
        self.depth: int = 0 if around is None else around.depth + 1
        self.open: list[Graph] = [self] if around is None else around.open
        """The texts that are being recorded, each in the one before it; all their graphs have this list."""
        self.captured: dict[int, int] = {}
        """Nodes of the graph around that are read here, each with its entry in the input
        `shared`."""
        self.routines: dict[str, Routine] = {}
        self.nodes: list[tuple[str, tuple]] = []
        self._index: dict[tuple, int] = {}

    def node(self, operation: str, *arguments: Operand | str) -> int:
        key = (
            operation,
            arguments,
            *map(type, arguments),
        )  # the constant 2.0 equals 2, but is not node 2
        found = self._index.get(key)
        if found is None:
            found = self._index[key] = len(self.nodes)
            self.nodes.append((operation, arguments))
        return found

    def size(self) -> int:
        """Arithmetic operations of the nodes, those that nothing needs included."""
        return sum(operation in ("add", "sub", "mul", "rcp") for operation, _ in self.nodes)

    def scaled(self, index: int) -> tuple[float, int]:
        """A node as constant times another node."""
        operation, arguments = self.nodes[index]
        if operation == "mul" and isinstance(arguments[0], float):
            return arguments[0], arguments[1]
        return 1.0, index


SHARED, COLUMN, KEPT = "shared", "column", "kept"
"""Inputs of a routine: entries that are written once, those written before each call, and, in a
loop that goes through another one backward, the state that the other one had."""


KEPT_WHOLE = 16
"""Steps of a loop up to which its adjoint keeps the state before each. A longer one is recorded as a
loop of loops where it is differentiated: some states are kept, those between computed once more."""


def segments(times: int) -> tuple[int, int, int]:
    """Steps of a loop before its first segment, the number of segments, and the steps of each: few
    to keep, and none before where that keeps not many more, as these are another loop."""

    def kept(length: int) -> float:
        first = times % length
        return times // length + length + (first + sqrt(times) if first else 0.0)

    length = min(range(2, times), key=kept)
    return times % length, times // length, length


@dataclass(frozen=True)
class Repetition:
    """How often a routine runs on its results: `times`, or less where it may end.

    With `ends` the result after the state says that an environment is done: a number above zero.
    Its state stays as it is then.
    """

    times: int
    ends: bool = False
    kept: bool = False
    """The state before each step is kept for another loop, behind the last one."""
    reads: str | None = None
    """The routine whose kept states its steps read, the last one first."""
    end_unread: bool = False
    """Only the kept states are read: the last step need not be computed."""


@dataclass(frozen=True)
class Routine:
    """A function recorded by itself: of a column, or, with a `repetition`, a loop's step, whose
    column is the state. `shared` and `column` count the entries of its inputs."""

    graph: Graph
    shared: int
    column: int
    results: tuple[Any, ...]
    """Symbols and numbers."""
    repetition: Repetition | None = None


ALIKE = 1.25
"""Columns are one routine's where it has at most so many times the entries that one of them needs."""


def alike(columns: Sequence[Sequence[Any]]) -> list[list[int]]:
    """Numbers of the columns in groups, each of columns that are zero in the same places."""
    needed = [
        {k for k, x in enumerate(column) if not isinstance(x, (int, float)) or x != 0}
        for column in columns
    ]
    groups: list[tuple[set[int], list[int]]] = []
    for n in sorted(range(len(columns)), key=lambda n: -len(needed[n])):
        for entries, group in groups:
            if needed[n] <= entries and len(entries) <= ALIKE * len(needed[n]):
                group.append(n)
                break
        else:
            groups.append((needed[n], [n]))
    return [group for _, group in groups]
