"""Arrays of a block of environments on the CPU: accessed in place, or through a tile.

Arrays of coordinates in which environments are side by side are accessed in place. All other arrays
(rows of one environment, other strides, the last incomplete block) are copied through a *tile*,
with one vector per entry. Tiles are filled and emptied by transposing in registers if rows are
dense, and element by element if they are not (`gather` and `scatter` in lanes.h). In the tile of a
large result each value that repeats (symmetry) or is constant is stored once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

from ..recording.program import Output
from . import headers
from .arguments import FIELDS
from .emit import literal

DIRECT = 64
"""Results of one trailing dimension up to this size are written in place."""

STAGED, STAGED_LATE = 128, 640
"""Largest number of entries of a result in rows that are assembled before they are written past the
cache: for a batch too large for the cache, and for one larger than the last level. 65,536 mass
matrices of a panda, 49 numbers a row, take 39 ns each instead of 45, and 31 side by side; 324
numbers a row are no faster on an Intel Xeon, and 1.6 times as fast on an AMD EPYC (one core)."""

LONG = 128
"""Number of entries from which a result is compared with the input that it is written over, and only
lines that differ are written. Most contacts of a scene with many pairs stay away in a step."""


class _Array:
    """An array in the C++ code around the program.

    `over`: the input that a result may be written over. If it is, the result goes through its
    tile, which is emptied when all parts have read their inputs of the block.
    """

    def __init__(self, identifier: str, shape: tuple[int, ...], over: str | None = None):
        self.id, self.shape, self.size, self.over = identifier, shape, prod(shape), over
        self.is_output = identifier.startswith("r_")
        self.const = "" if self.is_output else "const "

    def declare(self, position: int, slots: int, group: int) -> Iterator[str]:
        """Declarations of the array's address and strides, before the first block; `slots` vectors
        in its tile."""
        yield from _declare(self.id, self.const, self.shape, position, slots, group)

    @property
    def tile(self) -> str:
        """C++ of the address of the array's tile."""
        return f"at.{self.id}_tile"

    @property
    def apart(self) -> str:
        """C++ of a condition: the result is not written over an input."""
        return f" && (const T*){self.id} != {self.over}" if self.over else ""

    def scatter(self) -> str:
        """C++ that copies a result from its tile to its place."""
        a = self.id
        where = f"{a} + e * {a}_env, {a}_env, {a}_offset, {a}_entry, {a}_still, {self.size}"
        # Constants of a result over an input are written at each run: the input changes them.
        keep = f"keep_constants{self.apart}"
        compare = f"(const T*){a} == {self.over}" if self.over and self.size >= LONG else "false"
        how = f"here, {a}_dense, {a}_stream, {keep}, {compare}, {a}_stage"
        scatter = f"Lanes::scatter((const T*){self.tile}, {where}, {how});"
        if not self.gets_rows:
            return scatter
        value = f"*(const V*)((const T*){self.tile} + {a}_entry[k])"
        store = f"Lanes::store({a} + e + {a}_offset[k], {value}, {a}_stream)"
        rows = f"for (int k = 0; k < {self.size}; ++k) {store};"
        return f"{{ if (here == N && {a}_env == 1) {rows} else {scatter} }}"

    @property
    def gets_rows(self) -> bool:
        """True if rows side by side are emptied from the tile too: those that belong to an input."""
        return bool(self.over)

    def last(self) -> str:
        """C++ that writes the rest of a result after the last block."""
        return f"if ({self.id}_stage) {self.id}_stage->leave({self.size});" if self.size else ""


