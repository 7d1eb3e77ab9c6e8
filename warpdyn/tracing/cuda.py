"""The CUDA form of a program: one environment a thread, every value in a register."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from .emit import Dialect, emit, literal
from .layout import FIELDS, HEADER, Layout, input_identifier, result_identifier
from .program import Program

AXES = "xyz"


def source(program: Program, single: bool) -> str:
    """Body of the native function `(args, tid)` that does environment first + tid."""
    layout = Layout(program.inputs, program.results)
    shapes = dict(layout.arrays)
    T = "float" if single else "double"

    def at(name: str, entry: int) -> str:
        offset = []
        for axis, index in zip(AXES, _indices(entry, shapes[name]), strict=False):
            if index:
                offset.append(f"{index} * {name}_{axis}" if index > 1 else f"{name}_{axis}")
        return f"{name}[{' + '.join(offset) or '0'}]"

    def place(output: int) -> str:
        result, entry = program.places[output]
        return at(result_identifier(result), entry)

    dialect = Dialect(
        type=T,
        functions={
            name: library + ("f" if single else "")
            for name, library in {**{x: x for x in ("fma", "sqrt", "exp", "log", "atan2")}, "abs": "fabs"}.items()
        },
        constant=lambda x: literal(x, single),
        load=lambda array, entry: at(input_identifier(array), entry),
        store=lambda entries, value: " ".join(f"{place(k)} = {value};" for k in entries),
        sincos=lambda x, s, c: f"{T} {s}, {c}; {'sincosf' if single else 'sincos'}({x}, &{s}, &{c});",
        select=lambda x, y, a, b: f"({x} < {y}) ? {a} : {b}",
    )
    lines = ["typedef long long I64;"]
    lines += [f"const I64 {name} = args[{k}];" for k, name in enumerate(HEADER[:2])]
    lines += ["if (tid >= count) return;", "const I64 e = first + tid;"]
    for name, shape in layout.arrays:
        lines += _unpack(name, shape, layout.position(name), T)
    lines += emit(program, program.statements, dialect, set())
    constants = [k for k, o in enumerate(program.outputs) if o.node is None]
    if constants:
        lines.append(f"if (!args[{HEADER.index('keep_constants')}]) {{")
        lines += [f"{place(k)} = {literal(program.outputs[k].constant, single)};" for k in constants]
        lines.append("}")
    return "\n".join(lines)


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
