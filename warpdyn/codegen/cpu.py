"""The CPU form of a program: one environment in each lane of sixteen floats or eight doubles.

A block of as many environments as there are lanes goes through the program at once. `tiles` reads
and writes the arrays, and `partition` cuts the program into functions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain

from ..recording.order import Statement
from ..recording.program import Program
from . import companions, headers, lanes
from .arguments import HEADER, ArgumentLayout, input_identifier, result_identifier
from .copies import COPY, PUT, copied, put, with_copies
from .cpu_routines import PART, routines
from .emit import emit, expression, literal
from .partition import split
from .tiles import DistinctValues, InPlace, Tile, array_of

AHEAD = 4
"""Blocks of lanes between an access in place and the prefetch issued with it. A robot of 32 joints
reads and writes 128 rows, more streams than a processor follows by itself: at 16,384 environments
its RNEA took 109 ns each without, 63 with (one core)."""

GROUP, GROUPED = 2, 3
"""Blocks for which a part is run before the next part, and the number of parts from which this is
done. The code is fetched and decoded once for both blocks. Derivatives of a 32-joint robot's rnea
take 227 ns instead of 255, its gradient 78 instead of 86, aba of a tree of 60 joints 218 instead of
251; four blocks gain no more, their values leave the first-level cache (one core)."""

STACK = 1 << 20
"""Largest number of bytes on the stack for a block that shares it with another block."""

KEPT_STACK = 4 << 20
"""Largest workspace in bytes, because a thread's stack is often 8 MiB: only the states that a
long loop keeps for its adjoint become so large."""

BLOCK_FIELDS = (("const T*", "constants"), ("V*", "turn"), ("V*", "work"))
"""Fields of the block that every part needs, in addition to its arrays."""


def source(program: Program, single: bool) -> list[str]:
    """Body of the native function `(args)` that computes `count` environments from `first` on, and
    the companions of a long one."""
    layout = ArgumentLayout(program.inputs, program.results)
    over = {result_identifier(r): input_identifier(a) for r, a in program.over.items()}
    looked_up = {input_identifier(name) for name in program.tables}
    arrays = {
        name: array_of(name, shape, over.get(name))
        for name, shape in layout.arrays
        if name not in looked_up
    }
    results: list[tuple[InPlace | Tile, DistinctValues]] = []
    for name, outputs in program.outputs_of.items():
        array = arrays[result_identifier(name)]
        results.append((array, DistinctValues(array, outputs)))
    # A program numbers its outputs across all results; a store needs a result and an entry of it.
    where = [(result, k) for result in results for k in range(result[0].size)]
    turns = {
        angle: (f"turn[{2 * k}]", f"turn[{2 * k + 1}]") for k, angle in enumerate(program.angles)
    }

    def at_hand(statement: Statement) -> bool:
        return statement.operation == "input" or (
            statement.operation in ("sin", "cos") and statement.arguments[0] in turns
        )

    def store(entries: list[int], value: str) -> str:
        return " ".join(
            array.store(k, value) for (array, _), k in (where[entry] for entry in entries)
        )

    def load(name: str, entry: int) -> str:
        array = arrays[input_identifier(name)]
        assert isinstance(array, InPlace)
        return array.entry(entry)

    constants = lanes.Constants(single, program.tables)
    dialect = lanes.in_lanes(constants, load, store)
    parts, slots = split(program.statements, PART, at_hand)
    # The inputs and results of a routine lie behind the workspace of the parts, which is in use
    # while they call it.
    regions, functions, slots = routines(program, constants, slots)
    if lanes.BYTES * slots > KEPT_STACK:
        raise ValueError(
            f"the gradient keeps the state of each step of a loop, {lanes.BYTES * slots >> 20} MiB of a "
            f"thread's stack, of which it may take {KEPT_STACK >> 20}: make a loop of fewer steps, "
            "call it several times, and differentiate each call"
        )
    dialect = replace(dialect, regions=regions)
    places = [(array, k) for (array, _), k in where]
    moves = {COPY: lambda s: copied(s, dialect), PUT: lambda s: put(s, dialect, places)}
    dialect = replace(dialect, moves=moves)
    # One set for all parts: values that a later part recalls or loads again have been stored
    # already.
    stored: set[int] = set()
    bodies = []
    for part in parts:
        moved = with_copies(program, part, stored) if regions else part
        bodies.append(list(emit(program, moved, dialect, stored, turns)))
    tables: list[str] = []
    empty: list[str] = []
    for array, values in results:
        if isinstance(array, InPlace):
            # In place there is no tile that could keep constants from block to block: they are few,
            # and the last part writes them each time.
            bodies[-1] += [
                f"{array.entry(k)} = V{{}} + {literal(value, single)};"
                for k, value in values.constants
            ]
        elif array.size:
            # Constants go into the tile once, before the first block, and from there with the rest.
            # Rows side by side have no tile, and get them separately.
            more, write = values.tables(single)
            tables += more
            empty.append(write)
    angles = [f"const V t{s.target} = {expression(s, dialect)};" for s in program.angle_statements]
    angles += [f"angle({k}, t{angle});" for k, angle in enumerate(program.angles)]
    arguments = [f"const I64 {name} = args[{k}];" for k, name in enumerate(HEADER)]
    # Two blocks share one fetch of a part's code, but double the tiles and the workspace on the
    # stack, which belongs to the caller's thread.
    slots_of = {array.id: values.slots for array, values in results}
    on_stack = lanes.BYTES * (
        slots + sum(slots_of.get(array.id, array.size) for array in arrays.values())
    )
    group = GROUP if len(parts) >= GROUPED and on_stack <= STACK else 1
    for array in arrays.values():
        arguments += array.declare(
            layout.position(array.id), slots_of.get(array.id, array.size), group
        )
    fields = [field for array in arrays.values() for field in array.fields]
    fill = [line for array in arrays.values() for line in array.fill()]
    if program.tables:
        arguments += constants.tables.declaration(layout)
        fields.append(("const I64*", "tables"))
        fill.append("at.tables = tables;")
    # Every part copies the block's fields to locals, under the names that `load` and `store` use.
    opened = "\n".join(
        f"{kind} const {name} = at.{name};" for kind, name in (*BLOCK_FIELDS, *fields)
    )
    function = {"parameters": "const Block& at", "open": opened}
    texts = [
        headers.piece("parts.h", "part", name=f"part{k}", body="\n".join(body), **function)
        for k, body in enumerate(bodies)
    ]
    members = [
        *constants.tables.members,
        *([headers.piece("parts.h", "copies")] if regions else []),
        headers.piece(
            "blocks.h", "block", fields="\n".join(f"{kind} {name};" for kind, name in fields)
        ),
    ]
    turns_of_angles = headers.piece(
        "parts.h",
        "turns",
        name="turns",
        angles="\n".join(angles),
        turns=len(program.angles),
        **function,
    )
    apart = companions.share(texts)

    def called(some: range) -> Iterator[str]:
        """The functions of the routines that some parts call."""
        for name, function in functions.items():
            if any(f"{regions[name].function}(" in texts[k] for k in some):
                yield from function

    begin, calls = (
        companions.linked(len(apart)) if apart else ("", companions.calls(range(len(parts))))
    )
    beside = [
        companions.companion(
            single, AHEAD, members, [*called(part), *texts[part.start : part.stop]], part
        )
        for part in apart
    ]
    kernel = lanes.frame(
        single,
        ahead=AHEAD,
        members=[*members, turns_of_angles],
        parts=[] if apart else [*chain(*functions.values()), *texts],
        body=begin
        + headers.piece(
            "blocks.h",
            "run",
            arguments="\n".join([*arguments, *tables]),
            constants=constants.declaration,
            turns=len(program.angles),
            work=slots + 1,
            blocks=group,
            fill="\n".join(fill),
            calls=calls,
            empty="\n".join([*empty, *(array.empty() for array, _ in results)]),
            last="\n".join(array.last() for array, _ in results),
        ),
    )
    return [kernel, *beside]
