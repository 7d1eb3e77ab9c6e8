"""Warp's headers, parsed once for all processes.

Every CPU kernel includes Warp's headers. Warp parses them once in each thread of each process that
compiles, into a precompiled header (PCH) in a temporary folder, which it deletes at exit. Measured
CPU seconds for a kernel of 14 operations (Intel Xeon at 2.5 GHz, medians of alternating processes):

    header                              first kernel   each further one
    Warp's, made anew by each process   2.9            0.37
    none (use_precompiled_headers)      2.0            2.0
    kept, copied from our cache         0.34           0.38

Therefore a header is always made and kept in our cache. The next thread or process copies it to the
folder where its compiler looks. The compiled kernels are the same bytes in all three cases. Clang
rejects a header that does not fit. Warp then compiles without it and deletes the copy, and we
delete the cached header.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import warp as wp
from warp._src import context

from . import sealed_files
from .cache_folder import cache_directory, tag_cache, tell_unwritable

HEADERS = "headers"
"""The folder's name within our cache."""


@contextmanager
def shared_header() -> Iterator[None]:
    """Compile with the cached header, and cache a header that the compiler makes."""
    place = compiler_folder()
    if place is None:
        yield
        return
    kept, lent = kept_headers(), set()
    for path in _files(kept):
        if (place / path.name).exists() or _lend(path, place / path.name):
            lent.add(path.name)
    yield
    made = {path.name for path in place.glob("*.pch")}
    for name in lent - made:
        sealed_files.discard(kept / name)  # Clang rejected it
    if made - lent and not _reason_for_distrust(kept):
        _keep([place / name for name in made - lent], kept)


def _lend(kept: Path, target: Path) -> bool:
    """Copy a header to the compiler's folder; True if the copy is complete."""
    content = sealed_files.read(kept)
    if content is None:
        return False
    try:
        target.write_bytes(content)
    except OSError:  # a full disk
        target.unlink(missing_ok=True)
        return False
    return True


def _keep(headers: list[Path], kept: Path) -> None:
    """Cache headers for other processes; if the cache cannot be written, this prints a warning."""
    try:
        sealed_files.make_folder(kept)
        tag_cache(cache_directory())
        for path in headers:
            sealed_files.write(kept / path.name, path.read_bytes())
    except OSError as error:
        tell_unwritable(cache_directory(), str(error.strerror))


def _reason_for_distrust(kept: Path) -> str:
    """Reason why a header's folder, or its parent in our cache, cannot be used; empty if it can."""
    folders = (kept, kept.parent)
    reasons = [sealed_files.distrust_folder(folder) for folder in folders]
    reasons.append(sealed_files.distrust_folder(cache_directory(), link=True))
    return next(filter(None, reasons), "")


def _files(kept: Path) -> list[Path]:
    """The usable headers in a folder."""
    return [] if _reason_for_distrust(kept) else sorted(kept.glob("*.pch"))


def header_files() -> list[Path]:
    """Headers of all installations of Warp in our cache, and files that a killed process left."""
    top = cache_directory() / HEADERS
    found = []
    if top.is_dir() and not top.is_symlink():
        folders = (each for each in top.iterdir() if _FOLDER.fullmatch(each.name))
        for folder in folders:
            if folder.is_dir() and not folder.is_symlink():
                found += [file for file in folder.iterdir() if _HEADER.fullmatch(file.name)]
    return sorted(found)


_FOLDER = re.compile("[0-9a-f]{16}")
_HEADER = re.compile(r"\.?builtin[\w-]*\.pch(\.[\w.]+)?")


def has_header() -> bool:
    """True if the next CPU kernel finds parsed headers."""
    place = compiler_folder()
    return place is not None and any((*place.glob("*.pch"), *_files(kept_headers())))


def compiler_folder() -> Path | None:
    """The folder in which this thread's compiler looks for a header; None if Warp has no such folder.

    Warp has no public name for it. Without `get_clang_pch_dir` every process makes its own header,
    which is Warp's default.
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
    """A hash of a header's inputs: the target, and the files of Warp's headers and compiler."""
    digest = hashlib.sha256(target.encode())
    home = Path(wp.__file__).parent
    for path in [home / "native" / "builtin.h", *sorted((home / "bin").glob("warp-clang*"))]:
        stat = path.stat()
        digest.update(f"{path} {stat.st_size} {stat.st_mtime_ns}".encode())
    return digest.hexdigest()[:16]


def _forget_folders() -> None:
    """Forget the compiler's folders in a forked process: they belong to its parent, which still uses them,
    and Python would delete them at the end of this process."""
    folders = getattr(getattr(context, "runtime", None), "_pch_dirs", {})
    for folder in folders.values():
        folder._finalizer.detach()
    folders.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_folders)
