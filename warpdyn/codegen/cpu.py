"""The CPU form of a program: sixteen floats or eight doubles in the lanes of a vector, one environment a lane.

Vectors of coordinates whose environments lie side by side are read and written in place. Everything else (rows of one
environment, other strides, the last incomplete block) goes through a *tile*, one vector an entry, filled and emptied by
transposing in registers where rows are dense, and element by element where they are not. In the tile of a large result
each value that repeats (symmetry) or is constant stands once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from math import prod

from ..recording.program import Output, Program, Statement
from . import lanes
from .arguments import FIELDS, HEADER, Layout, input_identifier, result_identifier
from .emit import Dialect, Region, emit, expression, literal
from .partition import split

AHEAD = 4
"""Blocks of lanes between an access in place and the prefetch beside it. A robot of 32 joints reads and writes 128
rows, more streams than a processor follows by itself: at 16,384 environments its RNEA took 109 ns each without, 63 with
(one core)."""

PART = 250
"""Statements in one function."""

GROUP, GROUPED = 2, 3
"""Blocks that a part is run for before the next part, if a program has so many parts: its code is fetched and decoded
once for both. Derivatives of a 32-joint robot's rnea take 227 ns instead of 255, its gradient 78 instead of 86, aba of
a tree of 60 joints 218 instead of 251; four blocks gain no more, their values leave the first-level cache (one core).
"""

STACK = 1 << 20
"""Bytes that a block may have on the stack if it is not to be alone there."""

BLOCK_FIELDS = (("const T*", "constants"), ("V*", "turn"), ("V*", "work"))
"""What every part finds in its block."""

DIRECT = 64
"""Results of one trailing dimension up to this size are written in place."""

STAGED = 640
"""Entries of a result in rows that is put together before it is written past the cache: half a first-level cache. The
two derivatives and the mass matrix of a quadruped's rnea, 972 numbers a row, 16,384 environments, took 3.9 times as
long as side by side when each row was written by itself, and take 2.4 (one core)."""


def source(program: Program, single: bool) -> str:
    """Body of the native function `(args)` that does `count` environments from `first` on."""
    layout = Layout(program.inputs, program.results)
    arrays = {name: _array(name, shape) for name, shape in layout.arrays}
    results: list[tuple[_InPlace | _Tile, _Values]] = []
    for name, outputs in program.outputs_of.items():
        array = arrays[result_identifier(name)]
        results.append((array, _Values(array, outputs)))
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
        assert isinstance(array, _InPlace)
        return array.entry(entry)

    constants = lanes.Constants(single)
    dialect = in_lanes(constants, load, store)
    parts, slots = split(program, PART, at_hand)
    regions, routines, slots = _routines(program, constants, slots)
    dialect = replace(dialect, regions=regions)
    stored: set[int] = set()
    bodies = [list(emit(program, part, dialect, stored, turns)) for part in parts]
    calls = [
        f"  for (int k = 0; k < group; ++k) Lanes::part{k}(blocks[k]);" for k in range(len(parts))
    ]
    tables: list[str] = []
    empty: list[str] = []
    for array, values in results:
        if isinstance(array, _InPlace):
            bodies[-1] += [
                f"{array.entry(k)} = V{{}} + {literal(value, single)};"
                for k, value in values.constants
            ]
        elif array.size:
            more, write = values.tables(single)
            tables += more
            empty.append(write)
    angles = [f"const V t{s.target} = {expression(s, dialect)};" for s in program.angle_statements]
    angles += [f"angle({k}, t{angle});" for k, angle in enumerate(program.angles)]
    arguments = [f"const I64 {name} = args[{k}];" for k, name in enumerate(HEADER)]
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
    opened = [f"{kind} const {name} = at.{name};" for kind, name in (*BLOCK_FIELDS, *fields)]
    return lanes.frame(
        single,
        {
            "TURNS_OF": lanes.BLOCK + lanes.TURNS_OF.replace("@K@", ""),
            "BODY": lanes.BLOCKS,
            "PARTS": "".join(routines)
            + "".join(
                lanes.PART.replace("@K@", str(k)).replace("@BODY@", "\n".join(body))
                for k, body in enumerate(bodies)
            ),
            "CONSTANTS": constants.declaration,
            "CALLS": "\n".join(calls),
            "ANGLES": "\n".join(angles),
            "TURNS": str(len(program.angles)),
            "WORK": str(slots + 1),
            "AHEAD": str(AHEAD),
            "ARGUMENTS": "\n".join([*arguments, *tables]),
            "PARAMETERS": "const Block& at",
            "OPEN": "\n".join(opened),
            "FIELDS": "\n".join(f"{kind} {name};" for kind, name in fields),
            "GROUP": str(group),
            "FILL": "\n".join(line for a in arrays.values() for line in a.fill()),
            "EMPTY": "\n".join([*empty, *(array.empty() for array, _ in results)]),
        },
    )


def _routines(
    program: Program, constants: lanes.Constants, slots: int
) -> tuple[dict[str, Region], list[str], int]:
    """Functions for the routines of a program, and their places in the workspace, which grows by them."""
    regions, functions = {}, []
    dialect = in_lanes(
        constants,
        lambda array, entry: f"{array}[{entry}]",
        lambda entries, value: " ".join(f"out[{k}] = {value};" for k in entries),
    )
    for name, routine in program.routines.items():
        parts, own = split(routine, PART, lambda s: s.operation == "input")
        places = []
        for size in (
            *(prod(shape) for shape in (*routine.inputs.values(), *routine.results.values())),
            own,
        ):
            places.append(f"work + {slots}")
            slots += size
        shared, column, out, workspace = places
        stored: set[int] = set()
        for k, part in enumerate(parts):
            body = "\n".join(emit(routine, part, dialect, stored))
            functions.append(lanes.ROUTINE.replace("@NAME@", f"{name}_{k}").replace("@BODY@", body))
        calls = " ".join(
            f"{name}_{k}(shared, column, out, work, constants);" for k in range(len(parts))
        )
        functions.append(lanes.ROUTINE.replace("@NAME@", name).replace("@BODY@", calls))
        regions[name] = Region(f"Lanes::{name}", shared, column, out, f", {workspace}, constants")
    return regions, functions, slots


def in_lanes(
    constant: Callable[[float], str],
    load: Callable[[str, int], str],
    store: Callable[[list[int], str], str],
) -> Dialect:
    """How values in the lanes of a vector are written."""
    return Dialect(
        type="V",
        functions={
            **{name: f"Lanes::{name}" for name in ("exp", "log", "atan2")},
            **{name: f"__builtin_elementwise_{name}" for name in ("fma", "sqrt", "abs", "floor")},
        },
        constant=constant,
        load=load,
        store=store,
        sincos=lambda x, s, c: f"V {s}, {c}; Lanes::sincos({x}, {s}, {c});",
        select=lambda x, y, a, b: f"({x} < {y}) ? {a} : {b}",
    )


class _Array:
    """An array as the C++ around the program sees it."""

    def __init__(self, identifier: str, shape: tuple[int, ...]):
        self.id, self.shape, self.size = identifier, shape, prod(shape)
        self.is_output = identifier.startswith("r_")
        self.const = "" if self.is_output else "const "


class _InPlace(_Array):
    """An input, or a result of one trailing dimension, accessed where it lies if its environments lie side by side and
    its entries evenly apart, else in a tile.

    Memory is asked for ahead at the address of each access plus `ahead`: in place that is the same row further on; from
    a tile, whose entries are a cache line each, line by line what the tile will next be filled from.
    """

    @property
    def fields(self) -> list[tuple[str, str]]:
        """Types and names of what a block knows of it."""
        a = self.id
        numbers = (("I64", f"{a}_ld"), ("I64", f"{a}_ahead"), ("bool", f"{a}_in_place"))
        return [(f"{self.const}T*", a), *numbers, ("V*", f"{a}_tile")]

    def entry(self, k: int) -> str:
        return f"Lanes::{'place' if self.is_output else 'load'}({self.id} + {k} * {self.id}_ld, {self.id}_ahead)"

    def store(self, k: int, value: str) -> str:
        return f"{self.entry(k)} = {value};"

    def declare(self, position: int, slots: int, group: int) -> Iterator[str]:
        yield from _declare(self.id, self.const, self.shape, position, slots, group)
        if self.is_output:
            yield f"static const int {self.id}_slot[] = {{{', '.join(map(str, range(max(self.size, 1))))}}};"
            yield f"static const bool {self.id}_still[{DIRECT}] = {{}};"

    def fill(self) -> Iterator[str]:
        a = self.id
        yield f"at.{a}_tile = {a}_tiles[group];"
        yield f"at.{a}_in_place = here == N && {a}_env == 1 && {a}_even;"
        yield f"at.{a} = at.{a}_in_place ? {a} + e : ({self.const}T*)at.{a}_tile;"
        yield f"at.{a}_ld = at.{a}_in_place ? {a}_step : N;"
        yield f"at.{a}_ahead = at.{a}_in_place ? AHEAD : {a} + (e + AHEAD) * {a}_env - (const T*)at.{a}_tile;"
        if not self.is_output and self.size:
            yield f"if (!at.{a}_in_place) {_gather(a, self.size)}"

    def empty(self) -> str:
        return f"if (!at.{self.id}_in_place) {_scatter(self.id, self.size)}" if self.size else ""


class _Tile(_Array):
    """A result of several trailing dimensions, or a large one, written entry by entry through a table of places: its
    rows where environments lie side by side, else its tile.

    Written where a value is computed, memory works while the program goes on: all derivatives of a 32-joint robot's
    rnea, 803 rows, took 100 ns an environment more by way of the tile (16,384 environments, one core).
    """

    @property
    def fields(self) -> list[tuple[str, str]]:
        """Types and names of what a block knows of it."""
        a = self.id
        places = (("const I64*", f"{a}_place"), ("bool", f"{a}_now"), ("bool", f"{a}_in_rows"))
        return [("T*", a), *places, ("V*", f"{a}_tile")]

    def store(self, k: int, value: str) -> str:
        return f"Lanes::store({self.id} + {self.id}_place[{k}], {value}, {self.id}_now);"

    def declare(self, position: int, slots: int, group: int) -> Iterator[str]:
        yield from _declare(self.id, self.const, self.shape, position, slots, group)

    def fill(self) -> Iterator[str]:
        a = self.id
        yield f"at.{a}_tile = {a}_tiles[group];"
        yield f"at.{a}_in_rows = here == N && {a}_env == 1;"
        yield f"at.{a}_now = at.{a}_in_rows && {a}_stream;"
        yield f"at.{a} = at.{a}_in_rows ? {a} + e : (T*)at.{a}_tile;"
        yield f"at.{a}_place = at.{a}_in_rows ? {a}_offset : {a + '_in_tile' if self.size else 'nullptr'};"

    def empty(self) -> str:
        return f"if (!at.{self.id}_in_rows) {_scatter(self.id, self.size)}" if self.size else ""


def _array(identifier: str, shape: tuple[int, ...]) -> _InPlace | _Tile:
    small = len(shape) <= 1 and prod(shape) <= DIRECT
    return (_InPlace if small or identifier.startswith("a_") else _Tile)(identifier, shape)


class _Values:
    """The distinct values of a result: where each stands in the tile, constants last, and which entries take it."""

    def __init__(self, array: _InPlace | _Tile, outputs: Sequence[Output]):
        self.id, self.outputs, self.slot = array.id, outputs, list(range(len(outputs)))
        self.constants = [(k, o.constant) for k, o in enumerate(outputs) if o.node is None]
        if isinstance(array, _Tile):
            distinct = dict.fromkeys(
                sorted(
                    ((o.node is None, o.node, o.negative, o.constant) for o in outputs),
                    key=lambda v: v[0],
                )
            )
            place = {value: k for k, value in enumerate(distinct)}
            self.slot = [place[o.node is None, o.node, o.negative, o.constant] for o in outputs]
        self.slots = len(set(self.slot))

    def _still(self, run: int) -> Iterator[str]:
        """For each run of entries whether all are constants."""
        for first in range(0, len(self.outputs), run):
            yield (
                "true"
                if all(o.node is None for o in self.outputs[first : first + run])
                else "false"
            )

    def tables(self, single: bool) -> tuple[list[str], str]:
        """Tables of a large result's entries, constants put into the tile, and what writes them to their rows."""
        a, lanes_count = self.id, lanes.count(single)
        tables = [
            f"static const int {a}_slot[] = {{{', '.join(map(str, self.slot))}}};",
            f"static const I64 {a}_in_tile[] = {{{', '.join(str(k * lanes_count) for k in self.slot)}}};",
            f"static const bool {a}_still[] = {{{', '.join(self._still(lanes_count))}}};",
        ]
        for slot, value in {self.slot[k]: value for k, value in self.constants}.items():
            tables.append(
                f"for (auto& tile : {a}_tiles) tile[{slot}] = V{{}} + {literal(value, single)};"
            )
        if not self.constants:
            return tables, ""
        tables.append(
            f"static const int {a}_constant[] = {{{', '.join(str(k) for k, _ in self.constants)}}};"
        )
        rows = f"at.{a}_tile, {a} + e, {a}_offset, {a}_constant, {a}_slot, {len(self.constants)}, {a}_stream"
        return tables, f"if (at.{a}_in_rows && !keep_constants) Lanes::rows_out({rows});"


