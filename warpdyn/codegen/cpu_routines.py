"""Functions of the CPU form for code that is written once: a function that is called for many
columns, or the step of a loop.

A routine is called with the addresses of its inputs and its results in the workspace of the program
that calls it. Its own workspace lies behind them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from math import prod
from types import MappingProxyType
from typing import NamedTuple

from ..recording.array_operations import COUNTER
from ..recording.graph import COLUMN, FIXED, SHARED, Repetition, Sweep
from ..recording.order import Statement
from ..recording.program import Program
from . import headers, lanes
from .array_statements import (
    array_parameters,
    begin_of_copies,
    copy_arrays,
    count_copied_entries,
    count_kept_entries,
    keep_arrays,
    memory_in_loops,
    new_arrays,
)
from .emit import Region, emit, expression, literal
from .one_robot_loop import (
    count_column_entries,
    count_written_entries,
    source_arguments,
    source_parameters,
    write_sweep,
)
from .partition import split_statements

PART = 250
"""Statements in one function."""

STEP_PART = 20_000
"""Statements in one function of a loop's step or phase. Its inputs and results lie in tiles, and
the compiler allocates a workspace better than cuts do: a quadruped's step of a simulation,
5,100 statements, takes 265 ns in one function and 343 in twenty, its adjoint of 13,300 takes 1,180
and 1,496, for the same time to compile (one core, Xeon at 2.5 GHz)."""

BARRIER = '__asm__("" ::: "memory");'
"""Between groups of the many inputs of a sweep, because a compiler compares all memory accesses
between two barriers with each other: aba of a chain of 128 joints in random directions takes 5 s of
CPU to compile instead of 12 (AMD EPYC)."""

STEP = ("const V* shared", "const V* column", "const V* kept", "V* out")
"""Parameters of the functions of a loop's step, in addition to workspace and constants."""


class TileFunctions:
    """The functions of a program on tiles, and their calls in order.

    `parameters`: the tiles that they receive. `load(array, entry)`, `store(output)`: the C++ of an
    input's entry and of the place of an output.
    """

    def __init__(
        self,
        program: Program,
        name: str,
        table: lanes.Constants,
        parameters: Sequence[str],
        load: Callable[[str, int], str],
        store: Callable[[int], str],
    ):
        turns = {
            angle: (f"turn[{2 * k}]", f"turn[{2 * k + 1}]")
            for k, angle in enumerate(program.angles)
        }

        def is_loaded_again(s: Statement) -> bool:
            return s.operation == "input" or (
                s.operation in ("sin", "cos") and s.arguments[0] in turns
            )

        # Routines use the workspace behind that of the parts, so the parts come first. Inputs and
        # sines from the table need no slot, because each part can load them.
        parts, slots = split_statements(program.statements, STEP_PART, is_loaded_again)
        regions, functions, slots = routines(
            program, table, slots, f"{name}_", shared_places(program)
        )
        memory, self.slots = array_memory(program, regions, slots)
        dialect = lanes.in_lanes(
            table,
            load,
            lambda entries, value: " ".join(f"{store(k)} = {value};" for k in entries),
            regions,
        )
        dialect = replace(dialect, memory=memory)
        stored: set[int] = set()
        bodies = [list(emit(program, part, dialect, stored, turns)) for part in parts]
        known = [(k, o.constant) for k, o in enumerate(program.outputs) if o.node is None]
        bodies[-1] += [f"{store(k)} = V{{}} + {literal(x, table.single)};" for k, x in known]
        angles = [
            f"const V t{s.target} = {expression(s, dialect)};" for s in program.angle_statements
        ]
        angles += [f"angle({k}, t{angle});" for k, angle in enumerate(program.angles)]
        self.turns, self.name, self.parts = len(turns), name, len(parts)
        everything = [*parameters, "const T* constants", "V* turn", "V* work"]
        self.tables = table.tables
        function = {"parameters": ", ".join(everything) + table.tables.parameter, "open": ""}
        table_of_turns = headers.piece(
            "parts.h",
            "turns",
            name=f"{name}_turns",
            angles="\n".join(angles),
            turns=self.turns,
            **function,
        )
        self.functions = [*chain(*functions.values()), *([table_of_turns] if turns else [])]
        self.functions += [
            headers.piece("parts.h", "part", name=f"{name}_{k}", body="\n".join(body), **function)
            for k, body in enumerate(bodies)
        ]

    def calls(self, arguments: str) -> Iterator[str]:
        """Calls of all functions in order, with these tiles."""
        arguments = f"{arguments}, constants, turn, work{self.tables.argument}"
        if self.turns:
            yield f"  Lanes::{self.name}_turns({arguments});"
        for k in range(self.parts):
            yield f"  Lanes::{self.name}_{k}({arguments});"


class SharedPlaces(NamedTuple):
    """Places of a loop's shared inputs in a block: of all inputs, and of the inputs that must be
    written (None if an earlier loop has written it)."""

    read: Sequence[int]
    written: Sequence[int | None]


