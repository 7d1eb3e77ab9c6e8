"""Policy of memory layout: the placement of arrays, the choices of launches, and the reasons for
each number.

Constants of generated code are in `codegen/lanes.py` and `codegen/cpu.py`, because they are part of
a program.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple

FOLDER = Path("/sys/devices/system/cpu/cpu0/cache")


class Cache(NamedTuple):
    """A cache that holds data: its level from 1 on, and its bytes, which several cores may share."""

    level: int
    size: int


@cache
def data_caches(folder: Path = FOLDER) -> tuple[Cache, ...]:
    """Data caches of the first core, the nearest first; () if the system does not report them."""
    found = []
    for place in folder.glob("index*"):
        try:
            kind, level, size = (
                (place / name).read_text().strip() for name in ("type", "level", "size")
            )
            if kind != "Instruction":
                unit = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}[size[-1]]
                found.append(Cache(int(level), int(size[:-1]) * unit))
        except (OSError, ValueError, KeyError, IndexError):
            continue
    return tuple(sorted(found))


def last_level_cache() -> int | None:
    """Bytes of the last-level cache, which cores share; None if the system does not report it."""
    found = data_caches()
    return found[-1].size if found else None


ALIGNMENT = 64
"""Alignment in bytes: a cache line, and a vector of lanes."""

ALIGNED_FROM = 8192
"""Number of entries from which NumPy memory is aligned to lines. Aligned memory takes 1.2 us longer
to make, which is more than stores across two lines cost for fewer entries."""

LINES_OF_PAGE = 4096 // ALIGNMENT

UNTOLD = 16 << 20
"""Assumed bytes of the last-level cache if the system does not report it."""

ROWS_FROM = last_level_cache() or UNTOLD
STREAM_FROM = ROWS_FROM // 8
"""Batches of more bytes than this write their results past the cache. It is an eighth of the cache,
because other cores share the cache, and the code that follows reads the results. Mass matrices of a
32-joint robot, environments side by side, ns for one, written; written and then read once by NumPy
(Intel Xeon at 2.5 GHz, 1 MiB of second and 36 MiB of last level, two cores of more):

    MiB             2        4        8       16       64
    in the cache    83, 488  113, 555 182, 821 389, 984 443, 812
    past it        180, 549  180, 572 180, 699 184, 729 186, 556

For results in rows the limit is `ROWS_FROM`: the cache takes lines of a row as they come, and
writes them back while the next are computed. The same matrices in rows, 16 MiB, take 538 and 491;
poses of all its links take 501 in the cache and 716 past it (a cache that has to read the lines
that are overwritten, as AMD's do, is slower).
"""

BLOCK = 16
"""Block size of threads: whole blocks of environments, one vector of float32 lanes or two of
float64.

No two threads write to the same cache line if environments lie side by side.
"""

LOOP_BLOCK = 512
"""The same for a kernel that loops: at a slice's end, lanes idle until the slowest is done."""


def padded_count(count: int, single: bool) -> int:
    """Leading dimension for `count` environments side by side: one rule for all memory made here.

    It is an odd number of cache lines, and not a multiple of eight pages if it is 32 pages or more.
    Rows whose distance is an even number of lines share fewer sets of the cache, and fewest for
    powers of two: all links of a 7-joint arm, 16,384 environments, take 33 ns each to write with
    rows 64 KiB apart, and 15 with a line between; with 65,408 environments, rows 512 bytes from a
    multiple of 4
    KiB, 33 and 14. The same holds for pages in the translation lookaside buffer: the gradient of a
    32-joint robot's rnea, 218 rows 256 KiB and a line apart, takes 132 ns, 113 with three pages
    more between them, and 113 with few environments (one core, AVX-512; one page more is worse for
    stores).
    """
    per_line = ALIGNMENT // (4 if single else 8)
    lines = -(-count // per_line) | 1
    pages = lines // LINES_OF_PAGE
    if pages >= 32 and pages % 8 == 0:
        lines += 3 * LINES_OF_PAGE
    return lines * per_line
