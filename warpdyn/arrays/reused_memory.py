"""Memory of large results, NumPy's and Torch's, that nobody holds any more, for the next ones.

What the operating system hands out anew it fills with zeros at the first touch, page by page, which
can take longer than the numbers that go there.
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
"""Bytes from which on memory is kept; of smaller pieces the C library keeps enough itself."""

MOST = "WARPDYN_CACHE_MB"
"""Environment variable: how many megabytes are kept at most."""

USUAL, SHARE, ENOUGH = 256, 16, 1024
"""Megabytes where the environment does not say: the machine's memory by the second, if that is
between the first and the third. The mass matrices of 65,536 humanoids are 268 MB."""

LOOKS = 8
"""Pieces of a size that are looked at, whether somebody holds them, before there is a new one."""


class _Piece(NamedTuple):
    """Memory, and the number of the byte at which its first whole line begins."""

    raw: np.ndarray
    start: int

    @property
    def holders(self) -> int:
        """References to the memory: whatever lies in an array holds what the array was made of."""
        return sys.getrefcount(self.raw)


UNHELD = _Piece(np.empty(1, np.uint8), 0).holders


class ReusedMemory:
    """Pieces of memory by their size, those that somebody has and those that wait, `most` bytes of them."""

    def __init__(self, most: int):
        self.most = most
        self._pieces: dict[int, deque[_Piece]] = {}
        """Taken and put back without a lock: who has taken a piece is alone with it."""
        self._size = 0
        """Their bytes, or a little more."""
        self._lock = threading.Lock()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._begin_anew)

    @property
    def kept(self) -> int:
        """Bytes that wait to be used again."""
        return sum(piece.raw.size for piece in self._known() if piece.holders == UNHELD)

    def array(self, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
        """One in aligned memory; its numbers are whatever the memory held."""
        whole = -(-(prod(shape) * dtype.itemsize + ALIGNMENT) // 4096) * 4096
        pieces = self._pieces.get(whole)
        if pieces:
            for _ in range(min(len(pieces), LOOKS)):
                try:
                    piece = pieces.pop()
                except IndexError:  # another thread has it
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
        """Give all that is kept back to the operating system."""
        with self._lock:
            self._pieces = {
                size: deque(piece for piece in pieces.copy() if piece.holders != UNHELD)
                for size, pieces in [*self._pieces.items()]
            }
            self._size = sum(piece.raw.size for piece in self._known())

    def _known(self) -> Iterator[_Piece]:
        for pieces in [*self._pieces.values()]:
            yield from pieces.copy()

    def _keep(self, new: _Piece) -> None:
        """Look at a piece from now on; those of sizes that needed none for long are looked at no more."""
        whole = new.raw.size
        if whole > self.most:
            return
        with self._lock:
            pieces = self._pieces.pop(whole, deque[_Piece]())
            self._pieces[whole] = pieces  # behind the other sizes
            pieces.append(new)
            self._size += whole
            if self._size <= self.most:
                return
            # Counted anew, as others took and put back meanwhile; down to less than the bound, so that
            # who holds very many does not wait for that at each of them.
            enough = max(self.most - self.most // 8, whole)
            self._size = sum(piece.raw.size for piece in self._known())
            while self._size > enough:
                oldest, pieces = next(iter(self._pieces.items()))
                if pieces:
                    pieces.popleft()
                    self._size -= oldest
                if not pieces:
                    del self._pieces[oldest]

    def _begin_anew(self) -> None:
        """In a process that was forked, perhaps while another thread held the lock."""
        self._lock = threading.Lock()


def _most() -> int:
    """Bytes that are kept at most, as the environment says; none where threads run without the
    interpreter's lock, each with counts of its own."""
    if not getattr(sys, "_is_gil_enabled", lambda: True)():
        return 0
    told = os.environ.get(MOST)
    if told is None:
        return int(min(max(USUAL * 1e6, _memory() / SHARE), ENOUGH * 1e6))
    try:
        return int(float(told) * 1e6)
    except ValueError:
        raise ValueError(f"{MOST} must be a number of megabytes, got {told!r}") from None


def _memory() -> int:
    """Bytes of the machine's memory; 0 where the system does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return 0


MEMORY = ReusedMemory(_most())


def empty_cache() -> None:
    """Give memory of results that nobody holds any more back to the operating system.

    Large results, NumPy's and Torch's on the CPU, are written into memory of earlier ones, of which at
    most a sixteenth of the machine's memory is kept, between 256 MB and 1 GB (environment variable
    WARPDYN_CACHE_MB; 0: none).
    """
    MEMORY.clear()
