"""Cache files that carry a hash of their content, and whose owner is checked.

A file begins with a line that holds the SHA-256 of its name and content. A reader accepts only
files that match; incomplete and damaged files are removed and made again. Files that another user
owns or can write are rejected, because our caches hold code that runs in this process.
"""

from __future__ import annotations

import grp
import hashlib
import os
import pwd
import secrets
import stat
from contextlib import suppress
from functools import cache
from pathlib import Path

SHARED = "WARPDYN_CACHE_SHARED"
"""Environment variable. 1: trust all users who can write to the caches."""

MAGIC = b"warpdyn cache 1 "
LARGEST = 1 << 28
"""Largest size of an entry in bytes."""

TAG = "CACHEDIR.TAG"
TAG_TEXT = """Signature: 8a477f597d28d172789f06886806bc55
# This file says that warpdyn keeps a cache here, which may be removed at any time.
# For information about cache directory tags see https://bford.info/cachedir/
"""


def is_shared() -> bool:
    """True if all users who can write to the caches are trusted."""
    return os.environ.get(SHARED, "0") not in ("", "0")


def distrust(status: os.stat_result) -> str:
    """Reason why another user may have written a file or folder; empty if only this user and root
    can."""
    if is_shared():
        return ""
    if status.st_uid not in (os.geteuid(), 0):
        return f"it belongs to user {status.st_uid}"
    if status.st_mode & stat.S_IWOTH:
        return "every user can write to it"
    if status.st_mode & stat.S_IWGRP and not _is_private(status.st_gid):
        return f"group {status.st_gid} can write to it"
    return ""


@cache
def _is_private(group: int) -> bool:
    """True if this user is the group's only member, as in the default groups of many systems."""
    if group == 0 and os.geteuid() == 0:
        return True
    try:
        user, entry = pwd.getpwuid(os.geteuid()), grp.getgrgid(group)
    except KeyError:
        return False
    named_alike = entry.gr_name == user.pw_name and user.pw_gid == group
    return named_alike and set(entry.gr_mem) <= {user.pw_name}


def distrust_folder(folder: Path, link: bool = False) -> str:
    """Reason why a folder cannot be used; empty if it can, or does not exist. `link`: accept a link
    to a folder, such as one that the user named."""
    try:
        status = folder.stat() if link else folder.lstat()
    except OSError:
        return ""
    if stat.S_ISLNK(status.st_mode):
        return "it is a link"
    return distrust(status)


def make_folder(folder: Path) -> None:
    """Make a folder and its missing parents, for this user only."""
    missing = []
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    for each in reversed(missing):
        each.mkdir(0o777 if is_shared() else 0o700, exist_ok=True)


def tag_folder(folder: Path, is_ours: bool) -> None:
    """Mark a folder as our cache, but not if it has other files, because backup programs would then
    skip them."""
    if is_ours and not (folder / TAG).exists():
        with suppress(FileExistsError):
            _write_new(folder / TAG, TAG_TEXT.encode())


def is_tagged(folder: Path) -> bool:
    """True if a folder is marked as our cache."""
    return read_regular(folder / TAG, len(TAG_TEXT)) == TAG_TEXT.encode()


def read_regular(path: Path, largest: int = LARGEST) -> bytes | None:
    """Content of a file; None if it is not a regular file, is a link, is too large, or is not
    trusted."""
    try:
        # O_NONBLOCK, because a FIFO would wait for a writer.
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    status = os.fstat(file)
    if not stat.S_ISREG(status.st_mode) or status.st_size > largest or distrust(status):
        os.close(file)
        return None
    with os.fdopen(file, "rb") as stream:
        return stream.read(largest)


def read(path: Path) -> bytes | None:
    """The content of an entry; None if there is none. A damaged entry is removed."""
    whole = read_regular(path)
    if whole is not None:
        start, _, content = whole.partition(b"\n")
        if start == _seal(path, content):
            return content
    discard(path)
    return None


def write(path: Path, content: bytes) -> None:
    """Write an entry completely or not at all; OSError if that fails."""
    make_folder(path.parent)
    part = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        _write_new(part, _seal(path, content) + b"\n" + content)
        part.replace(path)
    except BaseException:
        with suppress(OSError):
            part.unlink()
        raise


def _seal(path: Path, content: bytes) -> bytes:
    """The first line of an entry. It covers the name, so that an entry is not valid under another
    name."""
    digest = hashlib.sha256(os.fsencode(path.name) + b"\n" + content)
    return MAGIC + digest.hexdigest().encode()


def _write_new(path: Path, content: bytes) -> None:
    """Write a file that does not exist yet, and flush it to the disk."""
    mode = 0o666 if is_shared() else 0o600
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(path, flags, mode), "wb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())


def discard(path: Path) -> None:
    """Remove the file, link or empty folder in the place of an entry."""
    with suppress(OSError):
        if stat.S_ISDIR(path.lstat().st_mode):
            path.rmdir()
        else:
            path.unlink()
