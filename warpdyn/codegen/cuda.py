"""The CUDA form of a program: one environment per thread, every value in a register."""

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
from .arguments import (
    FIELDS,
    HEADER,
    ArgumentLayout,
    input_identifier,
    result_identifier,
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


def source(program: Program, single: bool) -> str:
    """Body of the native function `(args, tid)` that computes environment first + tid."""
    layout = ArgumentLayout(program.inputs, program.results, program.numbers)
    shapes = dict(layout.arrays)
    T = "float" if single else "double"
    lines = ["typedef long long I64;"]
    lines += [f"const I64 {name} = args[{k}];" for k, name in enumerate(HEADER[:2])]
    lines += ["if (tid >= count) return;", "const I64 e = first + tid;"]
    # A result that may share memory with an input is stored after all inputs have been read.
    shared = {
        name
        for r, a in program.over.items()
        for name in (result_identifier(r), input_identifier(a))
    }
    last: list[str] = []
    tables = {input_identifier(name) for name in program.tables}
    for name in sorted(tables):
        lines.append(f"const I64 {name}[] = {{{', '.join(layout.fields(name))}}};")
    if tables:
        lines.append(headers.piece("table.h", "thread", single))
    lines += _values(layout, single)
    for name, shape in layout.arrays:
        if name in tables or name in layout.values:
            continue
        lines += _unpack(name, shape, layout.position(name), T, alone=name not in shared)
    regions, routines = _routines(program, T)

    def store(entries: list[int], value: str) -> str:
        stores = [f"{_place(program, k, shapes)} = {value};" for k in entries]
        late = [program.places[k][0] in program.over for k in entries]
        last.extend(s for s, waits in zip(stores, late, strict=True) if waits)
        return " ".join(s for s, waits in zip(stores, late, strict=True) if not waits)

    dialect = replace(_dialect(program, shapes, T), regions=regions, store=store)
    lines += [
        *_random(program, single),
        *routines,
        *emit(program, program.statements, dialect, set()),
        *last,
    ]
    # Constants of a result over an input are written at each launch: the input changes them.
    always, once = (
        _constants(program, shapes, T, {n for n in program.results if (n in program.over) is over})
        for over in (True, False)
    )
    lines += always
    if once:
        lines += [f"if (!args[{HEADER.index('keep_constants')}]) {{", *once, "}"]
    return "\n".join(lines)


def _routines(program: Program, T: str) -> tuple[dict[str, Region], list[str]]:
    """The routines of a program as functions, with arrays for each in the thread's memory."""
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
            stride, kept = prod(source.inputs[COLUMN]), prod(source.results["out"])
            parameters += f", const {T}* kept"  # the states lie behind the results
            rest = f", {regions[repetition.reads].out} + {kept}"
        write = partial(_body, routine, T)
        parameters += source_parameters(routine, T)
        rest += source_arguments(routine, regions)
        body = (
            write_sweep(routine, routine.sweep, T, T, lambda x: literal(x, T == "float"), write)
            if routine.sweep
            else write_loop(routine, repetition, T, stride, write)
            if repetition
            else _body(routine, T, {}, "out")
        )
        around = "&" if _looks(routine) else ""  # its tables are declared outside of it
        lines += [f"auto {name} = [{around}]({parameters}) {{", *body, "};"]
        regions[name] = Region(name, arrays[0], arrays[1], arrays[2], rest)
    return regions, lines


def _looks(routine: Program) -> bool:
    """True if a routine, or one in it, looks a table up."""
    return (
        routine.uses(LOOK)
        or routine.uses(CELL)
        or any(_looks(inner) for inner in routine.routines.values())
    )


def _body(routine: Program, T: str, arrays: Mapping[str, str], out: str) -> Iterator[str]:
    """A routine's statements and the constants among its results. `arrays`: other names of
    inputs."""
    regions, lines = _routines(routine, T)
    dialect = replace(
        _dialect(routine, {}, T),
        load=lambda array, entry: f"{arrays.get(array, array)}[{entry}]",
        store=lambda entries, value: " ".join(f"{out}[{k}] = {value};" for k in entries),
        regions=regions,
    )
    yield from _random(routine, T == "float")
    yield from lines
    yield from emit(routine, routine.statements, dialect, set())
    known = [(k, o.constant) for k, o in enumerate(routine.outputs) if o.node is None]
    yield from (f"{out}[{k}] = {literal(value, T == 'float')};" for k, value in known)


def _random(program: Program, single: bool) -> Iterator[str]:
    """The function for random numbers, if a program calls it; each kernel has its own copy."""
    if program.uses("uniform"):
        yield headers.piece("counters.h", "thread", single)


def _dialect(program: Program, shapes: Mapping[str, tuple[int, ...]], T: str) -> Dialect:
    # CUDA's functions for floats end in f; otherwise the names are those of C.
    single = T == "float"
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
        load=lambda array, entry: _at(input_identifier(array), entry, shapes),
        store=lambda entries, value: " ".join(
            f"{_place(program, k, shapes)} = {value};" for k in entries
        ),
        sincos=lambda x, s, c: (
            f"{T} {s}, {c}; {'sincosf' if single else 'sincos'}({x}, &{s}, &{c});"
        ),
        select=lambda x, sign, y, a, b: f"({x} {sign} {y}) ? {a} : {b}",
        look=look,
        cell=lambda table, i, j, name: "{} {}[] = {{{}}};".format(
            T,
            name,
            ", ".join(look(table, *place) for place in product((i, f"{i} + 1"), (j, f"{j} + 1"))),
        ),
        corners=lambda name: name,
    )


