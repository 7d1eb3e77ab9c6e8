"""The CUDA form of a program in several parts, each on a separate warp.

A block has several warps and serves 32 environments. A lane of each warp works on the same
environment: its part of the program (`warp_cut`), with fewer values in its registers. Values that
warps exchange lie in shared memory (`warp_parts`). Each warp runs through its own statements, and
between two phases all warps meet at a barrier. No warp leaves before the last one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import NamedTuple

from ..recording.order import Statement, values_alive
from ..recording.program import Program
from . import headers
from .cuda import FAR, STATIC_BYTES, CudaThread, with_near_angles
from .cuda_rows import LANES
from .emit import Dialect, emit
from .scopes import in_scopes
from .warp_cut import Dependencies, WarpCut, is_straight
from .warp_parts import FETCH, PUT, STORE, WarpParts, places_of

WARPS, FEWER_WARPS = 4, 2
"""Numbers of warps of a block. Four are tried first, because a multiprocessor has four schedulers."""

GOOD_CUT = 0.6
"""Cost of a cut, as a share of the cost of the whole program, at which fewer warps are not tried."""

WORTH = 0.8
"""The largest cost of a cut that is worth its barriers, as a share of the cost of the whole
program (`WarpCut.cost`)."""

SM_90_BYTES, SM_86_BYTES = 220 * 1024, 96 * 1024
"""Shared memory for which launches ask on these devices and later ones [bytes]."""

REGISTERS = 255
"""Registers of a thread."""

STATEMENTS_PER_RESULT = 10
"""Statements for each result from which on a program has few results."""

PIECE_BYTES = (256, 128)
"""Largest pieces of rows of results that are tried. Smaller ones leave more shared memory for values that
warps exchange, and have numbers of fewer warps."""


class CudaSource(NamedTuple):
    """C++, and the number of warps of a block."""

    code: str
    warps: int
    shared_bytes: int
    """Shared memory that a launch has to ask for."""


def source(program: Program, single: bool) -> CudaSource:
    """Body of the native function `(args, tid)`: `tid` is the environment with one warp in a block,
    and the thread with several. For many environments."""
    if is_fast_in_one_warp(program, single):
        return _source_of(CudaThread(program, single))
    return _source_of(best_thread(program, single))


def source_for_few(program: Program, single: bool) -> CudaSource:
    """The kernel for few environments, on each device."""
    return _source_of(best_thread(program, single))


def source_with_96_kb(program: Program, single: bool) -> CudaSource:
    """The kernel for few environments on sm_86 and later. It also cuts programs whose exchanged values
    need the shared memory of a whole multiprocessor."""
    return _source_of(best_thread(program, single, STATIC_BYTES, SM_86_BYTES))


def source_with_220_kb(program: Program, single: bool) -> CudaSource:
    """The kernel for few environments on sm_90."""
    return _source_of(best_thread(program, single, STATIC_BYTES, SM_90_BYTES))


def _source_of(thread: CudaThread) -> CudaSource:
    return CudaSource(thread.source(), thread.warps, thread.asked_bytes)


def is_fast_in_one_warp(program: Program, single: bool) -> bool:
    """True if many environments take less time with the program in one warp, although it could be cut:
    its values fit into the registers of a thread, and its results are few.

    With 65,536 environments all schedulers have work, and parts compute some values twice. `rnea` of
    the quadruped then takes 8.5 us in one warp and 11.4 us in four, that of the humanoid 25.1 and
    39.7 us. Programs with more values or results take up to 1.5 times as long in one warp (H100,
    benchmarks/results/gpu_times_one_warp.json).
    """
    alive = values_alive(program.statements)
    results = sum(output.node is not None for output in program.outputs)
    registers = REGISTERS if single else REGISTERS // 2
    return alive <= registers and STATEMENTS_PER_RESULT * results <= len(program.statements)


def best_thread(program: Program, single: bool, *most_bytes: int) -> CudaThread:
    """The best cut that saves time and fits into shared memory, else the whole program.

    `most_bytes`: limits of shared memory in the order in which they are tried, until a cut saves
    enough (`GOOD_CUT`); by default that of a block without an option of the launch.
    """
    if not is_straight(program):
        return CudaThread(program, single)
    needs = Dependencies(program)
    if not needs.targets:  # every result is an input or a constant
        return CudaThread(program, single)
    whole = needs.whole().cost

    @cache
    def cuts(warps: int) -> list[WarpCut]:
        """The cuts that save time, the best one first."""
        worth = [cut for cut in needs.cuts(warps) if cut.cost <= WORTH * whole]
        return sorted(worth, key=lambda cut: cut.cost)

    found: dict[float, CudaThread] = {}
    for most in most_bytes or (STATIC_BYTES,):
        for warps in (WARPS, FEWER_WARPS):
            for cut in cuts(warps):
                if thread := thread_of_cut(program, single, cut, needs, most):
                    found.setdefault(cut.cost, thread)
                    break
            if found and min(found) <= GOOD_CUT * whole:
                return found[min(found)]
    return found[min(found)] if found else CudaThread(program, single)


def thread_of_cut(
    program: Program, single: bool, cut: WarpCut, needs: Dependencies, most_bytes: int
) -> CudaWarps | None:
    """The function of a cut; None if its exchanged values do not fit into shared memory."""
    *larger, smallest = PIECE_BYTES
    last = CudaWarps(program, single, cut, needs, smallest, most_bytes)
    if not last.has_room:
        return None
    threads = (CudaWarps(program, single, cut, needs, size, most_bytes) for size in larger)
    return next((thread for thread in threads if thread.has_room), last)


class CudaWarps(CudaThread):
    """The function of a thread of a block with several warps."""

    def __init__(
        self,
        program: Program,
        single: bool,
        cut: WarpCut,
        needs: Dependencies,
        piece_bytes: int,
        most_bytes: int,
    ):
        self.cut, self.warps, self._needs, self._piece_bytes = cut, cut.warps, needs, piece_bytes
        self._most_bytes = most_bytes
        super().__init__(program, single)

    def place_results(self) -> None:
        """Give shared memory to exchanged values and to the results."""
        staging, program = self.staging, self.program
        staging.cut_results(self._piece_bytes)
        self.owners = self._choose_owners()
        early = {s.target for s in program.statements if self.is_direct(s)}
        self.parts = WarpParts(program, self.cut, self._needs, self.owners, early)
        self._exchange = staging.size
        staging.size += LANES * self.parts.slots
        most = self._most_bytes // staging.number_bytes
        begin = staging.size
        if begin <= most and not staging.place_pieces(self.parts.times(), self._most_bytes):
            widest = max(piece.width for piece in staging.pieces)
            staging.relay, staging.size = begin, begin + self.warps * LANES * widest
            if staging.size <= most:
                staging.place_pieces(self.parts.times(), self._most_bytes)
        self.has_room = staging.size <= most
        """False if the exchanged values do not fit into shared memory."""

    def _choose_owners(self) -> list[int | None]:
        """The warp that stores each output; for a piece, the warp that computes most of it."""
        places, outputs = places_of(self.cut), self.program.outputs
        shares: dict[object, Counter[int]] = {}
        for k, output in enumerate(outputs):
            if output.node is not None:
                each = shares.setdefault(self.staging.piece_of(k) or k, Counter())
                each.update(places.get(output.node, {0: 0}).keys())
        owner = {key: each.most_common(1)[0][0] for key, each in shares.items()}
        for piece in self.staging.pieces:
            piece.warp = owner[piece]
        return [
            None if output.node is None else owner[self.staging.piece_of(k) or k]
            for k, output in enumerate(outputs)
        ]

    def threads(self) -> Iterator[str]:
        """This thread's place in its block, and its `own` environment."""
        # The shuffle tells the compiler that all lanes have the same warp.
        yield "const int warp = __shfl_sync(0xffffffffu, (int)threadIdx.x / 32, 0);"
        yield f"constexpr int lanes = 32, warps = {self.warps};"
        yield "const int lane = threadIdx.x % 32;"
        yield f"const I64 own = (I64)((unsigned)tid / {LANES * self.warps}u) * 32 + lane;"

    def late_pieces(self, warp: int) -> Iterator[str]:
        """Each warp has its own pieces, which its part declares."""
        return iter(())

    def after_reading(self) -> str:
        """Nothing: the first barrier follows the inputs that each warp reads itself."""
        return ""

    @property
    def barrier(self) -> str:
        """All warps meet. They arrive from different places in the program, so each waits for a
        number of threads (PTX ISA, bar)."""
        return f'asm volatile("bar.sync 1, {LANES * self.warps};" ::: "memory");'

    def statements(self, program: Program, dialect: Dialect) -> Iterator[str]:
        """The parts, one for each warp."""
        if program.angles:
            yield headers.piece("sines.h", "thread", self.single)
            far = FAR[self.single].format("far[k]")
            body = headers.piece("sines.h", "far", self.single, count="count", is_far=far)
            yield headers.piece("sines.h", "far_function", self.single, body=body)
        for warp in range(self.warps):
            yield f"{'else ' if warp else ''}if (warp == {warp}) {{"
            yield from self._part(warp, dialect)
            yield "}"

    def _part(self, warp: int, dialect: Dialect) -> Iterator[str]:
        """The statements of a warp."""
        self._warp = warp
        moves = {
            FETCH: lambda s: f"const T t{s.target} = {self._slot(s)};",
            PUT: lambda s: f"{self._slot(s)} = t{s.target};",
            STORE: self._store_value,
        }
        dialect = replace(dialect, moves=moves)
        yield from super().late_pieces(warp)
        front = self.parts.front[warp]
        everything = {s.target for s in front}  # outputs among them have separate statements
        direct = [s for s in front if self.is_direct(s)]
        yield from emit(self.program, direct, dialect, everything)
        yield self.barrier  # all warps have read the inputs
        rest = [s for s in front if not self.is_direct(s)]
        yield from emit(self.program, rest, dialect, everything)
        angles = self._angles(warp)
        if angles:
            yield from self.near_angles(angles)
            dialect = with_near_angles(dialect, angles)
        stored = {s.target for s in self.program.statements if s.operation == "input"}
        meet = Statement(-1, "meet", ())
        dialect = replace(dialect, moves={**moves, "meet": lambda _: self.barrier})
        statements = [s for part in self.parts.statements[warp] for s in (*part, meet)][:-1]
        yield from in_scopes(emit(self.program, statements, dialect, stored))

    def _angles(self, warp: int) -> dict[str, str]:
        """The angles of a warp, and their names within the range of the polynomials."""
        read = {
            s.arguments[0]
            for part in self.parts.statements[warp]
            for s in part
            if s.operation in ("sin", "cos")
        }
        return {f"t{angle}": f"near{angle}" for angle in self.program.angles if angle in read}

    def reduce_far(self, count: int, is_far: str) -> Iterator[str]:
        """All parts call one function, so that the library's long functions appear once."""
        yield f"Far::reduce(far, quarters, {count});"

    def _slot(self, s: Statement) -> str:
        """An exchanged value of this lane."""
        return f"stage[{self._exchange + LANES * s.arguments[0]} + lane]"

    def _store_value(self, s: Statement) -> str:
        """Stores of a value as outputs."""
        lines = []
        for negative in (False, True):
            entries = self.program.stores[s.target]
            same = [k for k in entries if self.program.outputs[k].negative is negative]
            lines.append(self.store(same, f"{'-' if negative else ''}t{s.target}"))
        return "\n".join(lines)

    def store(self, outputs: list[int], value: str) -> str:
        """Stores of a value as those of the outputs that this warp stores."""
        return super().store([k for k in outputs if self.owners[k] == self._warp], value)

    def end(self) -> Iterator[str]:
        """One warp stores the constants."""
        yield "if (warp == 0) {"
        yield from super().end()
        yield "}"