def shared_places(program: Program) -> dict[str, SharedPlaces]:
    """Places of the shared inputs of a program's loops in one block: a value that several loops read
    is written once."""
    frames = [s.arguments for s in program.statements if s.operation == "frame"]
    number = Counter(name for name, *_ in frames)
    block: dict[int, int] = {}
    places: dict[str, SharedPlaces] = {}
    for name, *values in frames:
        if number[name] == 1 and program.routines[name].repetition is not None:
            before = len(block)
            read = [block.setdefault(value, len(block)) for value in values]
            places[name] = SharedPlaces(read, [k if k >= before else None for k in read])
    return places


def step_functions(
    routine: Program, name: str, table: lanes.Constants, places: Sequence[int] = ()
) -> TileFunctions:
    """The functions of a loop's step, which receive the tiles of STEP. `places`: of its shared
    inputs; empty if they lie one after the other."""
    arrays = array_parameters(routine, "V").split(", ")[1:]
    counter = ["int step"] if routine.repetition and routine.repetition.counts else []

    def load(array: str, entry: int) -> str:
        if array == COUNTER:
            return "Lanes::all((T)step)"
        return f"{array}[{places[entry] if places and array == SHARED else entry}]"

    return TileFunctions(
        routine,
        name,
        table,
        [*STEP, *counter, *arrays],
        load=load,
        store=lambda output: f"out[{output}]",
    )


def array_memory(
    program: Program, regions: Mapping[str, Region], slots: int
) -> tuple[dict[int, str], int]:
    """Addresses of the arrays of a program, and the size of the workspace, which they enlarge."""
    memory = memory_in_loops(program, regions, "(V*)kept")
    for array, size in new_arrays(program).items():
        memory[array] = f"work + {slots}"
        slots += size
    return memory, slots


def slot_of(address: str) -> int:
    """The first slot of an array that a program makes, from its address (`array_memory`)."""
    return int(address.removeprefix("work + "))


def routines(
    program: Program,
    table: lanes.Constants,
    slots: int,
    prefix: str = "",
    common: Mapping[str, SharedPlaces] = MappingProxyType({}),
) -> tuple[dict[str, Region], dict[str, list[str]], int]:
    """Regions that the routines of a program read and write, their functions, whose names begin
    with `prefix`, and the size of the program's workspace, which they enlarge. The routines run one
    after the other and share one workspace.

    `common`: places of shared inputs in one block (`shared_places`).
    """
    written = {name: _functions(program, name, table, prefix, common) for name in program.routines}
    work = f"work + {slots}"
    slots += max((each.workspace for each in written.values()), default=0)
    regions: dict[str, Region] = {}
    block = f"work + {slots}"
    slots += 1 + max((place for each in common.values() for place in each.read), default=-1)
    for name, routine in program.routines.items():
        repetition = routine.repetition
        source = program.routines[repetition.reads] if repetition and repetition.reads else None
        places = []
        of_shared = 0 if name in common else prod(routine.inputs[SHARED])
        for size in (of_shared, count_column_entries(routine), written[name].results):
            places.append(f"work + {slots}")
            slots += size
        shared, column, out = places
        stores: Sequence[int | None] = ()
        if name in common:
            shared, stores = block, common[name].written
        rest = f", {work}, constants{table.tables.argument}"
        if source and repetition and repetition.reads:
            kept = prod(source.results["out"])  # the states lie behind the results
            rest += f", {regions[repetition.reads].out} + {kept}"
        rest += source_arguments(routine, regions)
        regions[name] = Region(
            f"Lanes::{prefix}{name}",
            shared,
            column,
            out,
            rest,
            BARRIER if routine.sweep else "",
            stores,
        )
    return regions, {name: each.functions for name, each in written.items()}, slots


class RoutineFunctions(NamedTuple):
    """The C++ functions of a routine, the size of their workspace, and that of the results with what
    a loop keeps."""

    functions: list[str]
    workspace: int
    results: int


def _functions(
    program: Program,
    name: str,
    table: lanes.Constants,
    prefix: str,
    common: Mapping[str, SharedPlaces],
) -> RoutineFunctions:
    """The functions of a routine of a program. `prefix`, `common`: as for `routines`."""
    routine = program.routines[name]
    repetition = routine.repetition
    if routine.sweep:
        return _sweep(routine, routine.sweep, prefix + name, table)
    if repetition is None:
        return _column(routine, prefix + name, table)
    stride = count_kept_entries(program.routines[repetition.reads]) if repetition.reads else 0
    inputs = common[name].read if name in common else range(prod(routine.inputs[SHARED]))
    return _loop(routine, repetition, prefix + name, table, stride, inputs)


