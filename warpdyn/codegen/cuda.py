"""The CUDA form of a program: one environment a thread, every value in a register."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import prod

from ..recording.program import STATE, Loop, Program
from .arguments import (
    FIELDS,
    HEADER,
    ArgumentLayout,
    input_identifier,
    result_identifier,
)
from .emit import Dialect, Region, emit, literal

AXES = "xyz"


def source(program: Program, single: bool) -> str:
    """Body of the native function `(args, tid)` that does environment first + tid."""
    layout = ArgumentLayout(program.arguments, program.results)
    shapes = dict(layout.arrays)
    T = "float" if single else "double"
    lines = ["typedef long long I64;"]
    lines += [f"const I64 {name} = args[{k}];" for k, name in enumerate(HEADER[:2])]
    lines += ["if (tid >= count) return;", "const I64 e = first + tid;"]
    for name, shape in layout.arrays:
        lines += _unpack(name, shape, layout.position(name), T)
    if program.loop is not None:
        lines += _repeated(program.loop, shapes, T)
    regions, routines = _routines(program, T)
    lines += routines
    lines += emit(
        program, program.statements, replace(_dialect(program, shapes, T), regions=regions), set()
    )
    constants = _constants(program, shapes, T)
    if constants:
        lines += [f"if (!args[{HEADER.index('keep_constants')}]) {{", *constants, "}"]
    return "\n".join(lines)


def _repeated(loop: Loop, shapes: Mapping[str, tuple[int, ...]], T: str) -> Iterator[str]:
    """The steps of a loop, on two arrays that stay in registers as every index is known."""
    state, then = input_identifier(STATE), result_identifier(STATE)
    yield f"{T} {state}[{loop.size}] = {{}};"
    yield f"for (int step = 0; step < {loop.steps} && !({state}[0] > 0); ++step) {{"
    yield f"{T} {then}[{loop.size}];"
    yield from emit(loop.step, loop.step.statements, _dialect(loop.step, shapes, T), set())
    yield from _constants(loop.step, shapes, T)
    yield from (f"{state}[{k}] = {then}[{k}];" for k in range(loop.size))
    yield "}"


def _routines(program: Program, T: str) -> tuple[dict[str, Region], list[str]]:
    """The routines of a program as functions, with arrays for each in the thread's memory."""
    regions, lines = {}, []
    for name, routine in program.routines.items():
        arrays = [f"{name}_{array}" for array in ("shared", "column", "out")]
        sizes = [prod(shape) for shape in (*routine.inputs.values(), *routine.results.values())]
        lines += [
            f"{T} {array}[{max(size, 1)}];" for array, size in zip(arrays, sizes, strict=True)
        ]
        dialect = replace(
            _dialect(routine, {}, T),
            load=lambda array, entry: f"{array}[{entry}]",
            store=lambda entries, value: " ".join(f"out[{k}] = {value};" for k in entries),
        )
        lines.append(f"auto {name} = [](const {T}* shared, const {T}* column, {T}* out) {{")
        lines += [*emit(routine, routine.statements, dialect, set()), "};"]
        regions[name] = Region(name, *arrays)
    return regions, lines


def _dialect(program: Program, shapes: Mapping[str, tuple[int, ...]], T: str) -> Dialect:
    single = T == "float"
    functions = {
        **{name: name for name in ("fma", "sqrt", "floor", "exp", "log", "atan2")},
        "abs": "fabs",
    }
    return Dialect(
        type=T,
        functions={name: library + ("f" if single else "") for name, library in functions.items()},
        constant=lambda x: literal(x, single),
        load=lambda array, entry: _at(input_identifier(array), entry, shapes),
        store=lambda entries, value: " ".join(
            f"{_place(program, k, shapes)} = {value};" for k in entries
        ),
        sincos=lambda x, s, c: (
            f"{T} {s}, {c}; {'sincosf' if single else 'sincos'}({x}, &{s}, &{c});"
        ),
        select=lambda x, y, a, b: f"({x} < {y}) ? {a} : {b}",
    )


def _constants(program: Program, shapes: Mapping[str, tuple[int, ...]], T: str) -> list[str]:
    """What stores the outputs that are constants."""
    known = [(k, o.constant) for k, o in enumerate(program.outputs) if o.node is None]
    return [f"{_place(program, k, shapes)} = {literal(value, T == 'float')};" for k, value in known]


def _place(program: Program, output: int, shapes: Mapping[str, tuple[int, ...]]) -> str:
    result, entry = program.places[output]
    return _at(result_identifier(result), entry, shapes)


def _at(name: str, entry: int, shapes: Mapping[str, tuple[int, ...]]) -> str:
    """An entry of an array; by plain index in a loop's state, which is no array of the kernel."""
    if name not in shapes:
        return f"{name}[{entry}]"
    offset = []
    for axis, index in zip(AXES, _indices(entry, shapes[name]), strict=False):
        if index:
            offset.append(f"{index} * {name}_{axis}" if index > 1 else f"{name}_{axis}")
    return f"{name}[{' + '.join(offset) or '0'}]"


def _unpack(name: str, shape: tuple[int, ...], position: int, T: str) -> Iterator[str]:
    const = "const " if name.startswith("a_") else ""
    fields = [f"args[{position + k}]" for k in range(FIELDS)]
    if prod(shape):
        yield f"{const}{T}* __restrict__ const {name} = ({const}{T}*){fields[0]} + e * {fields[1]};"
        for axis, field, size in zip(AXES, fields[2:], shape, strict=False):
            if size > 1:
                yield f"const I64 {name}_{axis} = {field};"


def _indices(entry: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    indices = []
    for size in reversed(shape):
        entry, index = divmod(entry, size)
        indices.append(index)
    return tuple(reversed(indices))
