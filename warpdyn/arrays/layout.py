"""How arrays lie in memory, and what launches make of it: every number of that policy, with why it is so.

Constants of generated code (`codegen/lanes.py`, `codegen/cpu.py`) stand there: they are part of a program.
"""

from __future__ import annotations

ALIGNMENT = 64
"""Bytes: a cache line, and a vector of lanes."""

ALIGNED_FROM = 1024
"""Entries from which on NumPy memory is aligned, which is for streaming stores; small arrays are made faster."""

LINES_OF_PAGE = 4096 // ALIGNMENT

STREAM_FROM, STAGE_FROM = 2 << 20, 4 << 20
"""Batches of more bytes than this bypass the cache with their results; rows end to end from the second on."""

BLOCK = 16
"""Threads take whole blocks of environments: the lanes of a float32 kernel, two of a float64 one."""

LOOP_BLOCK = 512
"""The same for a kernel that loops: at the end of a slice, lanes are idle until the slowest environment is done."""


def padded(count: int, single: bool) -> int:
    """Leading dimension for `count` environments side by side, the one law for all memory that warpdyn makes.

    An odd number of cache lines, and no multiple of eight pages where that is 32 or more. Rows an even number of lines
    apart share fewer of the cache's sets, a power of two the fewest: all links of a 7-joint arm, 16,384 environments,
    take 33 ns each to write with rows 64 KiB apart, and 15 with a line between; with 65,408 environments, rows 512
    bytes beside a multiple of 4 KiB, 33 and 14. The same of pages in the table of translations: the gradient of a
    32-joint robot's rnea, 218 rows 256 KiB and a line apart, takes 132 ns, 113 with three pages more between them, and
    113 with few environments (one core, AVX-512; one page more is worse for stores).
    """
    per_line = ALIGNMENT // (4 if single else 8)
    lines = -(-count // per_line) | 1
    pages = lines // LINES_OF_PAGE
    if pages >= 32 and pages % 8 == 0:
        lines += 3 * LINES_OF_PAGE
    return lines * per_line