def _column(routine: Program, name: str, table: lanes.Constants) -> RoutineFunctions:
    """Functions of a routine for columns."""
    parts, slots = split_statements(routine.statements, PART, lambda s: s.operation == "input")
    # Loops in the function use the workspace behind that of its parts.
    regions, inner, slots = routines(routine, table, slots, f"{name}_")
    memory, workspace = array_memory(routine, regions, slots)
    dialect = lanes.in_lanes(
        table,
        lambda array, entry: f"{array}[{entry}]",
        lambda entries, value: " ".join(f"out[{k}] = {value};" for k in entries),
        regions,
    )
    dialect = replace(dialect, memory=memory)
    stored: set[int] = set()
    functions = [*chain(*inner.values())]
    for k, part in enumerate(parts):
        body = "\n".join(emit(routine, part, dialect, stored))
        functions.append(_routine(f"{name}_{k}", table, body))
    arguments = f"shared, column, out, work, constants{table.tables.argument}"
    calls = " ".join(f"{name}_{k}({arguments});" for k in range(len(parts)))
    functions.append(_routine(name, table, calls))
    return RoutineFunctions(functions, workspace, prod(routine.results["out"]))


def _routine(name: str, table: lanes.Constants, body: str) -> str:
    more = table.tables.parameter
    return headers.piece("parts.h", "routine", name=name, body=body, tables=more)


def _sweep(routine: Program, sweep: Sweep, name: str, table: lanes.Constants) -> RoutineFunctions:
    """The function of a sweep, which needs no workspace."""

    def body(arrays: Mapping[str, str], out: str) -> Iterator[str]:
        dialect = lanes.in_lanes(
            table,
            lambda array, entry: (
                f"Lanes::all({arrays[array]}[{entry}])"
                if array == FIXED
                else f"{arrays.get(array, array)}[{entry}]"
            ),
            lambda entries, value: " ".join(f"{out}[{k}] = {value};" for k in entries),
        )
        yield from emit(routine, routine.statements, dialect, set())
        known = [(k, o.constant) for k, o in enumerate(routine.outputs) if o.node is None]
        yield from (f"{out}[{k}] = V{{}} + {literal(x, table.single)};" for k, x in known)

    lines = write_sweep(routine, sweep, "V", "T", lambda x: literal(x, table.single), body)
    more = table.tables.parameter + source_parameters(routine, "V")
    function = headers.piece("parts.h", "routine", name=name, body="\n".join(lines), tables=more)
    return RoutineFunctions([function], 0, count_written_entries(routine))


def _loop(
    routine: Program,
    repetition: Repetition,
    name: str,
    table: lanes.Constants,
    stride: int,
    shared: Sequence[int],
) -> RoutineFunctions:
    """Functions of a loop.

    `stride`: entries of each kept state that it reads. `shared`: places of its shared inputs.
    """
    size = prod(routine.inputs[COLUMN])
    results = prod(routine.results["out"])
    step = step_functions(routine, f"{name}_step", table, shared)
    kept = f"kept + {stride} * ({repetition.times - 1} - step)" if repetition.reads else "nullptr"
    arrays = "".join(f", array{j}" for j in range(len(routine.arrays)))
    arrays = f", step{arrays}" if repetition.counts else ""
    loop = headers.piece(
        "parts.h",
        "loop",
        name=name,
        size=size,
        times=repetition.times,
        tables=table.tables.parameter,
        more=(", const V* kept" if repetition.reads else "") + array_parameters(routine, "V"),
        then=step.slots,
        turn=step.slots + results,
        keep=_keep_state(routine, repetition, size, results, shared),
        calls="\n".join(step.calls(f"shared, out, {kept}, then{arrays}")),
        next=headers.piece(
            "parts.h", "next_of_those_going" if repetition.ends else "next", size=size
        ),
    )
    workspace = step.slots + results + 2 * step.turns
    end = begin_of_copies(routine) + count_copied_entries(routine)
    return RoutineFunctions([*step.functions, loop], workspace, end)


def _keep_state(
    routine: Program, repetition: Repetition, size: int, results: int, shared: Sequence[int]
) -> str:
    """C++ at the beginning of a step: copies of arrays, the ends of the loop, and the copy of the
    state for the derivative."""
    copies = " ".join(copy_arrays(routine, "out"))
    copies = f"if (step == 0) {{ {copies} }}" if copies else ""
    if repetition.needed is not None:
        copies += (
            f" if (!__builtin_reduce_or(shared[{shared[repetition.needed]}] > (T)step)) break;"
        )
    if repetition.last is not None:
        copies += f" if (!__builtin_reduce_or(out[{repetition.last}] > (T)step)) break;"
    if not repetition.kept:
        return copies
    block = count_kept_entries(routine)
    keep = f"for (int k = 0; k < {size}; ++k) out[{results} + {block} * step + k] = out[k];"
    keep = " ".join([copies, keep, *keep_arrays(routine, f"out + {results} + {block} * step")])
    keep = keep.strip()
    return keep + (f" if (step == {repetition.times - 1}) break;" if repetition.end_unread else "")
