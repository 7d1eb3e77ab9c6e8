"""Rows of a kernel's arrays in a warp's shared memory.

A robot's numbers are often contiguous, in a row. If each lane read and wrote its own row, a warp
would move eight times as much memory as it needs, because memory moves in sectors of 32 bytes (CUDA
C++ Programming Guide, device memory accesses). Therefore the lanes together copy the rows of inputs
to shared memory, and pieces of the rows of results from it. A piece is written as soon as its last
number is known, and its shared memory is used again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from math import ceil, gcd, prod
from typing import NamedTuple

from ..recording.order import Statement
from ..recording.program import Program
from .arguments import input_identifier, result_identifier
from .emit import literal

LANES = 32
"""Lanes of a warp, which is a block."""


class Room(NamedTuple):
    """Shared memory of a block, and the part of it for inputs [bytes]."""

    total: int
    inputs: int


ROOM = Room(27 * 1024, 14 * 1024)
"""Eight blocks, as many as the registers of large kernels allow, have room in the 228 KB of a
multiprocessor of sm_90 (CUDA C++ Programming Guide, technical specifications)."""

ROOM_BESIDE_ARRAYS = Room(8 * 1024, 4 * 1024)
"""Room in programs with arrays or routines, whose own memory lies in the same 256 KB of a multiprocessor
as its shared memory. The quadruped's step of learning takes 73 us in place of 96 for 4,096 environments,
and 440 us in place of 464 for 65,536 (H100, 2026-11-26)."""

SECTOR_BYTES = 32
"""Memory moves in sectors of this size."""

PIECE_BYTES = 256
"""Largest piece of a row of results."""

Time = tuple[int, int]
"""When a number is stored: the phase of the block, and the number of the statement in its warp.
Work of different warps is ordered only if its phases differ."""


@dataclass(eq=False)
class StagedRows:
    """Entries `start` to `start + size` of the rows of an array."""

    array: str
    start: int
    size: int
    offset: int | None = None
    """The first number in shared memory; None: in the thread's own memory, until they are complete."""
    warp: int = 0
    """The warp of the block that writes them, if they are results."""

    @property
    def width(self) -> int:
        """Distance of rows in shared memory, chosen so that at most four lanes access the same
        bank."""
        return self.size if gcd(self.size, LANES) <= 4 else self.size | 1

    def own(self, entry: int) -> str:
        """An entry of this lane's row."""
        if self.offset is None:
            return f"{self.array}_late{self.start}[{entry - self.start}]"
        return f"stage[{self.offset + entry - self.start} + lane * {self.width}]"


