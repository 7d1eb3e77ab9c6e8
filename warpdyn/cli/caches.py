"""`warpdyn cache`: where recorded programs and compiled kernels are kept, how much, and away with
it."""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..execution.cache import cache_directory, kept_programs
from ..execution.kernel_cache import kernel_cache_directory, kernel_folders
from ..execution.precompiled_header import HEADERS
from .command_line import UserError, start_warp


@dataclass(frozen=True)
class Holding:
    """One kind of thing that is kept."""

    what: str
    place: Path
    variable: str
    """The environment variable that moves it."""
    entries: Sequence[Path]
    """Files or folders."""

    @property
    def bytes(self) -> int:
        """Size of all files."""
        return sum(size_of(entry) for entry in self.entries)


def show_caches(args: argparse.Namespace) -> int:
    """A line for each cache; with `--empty`, what was in it is removed."""
    start_warp()
    for each in holdings():
        count, size = len(each.entries), each.bytes / 1e6
        print(f"{each.what:17} {count:6,} {size:9,.1f} MB  {each.place}  ({each.variable})")
        if args.empty:
            for entry in each.entries:
                remove(entry)
    if args.empty:
        print("emptied")
    return 0


def holdings() -> list[Holding]:
    """Programs and headers, which are ours, and our kernels in Warp's cache."""
    ours, headers = cache_directory(), cache_directory() / HEADERS
    parsed = sorted(headers.iterdir()) if headers.is_dir() else []
    kernels = kernel_cache_directory()
    return [
        Holding("programs", ours, "WARPDYN_CACHE_DIR", kept_programs()),
        Holding("parsed headers", headers, "WARPDYN_CACHE_DIR", parsed),
        Holding("compiled kernels", kernels, "WARP_CACHE_PATH", kernel_folders()),
    ]


def size_of(entry: Path) -> int:
    """Bytes of a file, or of all files in a folder."""
    files = entry.rglob("*") if entry.is_dir() else [entry]
    return sum(path.stat().st_size for path in files if path.is_file())


def remove(entry: Path) -> None:
    """Remove a file or a folder; one that another process removed is gone as well."""
    try:
        if entry.is_dir():
            shutil.rmtree(entry)
        else:
            entry.unlink()
    except FileNotFoundError:
        pass
    except OSError as error:
        raise UserError(f"cannot remove {entry}: {error.strerror}") from None
