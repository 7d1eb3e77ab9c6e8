"""Files that strangers may have written or named: regular ones only, and of a bounded size.

All readers of descriptions, meshes, materials and textures read by `read_regular_file`. A pipe is
never waited for, a device is never read, and what a file says of its own size is not believed.
"""

from __future__ import annotations

import io
import os
import stat
import zipfile
from pathlib import Path

DESCRIPTION = 64 * 2**20
"""Bytes of a robot's description; the largest known ones have a few MB."""

STAGE = 2**30
"""Bytes of a USD stage, which has its meshes in it."""

READING = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC
"""How a file is opened: a pipe without a writer does not hold the reader up."""


class RefusedFileError(ValueError):
    """Why a file is not read, with the remedy: the end of a sentence that begins with its name."""


def read_regular_file(file: str | os.PathLike[str], most: int, remedy: str) -> bytes:
    """The bytes of a regular file of at most `most` bytes.

    remedy: what to do about another one, the end of a sentence: "give the path of a URDF file".

    Raises RefusedFileError for a folder, a pipe, a socket, a device or a larger file, and OSError where
    the system says no (FileNotFoundError among them).
    """
    # A device is not even opened: that alone may wind a tape or raise a line of a modem.
    check_regular_file(file, most, remedy)
    handle = os.open(file, READING)
    with os.fdopen(handle, "rb") as opened:
        _check(os.fstat(handle), most, remedy)  # it may have been replaced
        data = opened.read(most + 1)
    if len(data) > most:  # it grew, or the system does not know its size, as of files in /proc
        raise RefusedFileError(too_large(len(data), most, remedy))
    return data


def check_regular_file(file: str | os.PathLike[str], most: int, remedy: str) -> None:
    """Refuse what `read_regular_file` would refuse, unread."""
    _check(Path(file).stat(), most, remedy)


def check_unpacked(data: bytes, most: int, remedy: str) -> None:
    """Refuse a zip archive whose files have more than `most` bytes together once they are unpacked.

    What is no archive passes. No reader unpacks more of a file than its entry in the archive says.
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
    """The end of a sentence that refuses what is too large, beginning with its name."""
    return f"has {_megabytes(size)}, more than the {_megabytes(most)} that are read; {remedy}"


def _megabytes(size: int) -> str:
    return f"{size / 2**20:,.0f} MiB" if size >= 2**20 else f"{size:,} bytes"
