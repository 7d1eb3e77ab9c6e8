"""The CPU form of a program with a loop that ends when an environment is done.

Environments need different numbers of steps, so a lane does not wait for its neighbours: when the
environment in it is done, the next one takes its place. The phases before and after the loop are
computed for as many environments at once as there are lanes. Lanes do not affect each other, so
that a result depends on neither its place nor the batch.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod

from ..recording import phases as _phases
from ..recording.phases import Phases
from ..recording.program import Program
from . import headers, lanes
from .arguments import (
    FIELDS,
    HEADER,
    ArgumentLayout,
    input_identifier,
    result_identifier,
)
from .array_statements import array_members
from .cpu_routines import TileFunctions, step_functions

CARRIED, STATE = "carried", "state"
"""C++ names of the values that are passed from phase to phase."""

IDENTIFIERS = {_phases.CARRIED: CARRIED, _phases.STATE: STATE}


def source(program: Program, phases: Phases, single: bool) -> str:
    """Body of the native function `(args)` that computes `count` environments from `first` on."""
    layout = ArgumentLayout(program.inputs, program.results)
    inputs = {
        input_identifier(name): prod(shape)
        for name, shape in program.inputs.items()
        if name not in program.tables
    }
    results = {result_identifier(name): prod(shape) for name, shape in program.results.items()}
    table = lanes.Constants(single, program.tables)
    before, step, after = (
        _phase(phases.before, "before", table, (*inputs,), (CARRIED, STATE)),
        step_functions(phases.step, "step", table),
        _phase(phases.after, "after", table, (*inputs, CARRIED, STATE), (*results,)),
    )

    # Environments enter a phase with the arrays that the phase reads.
    def moves(way: str, sizes: Mapping[str, int], lane: str, environment: str) -> str:
        return " ".join(_move(way, a, lane, environment, n) for a, n in sizes.items())

    def input_sizes(phase: Program) -> dict[str, int]:
        arrays = {s.arguments[0] for s in phase.statements if s.operation == "input"}
        return {a: n for a, n in inputs.items() if a in map(input_identifier, arrays)}

    arguments = [f"const I64 {name} = args[{k}];" for k, name in enumerate(HEADER[:2])]
    for name, shape in layout.arrays:
        if name in inputs or name in results:
            arguments += _declare(name, shape, layout.position(name))
    arguments += table.tables.declaration(layout)
    tiles = [f"{a}_tile[{n + 1}]" for a, n in (*inputs.items(), *results.items())]
    carried, size = max(phases.carried_size, 1), phases.state_size
    tiles += [f"{CARRIED}{which}[{carried}]" for which in ("", "_ready", "_ended")]
    tiles += [f"{STATE}{which}[{size}]" for which in ("_ready", "_ended")]
    every = (before, step, after)
    assert phases.step.repetition is not None
    input_tiles, result_tiles = ([f"{a}_tile" for a in arrays] for arrays in (inputs, results))
    return lanes.frame(
        single,
        ahead=0,
        members=[
            *table.tables.members,
            *array_members(program, single),
            headers.piece("loop.h", "moves"),
        ],
        parts=[function for phase in every for function in phase.functions],
        body="\n".join(
            [
                headers.piece(
                    "loop.h",
                    "arrays",
                    arguments="\n".join(arguments),
                    constants=table.declaration,
                    tiles="V {};".format(
                        ", ".join(f"{tile} __attribute__((aligned(64))) = {{}}" for tile in tiles)
                    ),
                    turns=max(phase.turns for phase in every),
                    work=max(phase.slots for phase in every) + 1,
                ),
                headers.piece(
                    "loop.h",
                    "refilled",
                    carried=phases.carried_size,
                    size=size,
                    most_steps=phases.step.repetition.times,
                    before=_calls(before, *input_tiles, f"{CARRIED}_ready", f"{STATE}_ready"),
                    step=_calls(step, CARRIED, "state", "nullptr", "then"),
                    finish=_calls(
                        after, *input_tiles, f"{CARRIED}_ended", f"{STATE}_ended", *result_tiles
                    ),
                    enter_ready=moves("enter", input_sizes(phases.before), "j", "(ready + j)"),
                    enter_ended=moves("enter", input_sizes(phases.after), "j", "over[j]"),
                    leave=moves("leave", results, "j", "over[j]"),
                ),
            ]
        ),
    )


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


def _move(way: str, a: str, lane: str, environment: str, count: int) -> str:
    return f"Lanes::{way}({a}_tile, {lane}, {a} + {environment} * {a}_env, {a}_offset, {count});"
