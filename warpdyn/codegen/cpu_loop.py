"""The CPU form of a program with a loop that ends when an environment is done.

Environments need different numbers of steps, so a lane does not wait for its neighbours: when the
environment in it is done, the next one takes its place. The phases before and after the loop are
computed for as many environments at once as there are lanes. Lanes do not affect each other, so a
result depends on neither its place nor the batch.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod

from ..recording import phases as _phases
from ..recording.phases import Phases
from ..recording.program import Program
from . import headers, lanes
from .arguments import FIELDS, HEADER, ArgumentLayout, input_identifier, result_identifier
from .array_statements import array_members
from .cpu_routines import TileFunctions, step_functions

CARRIED, STATE = "carried", "state"
"""C++ names of the values that are passed from phase to phase."""

IDENTIFIERS = {_phases.CARRIED: CARRIED, _phases.STATE: STATE}


def source(program: Program, phases: Phases, single: bool) -> str:
    """Body of the native function `(args)` that computes `count` environments from `first` on."""
    return LoopSource(program, phases, single).write()


class LoopSource:
    """The C++ of such a program: functions of its three phases, and the loop that refills lanes."""

    def __init__(self, program: Program, phases: Phases, single: bool):
        self.program, self.phases, self.single = program, phases, single
        self.layout = ArgumentLayout(program.inputs, program.results)
        self.inputs = {
            input_identifier(name): prod(shape)
            for name, shape in program.inputs.items()
            if name not in program.tables
        }
        self.results = {
            result_identifier(name): prod(shape) for name, shape in program.results.items()
        }
        self.constants = lanes.Constants(single, program.tables)
        # Phases number their constants in this order.
        passed = (CARRIED, STATE)
        self.before = _phase(phases.before, "before", self.constants, (*self.inputs,), passed)
        self.step = step_functions(phases.step, "step", self.constants)
        self.after = _phase(
            phases.after, "after", self.constants, (*self.inputs, *passed), (*self.results,)
        )
        self.functions = (self.before, self.step, self.after)

    def write(self) -> str:
        """The C++ of the kernel."""
        return lanes.frame(
            self.single,
            ahead=0,
            members=[
                *self.constants.tables.members,
                *array_members(self.program, self.single),
                headers.piece("loop.h", "moves"),
            ],
            parts=[function for phase in self.functions for function in phase.functions],
            body=f"{self._declarations()}\n{self._loop()}",
            narrow=bool(self.program.graph.arrays),
        )

    def _declarations(self) -> str:
        """Arguments of the launch, and the tiles: those of arrays, and the values that phases pass on,
        for the lanes that are ready and for those that have ended."""
        arguments = [f"const I64 {name} = args[{k}];" for k, name in enumerate(HEADER[:2])]
        for name, shape in self.layout.arrays:
            if name in self.inputs or name in self.results:
                arguments += _declare(name, shape, self.layout.position(name))
        arguments += self.constants.tables.declaration(self.layout)
        tiles = [f"{a}_tile[{n + 1}]" for a, n in (*self.inputs.items(), *self.results.items())]
        carried, size = max(self.phases.carried_size, 1), self.phases.state_size
        tiles += [f"{CARRIED}{which}[{carried}]" for which in ("", "_ready", "_ended")]
        tiles += [f"{STATE}{which}[{size}]" for which in ("_ready", "_ended")]
        aligned = (f"{tile} __attribute__((aligned(64))) = {{}}" for tile in tiles)
        return headers.piece(
            "loop.h",
            "arrays",
            arguments="\n".join(arguments),
            constants=self.constants.declaration,
            tiles=f"V {', '.join(aligned)};",
            turns=max(phase.turns for phase in self.functions),
            work=max(phase.slots for phase in self.functions) + 1,
        )

    def _loop(self) -> str:
        """The loop of steps, in which the next environment takes the lane of one that is done."""
        phases, before, step, after = self.phases, *self.functions
        assert phases.step.repetition is not None
        inputs, results = ([f"{a}_tile" for a in x] for x in (self.inputs, self.results))
        return headers.piece(
            "loop.h",
            "refilled",
            carried=phases.carried_size,
            size=phases.state_size,
            most_steps=phases.step.repetition.times,
            before=_calls(before, *inputs, f"{CARRIED}_ready", f"{STATE}_ready"),
            step=_calls(step, CARRIED, "state", "nullptr", "then"),
            finish=_calls(after, *inputs, f"{CARRIED}_ended", f"{STATE}_ended", *results),
            enter_ready=_moves("enter", self._inputs_of(phases.before), "j", "(ready + j)"),
            enter_ended=_moves("enter", self._inputs_of(phases.after), "j", "over[j]"),
            leave=_moves("leave", self.results, "j", "over[j]"),
        )

    def _inputs_of(self, phase: Program) -> dict[str, int]:
        """The inputs that a phase reads, with their sizes. An environment enters the phase with
        only these."""
        names = {s.arguments[0] for s in phase.statements if s.operation == "input"}
        read = set(map(input_identifier, names))
        return {a: n for a, n in self.inputs.items() if a in read}


def _phase(
    program: Program,
    name: str,
    table: lanes.Constants,
    inputs: Sequence[str],
    results: Sequence[str],
) -> TileFunctions:
    """Functions of the phase before the loop, or after it: each array is a tile, named as in the
    kernel."""

    def place(output: int) -> str:
        array, entry = program.places[output]
        return f"{IDENTIFIERS.get(array) or result_identifier(array)}[{entry}]"

    def entry(array: str, k: int) -> str:
        return f"{IDENTIFIERS.get(array) or input_identifier(array)}[{k}]"

    parameters = [*(f"const V* {a}" for a in inputs), *(f"V* {a}" for a in results)]
    return TileFunctions(program, name, table, parameters, entry, place)


def _calls(phase: TileFunctions, *tiles: str) -> str:
    return "\n".join(phase.calls(", ".join(tiles)))


def _declare(a: str, shape: tuple[int, ...], position: int) -> Iterator[str]:
    """An array's address and stride, and the offset of each entry from its environment's first."""
    const = "const " if a.startswith("a_") else ""
    fields = [f"args[{position + k}]" for k in range(FIELDS)]
    yield f"{const}T* const {a} = ({const}T*){fields[0]};"
    yield f"const I64 {a}_env = {fields[1]};"
    yield f"I64 {a}_offset[{max(prod(shape), 1)}];"
    loops = " ".join(
        f"for (I64 {i} = 0; {i} < {n}; ++{i})"
        for i, n in zip("xyz", (*shape, 1, 1, 1)[:3], strict=True)
    )
    offset = f"x * {fields[2]} + y * {fields[3]} + z * {fields[4]}"
    yield f"{{ int k = 0; {loops} {a}_offset[k++] = {offset}; }}"


def _moves(way: str, sizes: Mapping[str, int], lane: str, environment: str) -> str:
    """Copies of an environment's entries of arrays into a lane of their tiles, or from it."""
    return " ".join(
        f"Lanes::{way}({a}_tile, {lane}, {a} + {environment} * {a}_env, {a}_offset, {count});"
        for a, count in sizes.items()
    )