def _declare(
    a: str, const: str, shape: tuple[int, ...], position: int, slots: int, group: int
) -> Iterator[str]:
    """An array's address and strides, the offset of each entry from its environment's first, and its tile."""
    address, environment, *steps = (f"args[{position + k}]" for k in range(FIELDS))
    size, counts = prod(shape), (*shape, 1, 1, 1)[:3]
    yield f"{const}T* const {a} = ({const}T*){address};"
    yield f"const I64 {a}_env = {environment}, {a}_step = {steps[max(len(shape) - 1, 0)]};"
    yield f"I64 {a}_offset[{max(size, 1)}]; bool {a}_dense = true, {a}_even = true;"
    loops = " ".join(
        f"for (I64 {i} = 0; {i} < {n}; ++{i})" for i, n in zip("xyz", counts, strict=True)
    )
    offset = f"{a}_offset[k] = x * {steps[0]} + y * {steps[1]} + z * {steps[2]};"
    is_even = f"{a}_even &= {a}_offset[k] == k * {a}_step;"
    yield f"{{ int k = 0; {loops} {{ {offset} {a}_dense &= {a}_offset[k] == k; {is_even} ++k; }} }}"
    yield f"V {a}_tiles[{group}][{max(slots, lanes.count(True))}] __attribute__((aligned(64)));"
    if not const:
        yield f"bool {a}_stream = stream && (I64)({a} + first * {a}_env) % 64 == 0;"
        yield f"{a}_stream &= {a}_env == 1 || {a}_env % N == 0;"
        yield f"for (int k = 0; k < {size}; ++k) {a}_stream &= {a}_dense || {a}_offset[k] % N == 0;"
        yield from _stage(a, size)


def _stage(a: str, size: int) -> Iterator[str]:
    """Where rows of a result are put together, if they lie end to end."""
    if not lanes.count(True) < size <= STAGED:
        yield f"V* const {a}_stage = nullptr;"
        return
    yield f"V {a}_lines[{size}] __attribute__((aligned(64)));"
    end_to_end = (
        f"{a}_dense && {a}_env == {size} && {size} % N && (I64)({a} + first * {a}_env) % 64 == 0"
    )
    yield f"V* const {a}_stage = stream > 1 && {end_to_end} ? {a}_lines : nullptr;"


def _gather(a: str, size: int) -> str:
    return f"Lanes::gather(at.{a}_tile, {a} + e * {a}_env, {a}_env, {a}_offset, {size}, here, {a}_dense);"


def _scatter(a: str, size: int) -> str:
    where = f"{a} + e * {a}_env, {a}_env, {a}_offset, {a}_slot, {a}_still, {size}"
    return f"Lanes::scatter(at.{a}_tile, {where}, here, {a}_dense, {a}_stream, keep_constants, {a}_stage);"
