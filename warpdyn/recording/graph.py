"""The nodes of a recording and of its loops and routines, and the outside values that these read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import Any, NamedTuple

Operand = int | float
"""An argument of a node: the index of another node, or a constant."""


CONSTANT = "constant"
"""The operation of a symbol without its derivative, or with that of a second symbol. Programs read the
first symbol itself."""


class ForeignError(TypeError):
    """A value is used in a function or loop to which it does not belong."""


class UnknownError(TypeError):
    """A Python `if`, comparison or conversion needs a value before the program runs."""


class ArrayNode(NamedTuple):
    """An array of a recording: the node of its memory, and its size."""

    root: int
    rows: int
    width: int


class LoopArray(NamedTuple):
    """An array of a loop: its size, and its nodes in the step, before and after it."""

    rows: int
    width: int
    before: int
    after: int

    @property
    def size(self) -> int:
        return self.rows * self.width

    @property
    def is_written(self) -> bool:
        return self.before != self.after


class Graph:
    """The nodes recorded so far: node i is (operation, arguments), and arguments come before it."""

    def __init__(
        self, rolls: bool = True, around: Graph | None = None, unrolls: bool = False
    ) -> None:
        self.rolls: bool = rolls if around is None else around.rolls
        """True if no part of the graph is differentiated: functions that are called for many
        columns may then become routines, which have no derivatives, and a loop needs no segments
        whose states an adjoint keeps."""
        self.unrolls: bool = unrolls if around is None else around.unrolls
        """True if the steps of loops are recorded one after the other: such a recording has
        derivatives of every order."""
        self.guards_slopes = False
        """True if slopes that are not finite are 0 near a choice: for a user's own kernel."""
        self.around = around
        """The graph that a loop or a routine is called in; None for a whole program, and once the
        recording is finished."""
        self.depth: int = 0 if around is None else around.depth + 1
        self.open: list[Graph] = [self] if around is None else around.open
        """The graphs that are being recorded, each inside the one before it. All of them share this
        list."""
        self.captured: dict[int, int] = {}
        """Nodes of the surrounding graph that are read here, each with its entry in the input
        `shared`."""
        self.routines: dict[str, Routine] = {}
        self.arrays: dict[int, ArrayNode] = {}
        """Nodes that are arrays."""
        self.constants: set[int] = set()
        """The first nodes of arrays of numbers that no loop writes."""
        self.nodes: list[tuple[str, tuple]] = []
        self.sources: list[tuple[int, ...]] = []
        """The nodes that each node reads."""
        self.multiples: dict[int, tuple[float, int]] = {}
        """Nodes that are a constant times another node: the constant and that node."""
        self._index: dict[tuple, int] = {}

    def node(self, operation: str, *arguments: Operand | str) -> int:
        """The node of an operation on these arguments, which is recorded if it is new."""
        entry = (operation, arguments)
        types = tuple(map(type, arguments))
        # The constant 2.0 equals 2, but is not node 2.
        key = (entry, types) if float in types else entry
        found = self._index.setdefault(key, len(self.nodes))
        if found == len(self.nodes):
            self.nodes.append(entry)
            reads = operation != "input"
            self.sources.append(tuple([x for x in arguments if reads and isinstance(x, int)]))
            if operation == "mul" and types[0] is float:
                self.multiples[found] = arguments  # type: ignore[assignment]
        return found

    def pair(self, operation: str, x: int, y: int) -> int:
        """The same as `node` for an operation on two nodes, in less time."""
        entry = (operation, (x, y))
        found = self._index.setdefault(entry, len(self.nodes))
        if found == len(self.nodes):
            self.nodes.append(entry)
            self.sources.append(entry[1])
        return found

    def __getstate__(self) -> dict[str, Any]:
        """The graph without the tables that only recording needs."""
        return {**vars(self), "_index": {}, "multiples": {}}

    def finish(self) -> None:
        """End the recording: graphs no longer refer to those around them, so that all of them are
        freed with their program, without a garbage collection."""
        self.open.clear()
        for routine in self.routines.values():
            routine.graph.around = None
            routine.graph.finish()

    def without_constants(self) -> dict[int, int]:
        """Make nodes read what a node of CONSTANT stands for instead of that node, in routines too.
        Returns what each of these nodes stands for."""
        for name, routine in self.routines.items():
            if inner := routine.graph.without_constants():
                results = tuple(
                    x
                    if isinstance(x, (int, float))
                    else type(x)(x.graph, inner.get(x.index, x.index), x.negative)
                    for x in routine.results
                )
                self.routines[name] = replace(routine, results=results)
        origin: dict[int, int] = {}
        if not any(operation == CONSTANT for operation, _ in self.nodes):
            return origin
        for k, (operation, arguments) in enumerate(self.nodes):
            reads = operation != "input"
            now = tuple(origin.get(x, x) if reads and type(x) is int else x for x in arguments)
            if operation == CONSTANT:
                origin[k] = now[0]
            elif now != arguments:
                self.nodes[k] = (operation, now)
                self.sources[k] = tuple(origin.get(x, x) for x in self.sources[k])
        return origin

    def run(self, function: Callable[[], Any]) -> Any:
        """The result of a function, run while this graph, which is inside another one, is open."""
        self.open.append(self)
        try:
            return function()
        finally:
            self.open.pop()

    def size(self) -> int:
        """Number of arithmetic operations of the nodes, including dead ones."""
        return sum(operation in ("add", "sub", "mul", "rcp") for operation, _ in self.nodes)

    def split_factor(self, index: int) -> tuple[float, int]:
        """A node as a constant times another node."""
        return self.multiples.get(index, (1.0, index))