class InPlace(_Array):
    """An input, or a result of one trailing dimension, accessed in place if its environments
    lie side by side and its entries evenly apart, else in a tile.

    Each access prefetches its own address plus `ahead`. In place, that is the same row for later
    environments. In a tile, whose entries are a cache line each, it is, line by line, the memory
    from which the tile will be filled next.
    """

    @property
    def fields(self) -> list[tuple[str, str]]:
        """Types and names of the array's fields in a block."""
        a = self.id
        numbers = (("I64", f"{a}_ld"), ("I64", f"{a}_ahead"), ("bool", f"{a}_in_place"))
        return [(f"{self.const}T*", a), *numbers, ("V*", f"{a}_tile")]

    def entry(self, k: int) -> str:
        """Entry `k` of all lanes, as a value or a place to store one."""
        access = "place" if self.is_output else "load"
        return f"Lanes::{access}({self.id} + {k} * {self.id}_ld, {self.id}_ahead)"

    def store(self, k: int, value: str) -> str:
        """The statement that writes entry `k` of all lanes."""
        return f"{self.entry(k)} = {value};"

    def declare(self, position: int, slots: int, group: int) -> Iterator[str]:
        """Declarations of the array, and of the tables of a result's tile."""
        yield from super().declare(position, slots, group)
        if self.is_output:
            # `scatter` reads tables: here each entry has its slot, and none is a kept constant.
            places = ", ".join(f"{k} * N" for k in range(max(self.size, 1)))
            yield f"static const int {self.id}_entry[] = {{{places}}};"
            yield f"static const char {self.id}_still[{DIRECT}] = {{}};"

    def fill(self) -> Iterator[str]:
        """Statements that set the array's fields in a block and gather inputs into the tile."""
        a = self.id
        # Parts use the same code in both cases, so the tile must look like memory: entry k is k
        # steps from the first, where a step is the array's stride or, in a tile, one vector.
        yield f"at.{a}_tile = {a}_tiles[group];"
        yield f"at.{a}_in_place = here == N && {a}_env == 1 && {a}_even{self.apart};"
        yield f"at.{a} = at.{a}_in_place ? {a} + e : ({self.const}T*)at.{a}_tile;"
        yield f"at.{a}_ld = at.{a}_in_place ? {a}_step : N;"
        # Difference of addresses in different arrays. Added to an address in the tile, it gives the
        # memory from which a later block will be gathered.
        from_tile = f"{a} + (e + AHEAD) * {a}_env - (const T*)at.{a}_tile"
        yield f"at.{a}_ahead = at.{a}_in_place ? AHEAD : {from_tile};"
        if not self.is_output and self.size:
            yield f"if (!at.{a}_in_place) {_gather(a, self.size)}"

    def empty(self) -> str:
        """The statement that moves a result from the tile to its place, after the last part."""
        return f"if (!at.{self.id}_in_place) {self.scatter()}" if self.size else ""


class Tile(_Array):
    """A result of several trailing dimensions, or a large one, written entry by entry through a
    table of places: its rows if environments lie side by side, else its tile.

    A value is written as soon as it is computed, so that memory works while the program continues:
    all derivatives of a 32-joint robot's rnea, 803 rows, took 100 ns more per environment through
    the tile (16,384 environments, one core).
    """

    @property
    def fields(self) -> list[tuple[str, str]]:
        """Types and names of the array's fields in a block."""
        a = self.id
        places = (("const I64*", f"{a}_place"), ("bool", f"{a}_now"), ("bool", f"{a}_in_rows"))
        return [("T*", a), *places, ("V*", f"{a}_tile")]

    def store(self, k: int, value: str) -> str:
        """The statement that writes entry `k` of all lanes."""
        return f"Lanes::store({self.id} + {self.id}_place[{k}], {value}, {self.id}_now);"

    def fill(self) -> Iterator[str]:
        """Statements that set the array's fields in a block: one table of places, the rows' or the
        tile's."""
        a = self.id
        # In the tile the place of an entry is that of its value, so a value that many entries share
        # is stored once. Only whole blocks side by side are written directly to memory, past the
        # cache.
        yield f"at.{a}_tile = {a}_tiles[group];"
        yield f"at.{a}_in_rows = here == N && {a}_env == 1{self.apart};"
        yield f"at.{a}_now = at.{a}_in_rows && {a}_stream;"
        yield f"at.{a} = at.{a}_in_rows ? {a} + e : (T*)at.{a}_tile;"
        in_tile = f"{a}_in_tile" if self.size else "nullptr"
        yield f"at.{a}_place = at.{a}_in_rows ? {a}_offset : {in_tile};"

    def empty(self) -> str:
        """The statement that moves the result from the tile to its rows, after the last part."""
        return f"if (!at.{self.id}_in_rows) {self.scatter()}" if self.size else ""


