"""A program for one environment, in which every value is a single number.

A CUDA thread computes one environment in this form (cuda.py), and a kernel for a single robot runs
it on the CPU (scalar_kernel.py).
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import product
from math import prod

from ..recording.graph import COLUMN, SHARED
from ..recording.order import CELL
from ..recording.program import Program
from ..recording.table import LOOK
from . import headers
from .arguments import HEADER, ArgumentLayout, input_identifier, result_identifier
from .array_statements import (
    array_parameters,
    count_kept_entries,
    memory_in_loops,
    new_arrays,
    scalar_form,
)
from .emit import Dialect, Region, emit, literal
from .one_robot_loop import (
    count_column_entries,
    count_written_entries,
    source_arguments,
    source_parameters,
    write_loop,
    write_sweep,
)

AXES = "xyz"


class OneEnvironment:
    """Body of the native function `(args, tid)` that computes environment first + tid."""

    def __init__(self, program: Program, single: bool):
        self.program, self.single = program, single
        self.type = "float" if single else "double"
        self.layout = ArgumentLayout(program.inputs, program.results, program.numbers)
        self.tables = {input_identifier(name) for name in program.tables}
        apart = {*self.tables, *self.layout.values}
        self.shapes = {name: shape for name, shape in self.layout.arrays if name not in apart}
        self._last: list[str] = []
        """Stores into results that may share memory with an input, behind all loads."""

    def source(self) -> str:
        """The C++."""
        lines = ["typedef long long I64;"]
        lines += [f"const I64 {name} = args[{k}];" for k, name in enumerate(HEADER[:2])]
        return "\n".join([*lines, *self.begin(), *self.body(), *self.end()])

    def begin(self) -> Iterator[str]:
        """The environment of this thread, and its arrays."""
        yield "if (tid >= count) return;"
        yield "const I64 e = first + tid;"
        yield from self.look_ups()
        for name in self.shapes:
            yield from self.addresses(name)

    def look_ups(self) -> Iterator[str]:
        """The tables, and the function that looks a number up."""
        for name in sorted(self.tables):
            yield f"const I64 {name}[] = {{{', '.join(self.layout.fields(name))}}};"
        if self.tables:
            yield headers.piece("table.h", "thread", self.single)

    def body(self) -> Iterator[str]:
        """The statements of the program, and its routines."""
        regions, routines = self.routines(self.program)
        memory, arrays = self.arrays(self.program, regions)
        dialect = self.dialect()
        yield from _random(self.program, self.single)
        yield from (*routines, *arrays)
        yield from self.statements(
            self.program,
            replace(dialect, load=self.load, store=self.store, regions=regions, memory=memory),
        )

    def statements(self, program: Program, dialect: Dialect) -> Iterator[str]:
        """The statements of the program or of a routine."""
        return emit(program, program.statements, dialect, set())

    def load(self, array: str, entry: int) -> str:
        """An entry of an input."""
        return self.entry(input_identifier(array), entry)

    def store(self, outputs: list[int], value: str) -> str:
        """Statements that store a value as these outputs."""
        stores = [f"{self.place(k)} = {value};" for k in outputs]
        late = [self.program.places[k][0] in self.program.over for k in outputs]
        self._last += [s for s, waits in zip(stores, late, strict=True) if waits]
        return " ".join(s for s, waits in zip(stores, late, strict=True) if not waits)

    def end(self) -> Iterator[str]:
        """The last stores, and those of constants."""
        yield from self._last
        # Constants of a result over an input are written at each launch: the input changes them.
        over = self.program.over
        yield from self.constants([name for name in self.program.results if name in over])
        once = self.constants([name for name in self.program.results if name not in over])
        if once:
            yield f"if (!args[{HEADER.index('keep_constants')}]) {{"
            yield from once
            yield "}"

    def constants(self, results: Container[str]) -> list[str]:
        """Statements that store those outputs of these results that are constants."""
        return [
            f"{self.place(k)} = {literal(o.constant, self.single)};"
            for k, o in enumerate(self.program.outputs)
            if o.node is None and self.program.places[k][0] in results and self.is_stored_alone(k)
        ]

    def is_stored_alone(self, output: int) -> bool:
        """True for an output that a separate statement stores."""
        return True

    def place(self, output: int) -> str:
        """The entry of a result in which an output is stored."""
        result, entry = self.program.places[output]
        return self.entry(result_identifier(result), entry)

    def entry(self, name: str, entry: int) -> str:
        """An entry of an array, by its strides."""
        offset = []
        for axis, index in zip(AXES, _indices(entry, self.shapes[name]), strict=False):
            if index:
                offset.append(f"{index} * {name}_{axis}" if index > 1 else f"{name}_{axis}")
        return f"{name}[{' + '.join(offset) or '0'}]"

    def addresses(self, name: str) -> Iterator[str]:
        """An array's address and strides."""
        over = self.program.over
        shared = {*map(result_identifier, over), *map(input_identifier, over.values())}
        shape, T = self.shapes[name], self.type
        const = "const " if name.startswith("a_") else ""
        address, environment, *strides = self.layout.fields(name)
        if prod(shape):
            only = "const" if name in shared else "__restrict__ const"
            yield f"{const}{T}* {only} {name} = ({const}{T}*){address} + e * {environment};"
            for axis, stride, size in zip(AXES, strides, shape, strict=False):
                if size > 1:
                    yield f"const I64 {name}_{axis} = {stride};"

    # Routines

    def arrays(
        self, program: Program, regions: Mapping[str, Region]
    ) -> tuple[dict[int, str], list[str]]:
        """The arrays of a program: their addresses, and their declarations in the thread's
        memory."""
        made = new_arrays(program)
        memory = memory_in_loops(program, regions, f"({self.type}*)before")
        memory |= {array: f"memory{array}" for array in made}
        return memory, [f"{self.type} memory{array}[{size}];" for array, size in made.items()]

    def routines(self, program: Program) -> tuple[dict[str, Region], list[str]]:
        """The routines of a program as functions, with arrays for each in the thread's memory."""
        T = self.type
        regions: dict[str, Region] = {}
        lines = []
        for name, routine in program.routines.items():
            arrays = [f"{name}_{array}" for array in (SHARED, COLUMN, "out")]
            sizes = [
                prod(routine.inputs[SHARED]),
                count_column_entries(routine),
                count_written_entries(routine),
            ]
            lines += [
                f"{T} {array}[{max(size, 1)}];" for array, size in zip(arrays, sizes, strict=True)
            ]
            parameters, rest = f"const {T}* shared, const {T}* column, {T}* out", ""
            repetition, stride = routine.repetition, 0
            if repetition and repetition.reads:
                source = program.routines[repetition.reads]
                stride, kept = count_kept_entries(source), prod(source.results["out"])
                parameters += f", const {T}* kept"  # the states lie behind the results
                rest = f", {regions[repetition.reads].out} + {kept}"
            write = partial(self.routine_body, routine)
            parameters += source_parameters(routine, T) + array_parameters(routine, T)
            rest += source_arguments(routine, regions)
            body = (
                write_sweep(routine, routine.sweep, T, T, lambda x: literal(x, self.single), write)
                if routine.sweep
                else write_loop(routine, repetition, T, stride, write)
                if repetition
                else self.routine_body(routine, {}, "out")
            )
            around = "&" if _looks(routine) else ""  # its tables are declared outside of it
            lines += [f"auto {name} = [{around}]({parameters}) {{", *body, "};"]
            regions[name] = Region(name, arrays[0], arrays[1], arrays[2], rest)
        return regions, lines

    def routine_body(self, routine: Program, arrays: Mapping[str, str], out: str) -> Iterator[str]:
        """A routine's statements and the constants among its results. `arrays`: other names of
        inputs."""
        regions, lines = self.routines(routine)
        memory, declared = self.arrays(routine, regions)
        lines += declared
        dialect = replace(
            self.dialect(),
            memory=memory,
            load=lambda array, entry: f"{arrays.get(array, array)}[{entry}]",
            store=lambda entries, value: " ".join(f"{out}[{k}] = {value};" for k in entries),
            regions=regions,
        )
        yield from _random(routine, self.single)
        yield from lines
        yield from self.statements(routine, dialect)
        known = [(k, o.constant) for k, o in enumerate(routine.outputs) if o.node is None]
        yield from (f"{out}[{k}] = {literal(value, self.single)};" for k, value in known)

    def dialect(self) -> Dialect:
        """C++ of the operations."""
        T, single = self.type, self.single
        # CUDA's functions for floats end in f; otherwise the names are those of C.
        functions = {
            **{name: name for name in ("fma", "sqrt", "floor", "exp", "log", "atan2")},
            "abs": "fabs",
        }

        def look(table: str, row: str, column: str) -> str:
            return f"look({input_identifier(table)}, {row}, {column})"

        names = {name: library + ("f" if single else "") for name, library in functions.items()}
        return Dialect(
            type=T,
            functions={**names, "uniform": "uniform"},
            constant=lambda x: literal(x, single),
            load=self.load,
            store=self.store,
            sincos=lambda x, s, c: (
                f"{T} {s}, {c}; {'sincosf' if single else 'sincos'}({x}, &{s}, &{c});"
            ),
            select=lambda x, sign, y, a, b: f"({x} {sign} {y}) ? {a} : {b}",
            look=look,
            cell=lambda table, i, j, name: "{} {}[] = {{{}}};".format(
                T,
                name,
                ", ".join(
                    look(table, *place) for place in product((i, f"{i} + 1"), (j, f"{j} + 1"))
                ),
            ),
            corners=lambda name: name,
            array_form=scalar_form(T),
        )


def _looks(routine: Program) -> bool:
    """True if a routine, or one in it, looks a table up."""
    return (
        routine.uses(LOOK)
        or routine.uses(CELL)
        or any(_looks(inner) for inner in routine.routines.values())
    )


def _random(program: Program, single: bool) -> Iterator[str]:
    """The function for random numbers, if a program calls it; each kernel has its own copy."""
    if program.uses("uniform"):
        yield headers.piece("counters.h", "thread", single)


def _indices(entry: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    indices = []
    for size in reversed(shape):
        entry, index = divmod(entry, size)
        indices.append(index)
    return tuple(reversed(indices))
