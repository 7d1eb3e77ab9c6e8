"""Sizes of the processor's caches, as Linux tells them."""

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
    """Caches of the first core that hold data, the nearest first; () where the system does not say."""
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
    """Bytes of the furthest cache, which cores share; None where the system does not say."""
    found = data_caches()
    return found[-1].size if found else None