class MovedInput(_Array):
    """An input that is the first content of arrays in the workspace (`moved_rows`).

    `slots`: the slot of each entry. `is_kept`: the program writes none of these slots, so that an input
    that all environments share is moved once. `is_returned`: a result that may be written over it has
    the same slots.
    """

    slots: list[int]
    is_kept = False
    is_returned = False
    fields: Sequence[tuple[str, str]] = ()

    def entry(self, k: int) -> str:
        """Entry `k` of all lanes."""
        return f"work[{self.slots[k]}]"

    def declare(self, position: int, slots: int, group: int) -> Iterator[str]:
        """Declarations of the array, of the table of its slots, and of what each workspace holds."""
        a = self.id
        yield from super().declare(position, slots, group)
        yield f"static const int {a}_slot[] = {{{', '.join(map(str, self.slots))}}};"
        if self.is_returned:
            lines = f"[{group}][{-(-self.size // headers.lane_count(False))}]"
            yield f"I {a}_held{lines}; bool {a}_known{lines} = {{}};"

    def fill(self) -> Iterator[str]:
        """The statement that moves the entries of a block."""
        a = self.id
        what = f"at.work, {a}_slot, {a} + e * {a}_env, {a}_env, {a}_offset, {self.size}, here, {a}_dense"
        if self.is_returned:
            yield f"Lanes::move_lines_in({what}, {a}_held[group], {a}_known[group]);"
        else:
            in_first_group = "e < first + N * (I64)(sizeof blocks / sizeof *blocks)"
            needed = f"if ({a}_env || {in_first_group}) " if self.is_kept else ""
            yield f"{needed}Lanes::move_in({what});"


class MovedResult(_Array):
    """A result of rows of arrays in the workspace (`moved_rows`).

    `slots`: the slot of each entry. `returns_input`: `over` is an input with the same slots.
    """

    slots: list[int]
    returns_input = False
    fields: Sequence[tuple[str, str]] = ()
    tile = "at.work"
    gets_rows = True

    def store(self, k: int, value: str) -> str:
        """The statement that writes entry `k` of all lanes."""
        return f"work[{self.slots[k]}] = {value};"

    def declare(self, position: int, slots: int, group: int) -> Iterator[str]:
        """Declarations of the array, and of the tables that `scatter` reads."""
        yield from super().declare(position, slots, group)
        places = ", ".join(f"{k} * N" for k in self.slots)
        yield f"static const int {self.id}_entry[] = {{{places}}};"
        yield f"static const char {self.id}_still[{self.size}] = {{}};"

    def fill(self) -> Iterator[str]:
        """Yield nothing: the program writes the result to the workspace."""
        return iter(())

    def empty(self) -> str:
        """The statement that moves the result to its place, after the last part."""
        if not self.returns_input:
            return self.scatter()
        r, a = self.id, self.over
        alike = f"(const T*){r} == {a} && {r}_env == {a}_env && {r}_dense && {a}_dense"
        rows = f"here == N && {r}_env > 1 && {alike}"
        what = (
            f"at.work, {a}_slot, {r} + e * {r}_env, {r}_env, {self.size}, {a}_held[k], {a}_known[k]"
        )
        # The workspace holds other values from here on.
        forget = f"for (bool& known : {a}_known[k]) known = false;"
        return f"if ({rows}) Lanes::move_lines_out({what}); else {{ {forget} {self.scatter()} }}"


def array_of(identifier: str, shape: tuple[int, ...], over: str | None = None) -> InPlace | Tile:
    """The form of access to the array with this C++ name."""
    small = len(shape) <= 1 and prod(shape) <= DIRECT
    return (InPlace if small or identifier.startswith("a_") else Tile)(identifier, shape, over)


