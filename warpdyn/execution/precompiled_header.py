"""Warp's headers, parsed once for all processes.

Every CPU kernel includes Warp's headers. Warp parses them once in each thread of each process that
compiles, into a precompiled header (PCH) in a temporary folder, which it deletes at exit. Measured,
CPU seconds for a kernel of 14 operations (Intel Xeon at 2.5 GHz, medians of alternating processes):

    header                              first kernel   each further one
    Warp's, made anew by each process   2.9            0.37
    none (use_precompiled_headers)      2.0            2.0
    kept, copied from our cache         0.34           0.38

So a header is always made, and kept in our cache: the next thread or process copies it to where its
compiler looks. The compiled kernels are the same bytes in all three cases. Clang refuses a header
that does not fit; Warp then compiles without it and deletes the copy, and we drop what we kept.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

import warp as wp
from warp._src import context

from .cache import cache_directory

HEADERS = "headers"
"""The folder within our cache."""


@contextmanager
def shared_header() -> Iterator[None]:
    """Compile with the header that is kept, and keep the one that is made."""
    place = compiler_folder()
    if place is None:
        yield
        return
    kept = kept_headers()
    lent = set()
    for path in sorted(kept.glob("*.pch")):
        with suppress(OSError):
            if not (place / path.name).exists():
                shutil.copyfile(path, place / path.name)
            lent.add(path.name)
    yield
    with suppress(OSError):  # a cache that cannot be written costs time alone
        made = {path.name for path in place.glob("*.pch")}
        for name in lent - made:
            (kept / name).unlink()  # Clang refused it
        for name in made - lent:
            kept.mkdir(parents=True, exist_ok=True)
            partial = kept / f"{name}.{os.getpid()}.{threading.get_ident()}"
            shutil.copyfile(place / name, partial)
            partial.replace(kept / name)


def has_header() -> bool:
    """Whether the next CPU kernel finds the headers parsed."""
    place = compiler_folder()
    folders = [] if place is None else [place, kept_headers()]
    return any(path for folder in folders for path in folder.glob("*.pch"))


def compiler_folder() -> Path | None:
    """Where the compiler of this thread looks for a header; None where Warp has no such place.

    Warp has no public name for it: without `get_clang_pch_dir` every process makes its own header,
    as Warp has it.
    """
    folder = getattr(getattr(context, "runtime", None), "get_clang_pch_dir", None)
    if folder is None or not wp.config.use_precompiled_headers:
        return None
    place = folder()
    return None if place is None else Path(place)


def kept_headers() -> Path:
    """The folder in our cache for this installation of Warp on this kind of processor."""
    return cache_directory() / HEADERS / _fingerprint(wp.get_cpu_kernel_cache_key())


@cache
def _fingerprint(target: str) -> str:
    """A hash of what a header depends on: the target, and the headers and compiler as they lie."""
    digest = hashlib.sha256(target.encode())
    home = Path(wp.__file__).parent
    for path in [home / "native" / "builtin.h", *sorted((home / "bin").glob("warp-clang*"))]:
        stat = path.stat()
        digest.update(f"{path} {stat.st_size} {stat.st_mtime_ns}".encode())
    return digest.hexdigest()[:16]
