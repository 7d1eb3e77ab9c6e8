"""The folder of the cache: its location, files and tag, and warnings if it cannot be used."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from functools import cache
from pathlib import Path

from . import sealed_files
from .announcements import say

PROGRAM = re.compile(
    r"[0-9a-f]{64}\.(json|bytecode|\d+)|\.[0-9a-f]{64}\.(json|bytecode)\.[0-9a-f]{16}"
)
"""Names of programs, and of files that a killed process left while it wrote."""


def tag_cache(folder: Path) -> None:
    """Mark the folder as our cache, if it contains nothing else."""
    names = PROGRAM, re.compile(re.escape(sealed_files.TAG) + "|headers")
    files = [path.name for path in folder.iterdir()]
    ours = all(any(name.fullmatch(file) for name in names) for file in files)
    with suppress(OSError):
        sealed_files.tag_folder(folder, ours)


@cache
def tell_distrusted(folder: Path, reason: str) -> None:
    """Print the warning once."""
    say(
        f"warning: the cache {folder} is not used, for {reason}, and what lies in it would run as "
        f"you. Set WARPDYN_CACHE_DIR to a folder of your own, or {sealed_files.SHARED}=1 if you "
        "trust all who can write there"
    )


@cache
def tell_unwritable(folder: Path, reason: str) -> None:
    """Print the warning once."""
    say(
        f"warning: programs cannot be kept in {folder} ({reason}); every process records them "
        "anew. Set WARPDYN_CACHE_DIR to a folder that can be written"
    )


def cache_directory() -> Path:
    """Folder for recorded programs: WARPDYN_CACHE_DIR, or the user's cache. Warp has its own folder
    for compiled kernels."""
    root = os.environ.get("WARPDYN_CACHE_DIR")
    return (
        Path(root)
        if root
        else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "warpdyn"
    )


def kept_programs() -> list[Path]:
    """Files of the cached programs, and leftovers of interrupted writes."""
    folder = cache_directory()
    files = folder.iterdir() if folder.is_dir() else ()
    return sorted(path for path in files if PROGRAM.fullmatch(path.name))