SHARED, COLUMN, KEPT = "shared", "column", "kept"
"""Inputs of a routine: entries that are written once, entries written before each call, and, in a
loop that runs backward through another one, the state of that one."""

ROW, FIXED, FROM = "row", "fixed", "from"
"""Inputs of a sweep's step: the symbols of its row, the numbers of its row and, with the index of a
source behind the name, the values of an earlier sweep."""


KEPT_WHOLE = 16
"""Number of steps up to which the adjoint of a loop keeps the state before each. A longer loop is
recorded as a loop of loops if it is differentiated: some states are kept, and those in between are
computed again."""


ROLL_FROM = 20_000
"""Operations of a function, summed over all its columns, above which it is recorded once and
called: longer straight-line programs take more time to compile than they save."""


def segments(times: int) -> tuple[int, int, int]:
    """Steps of a loop before its first segment, the number of segments, and the steps of each,
    chosen so that few states are kept. If it costs only a few more states, there are no steps
    before the first segment, because they would need another loop."""

    def count_kept_states(length: int) -> float:
        first = times % length
        return times // length + length + (first + sqrt(times) if first else 0.0)

    length = min(range(2, times), key=count_kept_states)
    return times % length, times // length, length


@dataclass(frozen=True)
class Repetition:
    """The number of times that a routine runs on its results: `times`, or fewer if it may end
    early.

    With `ends` the result after the state is a flag: above zero the environment is done, and
    its state then stays as it is.
    """

    times: int
    ends: bool = False
    kept: bool = False
    """True if the state before each step is kept for another loop, after the last state."""
    reads: str | None = None
    """The routine whose kept states its steps read, the last one first."""
    end_unread: bool = False
    """True if only the kept states are read: the last step need not be computed."""
    begun: bool = False
    """True if a copy of its arrays as they are before the first step is kept too."""
    counts: bool = False
    """True if its steps may read their number and arrays."""
    needed: int | None = None
    """The entry of `shared` with the number of steps that an environment needs; further steps change
    nothing. None: all steps."""
    last: int | None = None
    """The same as an entry of the state, which a step may lower."""

    @property
    def may_end(self) -> bool:
        """True if an environment may take fewer steps."""
        return self.ends or self.needed is not None or self.last is not None


@dataclass(frozen=True)
class SweepSource:
    """Values of an earlier sweep: its routine, the number of values of each of its steps, and the
    step that visited each row."""

    routine: str
    values: int
    steps: tuple[int, ...]


@dataclass(frozen=True)
class Sweep:
    """The rows that a routine visits. Each path begins with its own state, and its step runs
    once for each row of the path, on the state that the previous step returned.

    The results of a step are the next state, and then the values of that step. A call of the
    routine returns the values of all steps of all paths, and then the last state of each path.
    """

    paths: tuple[tuple[int, ...], ...]
    state: int
    """Number of entries of a state."""
    row: int
    """Number of symbols in a row: they lie behind the values that the routine captures."""
    fixed: tuple[tuple[float, ...], ...]
    """Numbers in each row."""
    sources: tuple[SweepSource, ...] = ()
    """Earlier sweeps whose values belong to the rows: the steps read them where they are."""

    @property
    def steps(self) -> int:
        return sum(map(len, self.paths))


@dataclass(frozen=True)
class Routine:
    """A function recorded by itself: of a column; with a `repetition`, a loop's step, whose column
    is the state; with a `sweep`, a step along rows, whose column is the states at the beginning of
    all paths. `shared` and `column` count the entries of its inputs."""

    graph: Graph
    shared: int
    column: int
    results: tuple[Any, ...]
    """The results, symbols and numbers."""
    repetition: Repetition | None = None
    sweep: Sweep | None = None
    arrays: tuple[LoopArray, ...] = ()
    """The arrays of a loop."""


ALIKE = 1.25
"""Columns share one routine if it has at most this many times the entries that one of them
needs."""


def alike(columns: Sequence[Sequence[Any]]) -> list[list[int]]:
    """Indices of the columns in groups, each of columns that are zero in the same places."""
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