class Staging:
    """The shared memory of a program: first `place_inputs`, then `place_results`."""

    def __init__(self, program: Program, number_bytes: int, room: Room = ROOM):
        self.program, self.number_bytes, self.room = program, number_bytes, room
        self.size = 0
        """Numbers of shared memory."""
        self.inputs: dict[str, StagedRows] = {}
        """The inputs in it, by their C++ names."""
        self.pieces: list[StagedRows] = []
        """The pieces of results."""
        self.relay: int | None = None
        """First of the shared memory through which pieces in the threads' own memory leave."""
        self._piece: dict[int, StagedRows] = {}
        """The piece of each output."""
        self._waiting: dict[StagedRows, int] = {}
        """Numbers of each piece that are not stored yet."""

    def relay_of(self, warp: int) -> int:
        """Beginning of the shared memory through which a warp's pieces are written."""
        assert self.relay is not None, "pieces without shared memory need a relay"
        widest = max(piece.width for piece in self.pieces if piece.offset is None)
        return self.relay + warp * LANES * widest

    def piece_of(self, output: int) -> StagedRows | None:
        """The piece with an output."""
        return self._piece.get(output)

    def count_store(self, piece: StagedRows) -> bool:
        """Count the store of an entry of a piece; True if it was the last one."""
        self._waiting[piece] -= 1
        return not self._waiting[piece]

    def constants(self, piece: StagedRows, single: bool) -> Iterator[str]:
        """Stores of the constant entries of a piece."""
        for k in self._outputs(piece):
            if self._is_constant(k):
                value = literal(self.program.outputs[k].constant, single)
                yield f"{piece.own(self.program.places[k][1])} = {value};"

    def runs(self, piece: StagedRows) -> list[tuple[int, int, bool]]:
        """Runs of entries of a piece: the first, the end, and whether all of them are constants."""
        constant = {self.program.places[k][1] for k in self._outputs(piece) if self._is_constant(k)}
        entries = range(piece.start, piece.start + piece.size)
        runs = [(key, list(group)) for key, group in groupby(entries, constant.__contains__)]
        return [(run[0], run[-1] + 1, key) for key, run in runs]

    def _is_constant(self, output: int) -> bool:
        return self.program.outputs[output].node is None

    def _outputs(self, piece: StagedRows) -> list[int]:
        return [k for k, rows in self._piece.items() if rows is piece]

    def place_inputs(self) -> None:
        """Give shared memory to inputs until it is full."""
        for name, shape in self.program.inputs.items():
            rows = StagedRows(input_identifier(name), 0, prod(shape), self.size)
            end = self.size + LANES * rows.width
            room = end * self.number_bytes <= self.room.inputs
            by_address = name not in self.program.tables and name not in self.program.numbers
            if by_address and rows.size > 1 and room:
                self.inputs[rows.array] = rows
                self.size = end

    def place_results(self, statements: Sequence[Statement]) -> None:
        """Give shared memory to pieces of results, each from its first number to its last one.

        `statements`: in the order in which they are written.
        """
        order = {s.target: (0, n) for n, s in enumerate(statements)}
        times = [None if o.node is None else order[o.node] for o in self.program.outputs]
        self.cut_results(PIECE_BYTES)
        begin = self.size
        if not self.place_pieces(times, self.room.total):
            self.size = self.relay = begin
            self.size += LANES * max(piece.width for piece in self.pieces)
            self.place_pieces(times, self.room.total)

    def cut_results(self, piece_bytes: int) -> None:
        """Cut the rows of results into pieces."""
        computed = {
            place
            for place, output in zip(self.program.places, self.program.outputs, strict=True)
            if output.node is not None
        }
        output_at = {place: k for k, place in enumerate(self.program.places)}
        longest = piece_bytes // self.number_bytes
        for name, shape in self.program.results.items():
            size = prod(shape)
            for start, end in pairwise(_borders(size, longest, SECTOR_BYTES // self.number_bytes)):
                piece = StagedRows(result_identifier(name), start, end - start)
                places = [(name, start + k) for k in range(piece.size)]
                if number := len(computed.intersection(places)):
                    self.pieces.append(piece)
                    self._piece |= {output_at[place]: piece for place in places}
                    self._waiting[piece] = number

    def place_pieces(self, times: Sequence[Time | None], most_bytes: int) -> bool:
        """Give each piece the first free shared memory after the occupied part; False if there is
        not enough for all.

        `times`: when each output is stored; None for constants.
        """
        stored: dict[StagedRows, list[Time]] = {}
        for output, piece in self._piece.items():
            time = times[output]
            if time is not None:
                stored.setdefault(piece, []).append(time)
        first = {piece: min(each) for piece, each in stored.items()}
        last = {piece: max(each) for piece, each in stored.items()}
        self.pieces.sort(key=lambda piece: (first[piece], last[piece]))
        placed: list[tuple[int, int, StagedRows]] = []
        begin = self.size
        for piece in self.pieces:
            offset, size = begin, LANES * piece.width
            for start, end, other in sorted(placed, key=lambda each: each[:2]):
                begins, ends = first[piece], last[other]
                same_warp = piece.warp == other.warp
                overlaps = ends >= begins if same_warp else ends[0] >= begins[0]
                if overlaps and offset + size > start:
                    offset = max(offset, end)
            has_room = (offset + size) * self.number_bytes <= most_bytes
            piece.offset = offset if has_room else None
            if has_room:
                placed.append((offset, offset + size, piece))
                self.size = max(self.size, offset + size)
        return all(piece.offset is not None for piece in self.pieces)


def _borders(size: int, longest: int, sector: int) -> list[int]:
    """Borders of the pieces of a row: pieces of about equal size, in whole sectors. A single number
    is not a piece."""
    number = ceil(size / longest) if size > 1 else 0
    return [*(sector * ceil(k * size / number / sector) for k in range(number)), size]
