"""Reuse of the memory of large NumPy and Torch results after their arrays have been freed.

The operating system fills new memory with zeros at the first touch, page by page, which
can take longer than writing the results.
"""

from __future__ import annotations

import os
import sys
import threading
from collections import deque
from collections.abc import Iterator
from math import prod
from typing import NamedTuple

import numpy as np

from .layout import ALIGNMENT

REUSED_FROM = 1 << 17
"""Size in bytes from which memory is kept; the C library itself keeps enough of smaller pieces."""

MOST = "WARPDYN_CACHE_MB"
"""Environment variable for the largest amount of kept memory in megabytes."""

USUAL, SHARE, ENOUGH = 256, 16, 1024
"""Default amount in megabytes: the machine's memory divided by the second number, clamped to
the first and the third. The mass matrices of 65,536 humanoids are 268 MB."""

LOOKS = 8
"""Number of pieces of a size that are tried before a new one is made."""


class _Piece(NamedTuple):
    """Memory, and the index of the byte at which its first whole line begins."""

    raw: np.ndarray
    start: int

    @property
    def holders(self) -> int:
        """Number of references to the memory: every view of an array keeps a reference to the
        array's memory."""
        return sys.getrefcount(self.raw)


UNHELD = _Piece(np.empty(1, np.uint8), 0).holders


class ReusedMemory:
    """Pieces of memory by size, both in use and waiting for reuse, up to `most` bytes."""

    def __init__(self, most: int):
        self.most = most
        self._pieces: dict[int, deque[_Piece]] = {}
        """Pieces are taken and put back without a lock: a thread that has taken a piece has it
        alone."""
        self._size = 0
        """Total bytes of the pieces, or more. They are counted again before a piece is dropped."""
        self._lock = threading.Lock()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._begin_anew)

    @property
    def waiting_bytes(self) -> int:
        """Bytes that wait for reuse."""
        return sum(piece.raw.size for piece in self._all_pieces() if piece.holders == UNHELD)

    def array(self, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
        """An array in aligned memory, with undefined entries."""
        whole = -(-(prod(shape) * dtype.itemsize + ALIGNMENT) // 4096) * 4096
        pieces = self._pieces.get(whole)
        if pieces:
            for _ in range(min(len(pieces), LOOKS)):
                try:
                    piece = pieces.pop()
                except IndexError:  # another thread took it
                    break
                if piece.holders == UNHELD:
                    array = np.ndarray(shape, dtype, *piece)
                    pieces.append(piece)
                    return array
                pieces.appendleft(piece)
        raw = np.empty(whole, np.uint8)
        piece = _Piece(raw, -raw.__array_interface__["data"][0] % ALIGNMENT)
        array = np.ndarray(shape, dtype, *piece)
        self._keep(piece)
        return array

    def clear(self) -> None:
        """Return all waiting memory to the operating system."""
        with self._lock:
            self._pieces = {
                size: deque(piece for piece in pieces.copy() if piece.holders != UNHELD)
                for size, pieces in [*self._pieces.items()]
            }

    def _all_pieces(self) -> Iterator[_Piece]:
        for pieces in [*self._pieces.values()]:
            yield from pieces.copy()

    def _keep(self, new: _Piece) -> None:
        """Keep a piece from now on. If the pieces then exceed the bound, drop pieces of the sizes
        that have been unused for longest."""
        whole = new.raw.size
        if whole > self.most:
            return
        with self._lock:
            pieces = self._pieces.pop(whole, deque[_Piece]())
            self._pieces[whole] = pieces  # after the other sizes
            pieces.append(new)
            self._size += whole
            if self._size <= self.most:
                return
            # The size is counted anew, because other threads took and put back pieces meanwhile. It
            # is reduced to below the bound, so that a caller with very many pieces does not count
            # at each of them.
            enough = max(self.most - self.most // 8, whole)
            self._size = sum(piece.raw.size for piece in self._all_pieces())
            while self._size > enough:
                oldest, pieces = next(iter(self._pieces.items()))
                if pieces:
                    pieces.popleft()
                    self._size -= oldest
                if not pieces:
                    del self._pieces[oldest]

    def _begin_anew(self) -> None:
        """Renew the lock in a forked process: another thread may have held it at the fork."""
        self._lock = threading.Lock()


def _most() -> int:
    """Largest number of bytes that are kept, from the environment variable; 0 if threads run
    without the interpreter's lock, because reference counts are then kept per thread."""
    if not getattr(sys, "_is_gil_enabled", lambda: True)():
        return 0
    setting = os.environ.get(MOST)
    if setting is None:
        return int(min(max(USUAL * 1e6, _memory() / SHARE), ENOUGH * 1e6))
    try:
        return int(float(setting) * 1e6)
    except ValueError:
        raise ValueError(f"{MOST} must be a number of megabytes, got {setting!r}") from None


def _memory() -> int:
    """Bytes of the machine's memory; 0 if the system does not report it."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return 0


MEMORY = ReusedMemory(_most())


def empty_cache() -> None:
    """Return the memory of freed results to the operating system.

    Large NumPy results, and large Torch results on the CPU, reuse the memory of freed results. The
    amount of memory kept for reuse is at most a sixteenth of the machine's memory, but at least
    256 MB and at most 1 GB. The environment variable WARPDYN_CACHE_MB changes this amount (0:
    none).
    """
    MEMORY.clear()
