"""Safe reading of untrusted files: regular files only, and of a bounded size.

All readers of descriptions, meshes, materials and textures use `read_regular_file`. It never waits
for a pipe, never reads a device, and never trusts the size that a file states.
"""

from __future__ import annotations

import io
import os
import stat
import zipfile
from pathlib import Path

DESCRIPTION = 64 * 2**20
"""Largest robot description in bytes; the largest known ones have a few MB."""

STAGE = 2**30
"""Largest USD stage in bytes; a stage contains its meshes."""

READING = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC
"""Flags for opening a file: a pipe without a writer does not block the reader."""


class RefusedFileError(ValueError):
    """The reason why a file is not read, with the remedy, worded as the end of a sentence that
    begins with its name."""


def read_regular_file(file: str | os.PathLike[str], most: int, remedy: str) -> bytes:
    """The bytes of a regular file of at most `most` bytes.

    remedy: advice for any other file, worded as the end of a sentence: "give the path of a URDF
    file".

    Raises RefusedFileError for a folder, a pipe, a socket, a device or a larger file, and OSError
    if the operating system refuses (FileNotFoundError among others).
    """
    # A device is not even opened: opening alone may wind a tape or raise a line of a modem.
    check_regular_file(file, most, remedy)
    handle = os.open(file, READING)
    with os.fdopen(handle, "rb") as opened:
        _check(os.fstat(handle), most, remedy)  # it may have been replaced
        data = opened.read(most + 1)
    if len(data) > most:  # it grew, or the system does not know its size, as for files in /proc
        raise RefusedFileError(too_large(len(data), most, remedy))
    return data


def check_regular_file(file: str | os.PathLike[str], most: int, remedy: str) -> None:
    """Refuse a file that `read_regular_file` would refuse, without reading it."""
    _check(Path(file).stat(), most, remedy)


def check_unpacked(data: bytes, most: int, remedy: str) -> None:
    """Refuse a zip archive whose files have more than `most` bytes together once they are unpacked.

    Other files pass. No reader unpacks more of a file than its entry in the archive states.
    """
    if not zipfile.is_zipfile(io.BytesIO(data)):
        return
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        size = sum(each.file_size for each in archive.infolist())
    if size > most:
        raise RefusedFileError(f"unpacked {too_large(size, most, remedy)}")


def _check(status: os.stat_result, most: int, remedy: str) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise RefusedFileError(f"is a directory; {remedy}")
    if not stat.S_ISREG(status.st_mode):
        raise RefusedFileError(f"is a pipe, a socket or a device; {remedy}")
    if status.st_size > most:
        raise RefusedFileError(too_large(status.st_size, most, remedy))


def too_large(size: int, most: int, remedy: str) -> str:
    """The end of a sentence that refuses a file as too large, beginning with its name."""
    return f"has {_megabytes(size)}, more than the {_megabytes(most)} that are read; {remedy}"


def _megabytes(size: int) -> str:
    return f"{size / 2**20:,.0f} MiB" if size >= 2**20 else f"{size:,} bytes"
