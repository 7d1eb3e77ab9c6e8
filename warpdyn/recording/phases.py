"""A program with one loop that may end early, split in three: before the loop, its step, and
after it.

Environments take different numbers of steps, so a kernel may give the lane of a finished
environment to the next one. For that it runs the three phases separately, and keeps the values of
the first phase that the later ones read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from .graph import COLUMN, Graph
from .order import Statement, visit_nodes
from .program import Output, Program

CARRIED, STATE = "loop:carried", "loop:state"
"""Names of the values that the first phase computes for the later ones, and of the loop's state.
They are inputs of the last phase too, in addition to the program's own, which must not have these
names."""


@dataclass(frozen=True)
class Phases:
    """The three programs. `before`: from the program's inputs, CARRIED and the first STATE. `step`:
    the loop's routine, whose input `shared` is the beginning of CARRIED. `after`: from the
    program's inputs, CARRIED and the last STATE, the program's results."""

    before: Program
    step: Program
    after: Program

    @property
    def carried_size(self) -> int:
        """Number of entries of CARRIED."""
        return prod(self.before.results[CARRIED])

    @property
    def state_size(self) -> int:
        """Number of entries of STATE."""
        return prod(self.step.inputs[COLUMN])


def phases(program: Program) -> Phases | None:
    """The phases of a program. None unless it has a single loop, which may end early, and no other
    routine."""
    call = _loop_that_ends(program)
    if call is None:
        return None
    nodes, step = program.graph.nodes, program.routines[call.arguments[0]]
    _, frame, *state = call.arguments
    shared = list(nodes[frame][1][1:])
    first = set(visit_nodes(program.graph, (x for x in (*shared, *state) if isinstance(x, int))))

    # The last phase, with inputs in place of the values computed by the loop and the first phase.
    carried = {node: k for k, node in enumerate(shared)}
    after = Graph()
    copies: dict[int, int] = {}
    for i in _nodes_after_loop(program, first, call.target):
        operation, arguments = nodes[i]
        if operation == "of" and arguments[1] == call.target:
            copies[i] = after.node("input", STATE, int(arguments[2]))
        elif i in first and operation != "input":
            copies[i] = after.node("input", CARRIED, carried.setdefault(i, len(carried)))
        elif operation == "input":
            copies[i] = after.node(operation, *arguments)
        else:
            copies[i] = after.node(
                operation, *(copies[x] if isinstance(x, int) else x for x in arguments)
            )
    outputs = tuple(
        o if o.node is None else Output(copies[o.node], negative=o.negative)
        for o in program.outputs
    )
    sizes = {CARRIED: (len(carried),), STATE: (len(state),)}
    values = [*carried, *state]
    return Phases(
        Program(
            program.graph,
            program.inputs,
            tuple(_output(x) for x in values),
            sizes,
            tables=program.tables,
        ),
        step,
        Program(
            after, {**program.inputs, **sizes}, outputs, program.results, tables=program.tables
        ),
    )


def _loop_that_ends(program: Program) -> Statement | None:
    """The call of the program's only routine, if that is a loop that may end early."""
    if not program.graph.routines:
        return None
    calls = [s for s in program.statements if s.operation == "call"]
    if len(calls) != 1:
        return None
    repetition = program.routines[calls[0].arguments[0]].repetition
    return calls[0] if repetition is not None and repetition.ends else None


def _nodes_after_loop(program: Program, first: set[int], call: int) -> Sequence[int]:
    """Nodes that the results need and that come after the loop, or that such nodes read, in
    order."""
    nodes = program.graph.nodes
    waiting = [o.node for o in program.outputs if o.node is not None]
    needed: set[int] = set()
    while waiting:
        i = waiting.pop()
        if i in needed:
            continue
        needed.add(i)
        operation, arguments = nodes[i]
        handed = i in first or operation == "input" or (operation == "of" and arguments[1] == call)
        if not handed:
            waiting += [x for x in arguments if isinstance(x, int)]
    return sorted(needed)


def _output(x: int | float) -> Output:
    return Output(x) if isinstance(x, int) else Output(None, x)