class DistinctValues:
    """The distinct values of a result: the slot of each in the tile, and the entries that have
    it."""

    def __init__(self, array: InPlace | Tile | MovedResult, outputs: Sequence[Output]):
        self.id, self.outputs, self.slot = array.id, outputs, list(range(len(outputs)))
        self.constants = [(k, o.constant) for k, o in enumerate(outputs) if o.node is None]
        if isinstance(array, Tile):
            # Constants last: the parts of a program write the slots before them, block after block.
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
        """A flag for each run of entries: 1 if all are constants, 3 if all are zeros, else 0."""
        for first in range(0, len(self.outputs), run):
            outputs = self.outputs[first : first + run]
            constant = all(o.node is None for o in outputs)
            zero = constant and all(str(float(o.constant)) == "0.0" for o in outputs)
            yield str(constant | zero << 1)

    def tables(self, single: bool) -> tuple[list[str], str]:
        """Tables of a large result's entries, with constants put into the tile, and the C++ that
        writes constants to rows side by side."""
        a, lanes_count = self.id, headers.lane_count(single)
        # Two tables: parts use this one or a table of offsets, which may be large. `scatter` uses
        # only this one, with short integers, which save 3% of the time of 1,024 inverse mass
        # matrices of 32 joints, and 1% of that of the mass matrices.
        in_tile = ", ".join(f"{k} * N" for k in self.slot)
        tables = [
            f"static const int {a}_entry[] = {{{in_tile}}};",
            f"static const I64 {a}_in_tile[] = {{{in_tile}}};",
            f"static const char {a}_still[] = {{{', '.join(self._still(lanes_count // 2))}}};",
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
        rows = (
            f"(const T*)at.{a}_tile, {a} + e, {a}_offset, {a}_constant, {a}_entry, "
            f"{len(self.constants)}, {a}_stream"
        )
        return tables, f"if (at.{a}_in_rows && !keep_constants) Lanes::rows_out({rows});"


def _declare(
    a: str, const: str, shape: tuple[int, ...], position: int, slots: int, group: int
) -> Iterator[str]:
    """Declarations of an array's address and strides, the offset of each entry in an environment,
    and the tile."""
    address, environment, *steps = (f"args[{position + k}]" for k in range(FIELDS))
    size, counts = prod(shape), (*shape, 1, 1, 1)[:3]
    yield f"{const}T* const {a} = ({const}T*){address};"
    yield f"const I64 {a}_env = {environment}, {a}_step = {steps[max(len(shape) - 1, 0)]};"
    # dense: entries one after the other, as transposing needs them; even: any one step apart, which
    # is enough to be accessed in place.
    more = [(step, prod(counts[k + 1 :])) for k, step in enumerate(steps) if counts[k] > 1]
    dense = " && ".join(f"{step} == {ahead}" for step, ahead in more)
    even = " && ".join(f"{step} == {ahead} * {a}_step" for step, ahead in more)
    yield f"const bool {a}_dense = {dense or 'true'}, {a}_even = {even or 'true'};"
    loops = " ".join(
        f"for (I64 {i} = 0; {i} < {n}; ++{i})" for i, n in zip("xyz", counts, strict=True)
    )
    offset = f"{a}_offset[k++] = x * {steps[0]} + y * {steps[1]} + z * {steps[2]};"
    yield f"I64 {a}_offset[{max(size, 1)}];"
    # A thousand entries for one robot's mass matrix of 32 joints.
    yield f"if ({a}_dense) for (int k = 0; k < {size}; ++k) {a}_offset[k] = k;"
    yield f"else {{ int k = 0; {loops} {offset} }}"
    yield f"V {a}_tiles[{group}][{max(slots, headers.lane_count(True))}] __attribute__((aligned(64)));"
    if not const:
        # Stores past the cache write whole lines, so every row must begin with a line.
        yield f"bool {a}_stream = stream && (I64)({a} + first * {a}_env) % 64 == 0;"
        yield f"{a}_stream &= {a}_env == 1 || (stream > 1 && {a}_env % N == 0);"
        lines = " && ".join(f"{step} % N == 0" for step, _ in more)
        yield f"{a}_stream &= {a}_dense || ({lines or 'true'});"
        yield from _stage(a, size)


def _stage(a: str, size: int) -> Iterator[str]:
    """Declarations of the buffer in which rows of a result are assembled, if they lie end to
    end."""
    if not headers.lane_count(True) < size <= STAGED_LATE:
        yield f"Lanes::Stage* const {a}_stage = nullptr;"
        return
    yield f"V {a}_lines[2][{size}] __attribute__((aligned(64)));"
    yield f"Lanes::Stage {a}_staged = {{{a}_lines[0], {a}_lines[1], nullptr, 0}};"
    end_to_end = (
        f"{a}_dense && {a}_env == {size} && {size} % N && (I64)({a} + first * {a}_env) % 64 == 0"
    )
    large = f"stream > {int(size > STAGED)}"
    yield f"Lanes::Stage* const {a}_stage = {large} && {end_to_end} ? &{a}_staged : nullptr;"


def _gather(a: str, size: int) -> str:
    where = f"{a} + e * {a}_env, {a}_env, {a}_offset, {size}"
    return f"Lanes::gather(at.{a}_tile, {where}, here, {a}_dense);"
