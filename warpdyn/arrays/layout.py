"""Policy of memory layout: how arrays lie, what launches make of it, and why each number is so.

Constants of generated code (`codegen/lanes.py`, `codegen/cpu.py`) stand there: they are part of a
program.
"""

from __future__ import annotations

ALIGNMENT = 64
"""Bytes: a cache line, and a vector of lanes."""

ALIGNED_FROM = 1024
"""Entries from which on NumPy memory is aligned for streaming stores; small arrays save the
time."""

LINES_OF_PAGE = 4096 // ALIGNMENT

STREAM_FROM, STAGE_FROM = 2 << 20, 4 << 20
"""Batches of more bytes than the first bypass the cache with their results; from the second on they
are staged, so that rows are written end to end."""

BLOCK = 16
"""Threads take whole blocks of environments: one vector of float32 lanes, two of float64.

No two threads write one cache line where environments lie side by side.
"""

LOOP_BLOCK = 512
"""The same for a kernel that loops: at a slice's end, lanes idle until the slowest is done."""


def padded(count: int, single: bool) -> int:
    """Leading dimension for `count` environments side by side: one law for all memory made here.

    An odd number of cache lines, and no multiple of eight pages where that is 32 or more. Rows an
    even number of lines apart share fewer of the cache's sets, a power of two the fewest: all links
    of a 7-joint arm, 16,384 environments, take 33 ns each to write with rows 64 KiB apart, and 15
    with a line between; with 65,408 environments, rows 512 bytes beside a multiple of 4 KiB, 33 and
    14. The same of pages in the table of translations: the gradient of a 32-joint robot's rnea, 218
    rows 256 KiB and a line apart, takes 132 ns, 113 with three pages more between them, and 113
    with few environments (one core, AVX-512; one page more is worse for stores).
    """
    per_line = ALIGNMENT // (4 if single else 8)
    lines = -(-count // per_line) | 1
    pages = lines // LINES_OF_PAGE
    if pages >= 32 and pages % 8 == 0:
        lines += 3 * LINES_OF_PAGE
    return lines * per_line