def _constants(
    program: Program, shapes: Mapping[str, tuple[int, ...]], T: str, results: Container[str]
) -> list[str]:
    """Statements that store those outputs of these results that are constants."""
    known = [
        (k, o.constant)
        for k, o in enumerate(program.outputs)
        if o.node is None and program.places[k][0] in results
    ]
    return [f"{_place(program, k, shapes)} = {literal(value, T == 'float')};" for k, value in known]


def _place(program: Program, output: int, shapes: Mapping[str, tuple[int, ...]]) -> str:
    result, entry = program.places[output]
    return _at(result_identifier(result), entry, shapes)


def _at(name: str, entry: int, shapes: Mapping[str, tuple[int, ...]]) -> str:
    """An entry of an array."""
    offset = []
    for axis, index in zip(AXES, _indices(entry, shapes[name]), strict=False):
        if index:
            offset.append(f"{index} * {name}_{axis}" if index > 1 else f"{name}_{axis}")
    return f"{name}[{' + '.join(offset) or '0'}]"


def _unpack(name: str, shape: tuple[int, ...], position: int, T: str, alone: bool) -> Iterator[str]:
    """An array's address and strides. `alone`: no other name reads or writes its memory."""
    const = "const " if name.startswith("a_") else ""
    fields = [f"args[{position + k}]" for k in range(FIELDS)]
    if prod(shape):
        only = "__restrict__ const" if alone else "const"
        yield f"{const}{T}* {only} {name} = ({const}{T}*){fields[0]} + e * {fields[1]};"
        for axis, field, size in zip(AXES, fields[2:], shape, strict=False):
            if size > 1:
                yield f"const I64 {name}_{axis} = {field};"


def _values(layout: ArgumentLayout, single: bool) -> Iterator[str]:
    """The inputs that are passed by value. Each entry is read by a constant index, so that the
    compiler reads it from the arguments and makes no array."""
    T, bits = (
        ("float", "__int_as_float((int)args[{}])")
        if single
        else (
            "double",
            "__longlong_as_double(args[{}])",
        )
    )
    for name, places in layout.values.items():
        if places:
            yield f"const {T} {name}[] = {{{', '.join(map(bits.format, places))}}};"
            yield f"const I64 {name}_x = 1;"


def _indices(entry: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    indices = []
    for size in reversed(shape):
        entry, index = divmod(entry, size)
        indices.append(index)
    return tuple(reversed(indices))
