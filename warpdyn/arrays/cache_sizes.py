"""Sizes of the processor's caches, as Linux reports them."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple

FOLDER = Path("/sys/devices/system/cpu/cpu0/cache")


class Cache(NamedTuple):
    """A data cache: its level, counted from 1, and its size in bytes. Several cores may share
    it."""

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
    """Size in bytes of the last-level cache, which cores share; None if the system does not report
    it."""
    found = data_caches()
    return found[-1].size if found else None
