"""The CUDA form of a program: a thread computes one environment, with every value in a register.

A block is one warp. Its lanes read rows of the inputs and write rows of the results together, through
shared memory (`cuda_rows`), so that a warp moves whole lines of memory in each memory order.

Loads come first. They wait for memory together only if there is no branch between them. Therefore
sines and cosines have no branch: angles beyond the range of the polynomials are reduced to one turn
in a single branch in front of the statements.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from math import ceil, prod

from ..recording.order import Statement
from ..recording.program import Program
from . import headers
from .arguments import HEADER, input_identifier
from .cuda_rows import ROOM, ROOM_BESIDE_ARRAYS, StagedRows, Staging
from .emit import Dialect, emit
from .one_environment import OneEnvironment
from .scopes import in_scopes
from .warp_cut import is_straight

STATIC_BYTES = 47 * 1024
"""Shared memory of a block without an option of the launch is 48 KB, of which Warp takes a little."""

FAR = {True: "fabsf({}) > 65536.0f", False: "fabs({}) > 1e5"}
"""Where an angle is beyond the range of the polynomials, in float32 and in float64."""


class CudaThread(OneEnvironment):
    """The function of a thread."""

    warps = 1
    """Warps of a block."""

    def __init__(self, program: Program, single: bool):
        super().__init__(program, single)
        room = ROOM if is_straight(program) else ROOM_BESIDE_ARRAYS
        self.staging = Staging(program, 4 if single else 8, room)
        self.staging.place_inputs()
        self.place_results()

    def place_results(self) -> None:
        """Give shared memory to the results."""
        front, rest = self._loads_and_rest(self.program)
        self.staging.place_results([*front, *rest])

    @property
    def asked_bytes(self) -> int:
        """Shared memory that a launch has to ask for, beyond what each block has."""
        size = self.staging.size * self.staging.number_bytes
        return size if size > STATIC_BYTES else 0

    def begin(self) -> Iterator[str]:
        """The environments of the warp, addresses, and the rows of inputs."""
        yield f"typedef {self.type} T;"
        yield from self.threads()
        yield "const I64 left = count - own + lane;"
        yield "const int here = left < lanes ? (int)left : lanes;"
        yield "if (here <= 0) return;"
        # A lane without an environment computes the last one again, because the other lanes need it
        # to copy rows.
        yield "const bool alive = lane < here;"
        yield "const I64 e = first + (alive ? own : count - 1);"
        yield from self.look_ups()
        yield from self._values()
        if self.staging.size:
            yield headers.piece("rows.h", "thread", self.single)
            if self.asked_bytes:
                yield "extern __shared__ char asked_memory[];"
                yield "T* const stage = (T*)asked_memory;"
            else:
                yield f"__shared__ T stage[{self.staging.size}];"
        in_rows = {*self.staging.inputs, *(piece.array for piece in self.staging.pieces)}
        for name in self.shapes:
            yield from self.addresses(name)
            if name in in_rows:
                yield from self._rows(name)
        yield from self._read_inputs(list(self.staging.inputs.values()))
        yield from self.late_pieces(0)

    def threads(self) -> Iterator[str]:
        """This thread's place in its block, and its `own` environment."""
        yield "const int lane = threadIdx.x, lanes = blockDim.x, warp = 0, warps = 1;"
        yield "const I64 own = tid;"

    def late_pieces(self, warp: int) -> Iterator[str]:
        """Memory of a thread for the pieces of a warp that have no shared memory."""
        for piece in self.staging.pieces:
            if piece.offset is None and piece.warp == warp:
                yield f"T {piece.array}_late{piece.start}[{piece.size}];"

    def after_reading(self) -> str:
        """The statement after which all lanes may read the inputs in shared memory."""
        return "__syncwarp();"

    def _values(self) -> Iterator[str]:
        """The inputs that are passed by value. Each entry is read by a constant index, so that the
        compiler reads it from the arguments and makes no array."""
        number = (
            "__int_as_float((int)args[{}])" if self.single else "__longlong_as_double(args[{}])"
        )
        for name, places in self.layout.values.items():
            if places:
                yield f"const T {name}[] = {{{', '.join(map(number.format, places))}}};"

    def _read_inputs(self, inputs: Sequence[StagedRows]) -> Iterator[str]:
        """Loads of all inputs, one directly after the other, into shared memory."""
        if not inputs:
            return
        shares = [ceil(rows.size / self.warps) for rows in inputs]
        starts = [0, *accumulate(shares)]
        yield f"T share[{starts[-1]}];"
        yield f"if ({' & '.join(f'({x.array}_dense | {x.array}_same)' for x in inputs)}) {{"
        for rows, start in zip(inputs, starts, strict=False):
            name = rows.array
            yield f"take_rows(share + {start}, {name}_rows, {rows.size}, {name}_dense);"
        for rows, start in zip(inputs, starts, strict=False):
            place = f"stage + {rows.offset}, {rows.size}, {rows.width}, {rows.array}_dense"
            yield f"put_rows(share + {start}, {place});"
        yield "} else {"
        for rows, start, share in zip(inputs, starts, shares, strict=False):
            yield "#pragma unroll"
            yield f"for (int j = 0, k = warp; j < {share}; ++j, k += warps)"
            guard = f"if (k < {rows.size}) " if rows.size % self.warps else ""
            yield f"  {guard}share[{start} + j] = {rows.array}[{rows.array}_at(k)];"
        for rows, start in zip(inputs, starts, strict=False):
            place = f"stage + {rows.offset}, {rows.size}, {rows.width}, false"
            yield f"put_rows(share + {start}, {place});"
        yield "}"
        yield self.after_reading()

    def _rows(self, name: str) -> Iterator[str]:
        """The place of a warp's first row, if rows follow each other, and the place of an entry."""
        address, environment, *strides = self.layout.fields(name)
        shape = self.shapes[name]
        size, together, offset = prod(shape), ["true"], []
        for stride, length in zip(strides, shape, strict=False):
            size //= length
            if length > 1:
                together.append(f"{stride} == {size}")
                offset.append(f"k / {size} % {length} * {stride}")
        const = "const " if name in self.staging.inputs else ""
        yield f"{const}T* const {name}_rows = ({const}T*){address} + (first + own - lane) * {environment};"
        yield f"const bool {name}_together = {' & '.join(f'({x})' for x in together)};"
        yield f"const bool {name}_dense = {name}_together & ({environment} == {prod(shape)});"
        if name in self.staging.inputs:
            yield f"const bool {name}_same = {name}_together & ({environment} == 0);"
        yield f"const auto {name}_at = [&](const int k) {{ return {' + '.join(offset)}; }};"

    def load(self, array: str, entry: int) -> str:
        """An entry of an input, from this lane's row in shared memory if it is there."""
        name = input_identifier(array)
        if name in self.layout.values:
            return f"{name}[{entry}]"
        rows = self.staging.inputs.get(name)
        return rows.own(entry) if rows else super().load(array, entry)

    def store(self, outputs: list[int], value: str) -> str:
        """Statements that store a value as these outputs, and write the pieces that this completes."""
        lines = []
        for k in outputs:
            piece = self.staging.piece_of(k)
            if piece is None:
                lines.append(f"if (alive) {self.place(k)} = {value};")
                continue
            lines.append(f"{piece.own(self.program.places[k][1])} = {value};")
            if self.staging.count_store(piece):
                lines += self._write(piece)
        return "\n".join(lines)

    def _write(self, piece: StagedRows) -> Iterator[str]:
        """The rows of a piece go to memory."""
        yield from self.staging.constants(piece, self.single)
        name, offset = piece.array, piece.offset
        if offset is None:
            offset = self.staging.relay_of(piece.warp)
            yield f"for (int k = 0; k < {piece.size}; ++k)"
            yield f"  stage[{offset} + lane * {piece.width} + k] = {name}_late{piece.start}[k];"
        size = prod(self.shapes[name])
        yield f"if ({name}_dense)"
        place = f"stage + {offset}, {name}_rows + {piece.start}, {piece.size}, {piece.width}"
        yield (
            f"  write_rows({place});" if piece.size == size else f"  write_parts({place}, {size});"
        )
        yield "else if (alive) {"
        own = f"stage[{offset} + lane * {piece.width} + k - {piece.start}]"
        runs = self.staging.runs(piece)
        for constant in (False, True):
            loops = [
                f"for (int k = {start}; k < {end}; ++k) {name}[{name}_at(k)] = {own};"
                for start, end, is_constant in runs
                if is_constant is constant
            ]
            if constant and loops:
                yield f"if (!args[{HEADER.index('keep_constants')}]) {{"
            for loop in loops:
                yield "#pragma unroll"
                yield loop
            if constant and loops:
                yield "}"
        yield "}"

    def constants(self, results: Container[str]) -> list[str]:
        """Statements that store constant outputs that are not in pieces."""
        return [f"if (alive) {line}" for line in super().constants(results)]

    def is_stored_alone(self, output: int) -> bool:
        """True for an output that is not in a piece."""
        return self.staging.piece_of(output) is None

    def statements(self, program: Program, dialect: Dialect) -> Iterator[str]:
        """The statements, with sines that have no branch."""
        stored: set[int] = set()
        front, rest = self._loads_and_rest(program)
        yield from emit(program, front, dialect, stored)
        if program.angles:
            near = {f"t{angle}": f"near{angle}" for angle in program.angles}
            yield headers.piece("sines.h", "thread", self.single)
            yield from self.near_angles(near)
            dialect = with_near_angles(dialect, near)
        yield from in_scopes(emit(program, rest, dialect, stored))

    def _loads_and_rest(self, program: Program) -> tuple[list[Statement], list[Statement]]:
        """Statements that come first, loads from memory and angles, and all other statements."""
        inputs = [s for s in program.statements if self.is_direct(s)]
        front = {s.target: s for s in [*inputs, *program.angle_statements]}
        return list(front.values()), [s for s in program.statements if s.target not in front]

    def is_direct(self, statement: Statement) -> bool:
        """True for an input that is not in shared memory."""
        return (
            statement.operation == "input"
            and input_identifier(statement.arguments[0]) not in self.staging.inputs
        )

    def near_angles(self, near: Mapping[str, str]) -> Iterator[str]:
        """Angles within the range of the polynomials, and the quarter turns to add to each."""
        for angle, name in near.items():
            yield f"T {name} = {angle}; int {name}_quarters = 0;"
        is_far = FAR[self.single].format
        far = " | ".join(f"({is_far(name)})" for name in near.values())
        yield f"if ({far}) {{"
        yield f"T far[] = {{{', '.join(near.values())}}};"
        yield f"int quarters[{len(near)}] = {{}};"
        yield from self.reduce_far(len(near), is_far("far[k]"))
        for k, name in enumerate(near.values()):
            yield f"{name} = far[{k}]; {name}_quarters = quarters[{k}];"
        yield "}"

    def reduce_far(self, count: int, is_far: str) -> Iterator[str]:
        """Reduce angles in `far` to quarter turns and a remainder."""
        yield headers.piece("sines.h", "far", self.single, count=count, is_far=is_far)


def with_near_angles(dialect: Dialect, near: Mapping[str, str]) -> Dialect:
    """The dialect, with sines of the angles in `near` that have no branch."""
    library = dialect.sincos

    def sincos(x: str, sine: str, cosine: str) -> str:
        if x not in near:
            return library(x, sine, cosine)
        angle = f"{near[x]}, {near[x]}_quarters"
        return f"T {sine}, {cosine}; sincos_near({angle}, {sine}, {cosine});"

    return replace(dialect, sincos=sincos)
