"""The CPU form of a program: one environment in each lane of a vector (lanes.py).

The program computes a block of environments at once, one in each lane. `tiles` reads
and writes the arrays, and `partition` cuts the program into functions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain
from typing import Any

from ..recording.order import Statement
from ..recording.program import Program
from . import headers, lanes, translation_units
from .arguments import HEADER, ArgumentLayout, input_identifier, result_identifier
from .array_statements import array_members
from .cpu_routines import PART, array_memory, routines, slot_of
from .emit import Dialect, Region, emit, expression, literal
from .moved_rows import MovedRows
from .partition import split_statements
from .table_copies import COPY, PUT, copy_source, put_source, with_copies
from .tiles import DistinctValues, InPlace, MovedInput, MovedResult, Tile, array_of

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

LARGEST_WORKSPACE = 4 << 20
"""Most bytes of a workspace, because a thread's stack is often 8 MiB. Only the states that a long loop
keeps for its adjoint need so many."""

AnyArray = InPlace | Tile | MovedInput | MovedResult

BLOCK_FIELDS = (("const T*", "constants"), ("V*", "turn"), ("V*", "work"))
"""Fields of the block that every part needs, in addition to its arrays."""


def source(program: Program, single: bool) -> list[str]:
    """Body of the native function `(args)` that computes `count` environments from `first` on, then
    the extra translation units of a long program."""
    cpu_source = CpuSource(program, single)
    sources = cpu_source.write_sources()
    # The dialect refers to this object, so it would keep the program in memory.
    vars(cpu_source).pop("dialect", None)
    return sources


class CpuSource:
    """The stages from a program to its C++: arrays, parts, block, kernel."""

    def __init__(self, program: Program, single: bool):
        self.program, self.single = program, single
        self.layout = ArgumentLayout(program.inputs, program.results)
        self.narrow = bool(program.graph.arrays)
        self.constants = lanes.Constants(single, program.tables)
        self.moved = MovedRows.of(program)
        self.arrays = self._arrays()
        self.results = self._results()
        self.parts, self.functions, self.regions, self.slots = self._divide_statements()
        self.bodies = self._bodies()
        self.tile_constants = self._write_constants()

    # Arrays

    def _arrays(self) -> dict[str, AnyArray]:
        """Access to each array, by its identifier. Tables have no tile: a program looks them up."""
        program = self.program
        over = {result_identifier(r): input_identifier(a) for r, a in program.over.items()}
        tables = {input_identifier(name) for name in program.tables}
        forms: dict[str, Callable[..., AnyArray]] = {}
        forms |= {input_identifier(name): MovedInput for name in self.moved.inputs}
        forms |= {result_identifier(name): MovedResult for name in self.moved.results}
        return {
            name: forms.get(name, array_of)(name, shape, over.get(name))
            for name, shape in self.layout.arrays
            if name not in tables
        }

    def _results(self) -> list[tuple[InPlace | Tile | MovedResult, DistinctValues]]:
        """The array of each result, with its computed and its constant entries."""
        results = []
        for name, outputs in self.program.outputs_of.items():
            array = self.arrays[result_identifier(name)]
            assert not isinstance(array, MovedInput)
            results.append((array, DistinctValues(array, outputs)))
        return results

    # Parts

    def _divide_statements(self) -> tuple[Any, dict[str, list[str]], dict[str, Region], int]:
        """Statements in parts, the functions of routines with their regions, and the workspace."""

        def is_loaded_again(statement: Statement) -> bool:
            # Each part can load these, so they need no slot in the workspace.
            return statement.operation == "input" or (
                statement.operation in ("sin", "cos") and statement.arguments[0] in self.turns
            )

        parts, slots = split_statements(self.moved.statements, PART, is_loaded_again)
        # Inputs and results of routines lie behind the workspace of the parts, which is in use
        # while they call a routine.
        regions, functions, slots = routines(self.program, self.constants, slots)
        self.memory, slots = array_memory(self.program, regions, slots)
        slots = self._place_moved_rows(slots)
        taken = headers.VECTOR_BYTES * slots
        if taken > LARGEST_WORKSPACE:
            if self.program.graph.arrays:
                raise ValueError(
                    f"arrays of loops, with the copies that a gradient keeps, take {taken >> 20} MiB of "
                    f"a thread's stack, of which they may take {LARGEST_WORKSPACE >> 20}: use fewer rows or steps"
                )
            raise ValueError(
                f"the gradient keeps the state of each step of a loop, {taken >> 20} MiB of a "
                f"thread's stack, of which it may take {LARGEST_WORKSPACE >> 20}: make a loop of fewer steps, "
                "call it several times, and differentiate each call"
            )
        return parts, functions, regions, slots

    def _place_moved_rows(self, slots: int) -> int:
        """Choose the slots of inputs and results that are moved directly, in a workspace of `slots`.
        Entries outside arrays get further slots. Returns the new size of the workspace."""
        moved = {input_identifier(name): x for name, x in self.moved.inputs.items()}
        moved |= {result_identifier(name): x for name, x in self.moved.results.items()}
        # The program itself loads or stores an entry without a place, in a slot of its own.
        for identifier, places in moved.items():
            array = self.arrays[identifier]
            assert isinstance(array, (MovedInput, MovedResult))
            array.slots = []
            for place in places:
                if place is None:
                    array.slots.append(slots)
                    slots += 1
                else:
                    array.slots.append(slot_of(self.memory[place[0]]) + place[1])
            if isinstance(array, MovedInput):
                array.is_kept = not any(x and x[0] in self.moved.written for x in places)
        for result in self.arrays.values():
            source = self.arrays.get(result.over or "")
            if isinstance(result, MovedResult) and isinstance(source, MovedInput):
                source.is_returned = result.returns_input = source.slots == result.slots
        return slots

    @cached_property
    def turns(self) -> dict[int, tuple[str, str]]:
        """C++ of the sine and cosine of each angle."""
        angles = enumerate(self.program.angles)
        return {angle: (f"turn[{2 * k}]", f"turn[{2 * k + 1}]") for k, angle in angles}

    @cached_property
    def dialect(self) -> Dialect:
        """C++ of statements on lanes: loads, stores, calls of routines."""
        # A program numbers its outputs through all results; a store needs a result and its entry.
        places = [(array, k) for array, _ in self.results for k in range(array.size)]

        def store(entries: list[int], value: str) -> str:
            return " ".join(array.store(k, value) for array, k in map(places.__getitem__, entries))

        def load(name: str, entry: int) -> str:
            array = self.arrays[input_identifier(name)]
            assert isinstance(array, (InPlace, MovedInput))
            return array.entry(entry)

        dialect = lanes.in_lanes(self.constants, load, store, self.regions)
        moves = {
            COPY: lambda s: copy_source(s, dialect),
            PUT: lambda s: put_source(s, dialect, places),
        }
        return replace(dialect, moves=moves, memory=self.memory)

    def _bodies(self) -> list[list[str]]:
        """Lines of each part."""
        # One set for all parts: outputs that a later part recalls or loads again are already
        # stored.
        stored = set(self.moved.stored)
        bodies = []
        for part in self.parts:
            moved = with_copies(self.program, part, stored) if self.regions else part
            bodies.append(list(emit(self.program, moved, self.dialect, stored, self.turns)))
        return bodies

    def _write_constants(self) -> tuple[list[str], list[str]]:
        """Tables of constant entries, and lines that write them into the tiles; those of arrays in
        place are added to the last part."""
        tables: list[str] = []
        lines: list[str] = []
        for array, values in self.results:
            if isinstance(array, InPlace):
                # Arrays in place have no tile that could keep constants from block to block. They
                # are few, so the last part writes them each time.
                self.bodies[-1] += [
                    f"{array.entry(k)} = V{{}} + {literal(value, self.single)};"
                    for k, value in values.constants
                ]
            elif array.size and isinstance(array, Tile):
                # They are written into the tile once, before the first block, and copied from there
                # with the rest. Contiguous rows have no tile and are written directly.
                more, write = values.tables(self.single)
                tables += more
                lines.append(write)
        return tables, lines

    # Block

    @cached_property
    def fields(self) -> list[tuple[str, str]]:
        """Type and name of each field of a block, those of the arrays and of the tables."""
        fields = [field for array in self.arrays.values() for field in array.fields]
        return [*fields, ("const I64*", "tables")] if self.program.tables else fields

    @property
    def part_opening(self) -> dict[str, str]:
        """Parameter of a part, and its first lines, which open the block into locals under the names
        that loads and stores use."""
        fields = (*BLOCK_FIELDS, *self.fields)
        lines = (f"{kind} const {name} = at.{name};" for kind, name in fields)
        return {"parameters": "const Block& at", "open": "\n".join(lines)}

    @property
    def members(self) -> list[str]:
        """C++ that all translation units share."""
        fields = "\n".join(f"{kind} {name};" for kind, name in self.fields)
        return [
            *self.constants.tables.members,
            *array_members(self.program, self.single),
            *self._moves,
            *([headers.piece("parts.h", "copies")] if self.regions else []),
            headers.piece("blocks.h", "block", fields=fields),
        ]

    @property
    def _moves(self) -> Iterator[str]:
        """The functions that move rows of arrays."""
        inputs = [x for x in self.arrays.values() if isinstance(x, MovedInput)]
        if inputs:
            yield headers.piece("rows_of_arrays.h", "moves", self.single)
        if any(x.is_returned for x in inputs):
            yield headers.piece("rows_of_arrays.h", "still_lines", self.single)

    def _group(self, sizes: Mapping[str, int]) -> int:
        """Number of blocks that a part is run for before the next part."""
        # Two blocks share one fetch of a part's code, but double the tiles and the workspace on the
        # stack, which belongs to the caller's thread.
        on_stack = headers.VECTOR_BYTES * (self.slots + sum(sizes.values()))
        return GROUP if len(self.parts) >= GROUPED and on_stack <= STACK else 1

    # Kernel

    def write_sources(self) -> list[str]:
        """C++ of the kernel, then of its extra translation units."""
        opened, members = self.part_opening, self.members
        parts = [
            headers.piece("parts.h", "part", name=f"part{k}", body="\n".join(body), **opened)
            for k, body in enumerate(self.bodies)
        ]
        units = translation_units.divide_parts(parts)
        if units:
            begin, calls = translation_units.unit_calls(len(units))
            functions = []
        else:
            begin, calls = "", translation_units.part_calls(range(len(parts)))
            functions = [*chain(*self.functions.values()), *parts]
        kernel = lanes.frame(
            self.single,
            ahead=AHEAD,
            members=[*members, self._angle_function(opened)],
            parts=functions,
            body=begin + self._kernel_body(calls),
            narrow=self.narrow,
        )
        return [kernel, *(self._translation_unit(members, parts, unit) for unit in units)]

    def _angle_function(self, opened: Mapping[str, str]) -> str:
        """The function that computes sines and cosines of all angles, before the parts."""
        program = self.program
        lines = [
            f"const V t{s.target} = {expression(s, self.dialect)};"
            for s in program.angle_statements
        ]
        lines += [f"angle({k}, t{angle});" for k, angle in enumerate(program.angles)]
        number = len(program.angles)
        return headers.piece(
            "parts.h", "turns", name="turns", angles="\n".join(lines), turns=number, **opened
        )

    def _kernel_body(self, calls: str) -> str:
        """The body that goes through all blocks: arguments, tiles, parts, the last block."""
        sizes = {array.id: array.size for array in self.arrays.values()}
        sizes |= {array.id: values.slots for array, values in self.results}
        # What moves directly has no tile.
        sizes |= {a.id: 0 for a in self.arrays.values() if isinstance(a, (MovedInput, MovedResult))}
        group = self._group(sizes)
        arguments = [f"const I64 {name} = args[{k}];" for k, name in enumerate(HEADER)]
        fill: list[str] = []
        for array in self.arrays.values():
            arguments += array.declare(self.layout.position(array.id), sizes[array.id], group)
            fill += array.fill()
        if self.program.tables:
            arguments += self.constants.tables.declaration(self.layout)
            fill.append("at.tables = tables;")
        tables, constants = self.tile_constants
        return headers.piece(
            "blocks.h",
            "run",
            arguments="\n".join([*arguments, *tables]),
            constants=self.constants.declaration,
            turns=len(self.program.angles),
            work=self.slots + 1,
            blocks=group,
            fill="\n".join(fill),
            calls=calls,
            empty="\n".join([*constants, *(array.empty() for array, _ in self.results)]),
            last="\n".join(array.last() for array, _ in self.results),
        )

    def _translation_unit(self, members: Sequence[str], parts: Sequence[str], unit: range) -> str:
        """C++ of an extra translation unit: its parts, and the routines that they call."""
        functions: list[str] = []
        for name, function in self.functions.items():
            if any(f"{self.regions[name].function}(" in parts[k] for k in unit):
                functions += function
        functions += parts[unit.start : unit.stop]
        return translation_units.translation_unit(
            self.single, AHEAD, members, functions, unit, self.narrow
        )
