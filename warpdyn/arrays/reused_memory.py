"""Memory of large results, NumPy's and Torch's, that nobody holds any more, for the next ones.

What the operating system hands out anew it fills with zeros at the first touch, page by page, which
can take longer than the numbers that go there.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from typing import Any, NamedTuple

import numpy as np

from .layout import ALIGNMENT

REUSED_FROM = 1 << 17
"""Bytes from which on memory is kept; of smaller pieces the C library keeps enough itself."""

MOST = "WARPDYN_CACHE_MB"
"""Environment variable: how many megabytes are kept at most."""

USUAL, SHARE, ENOUGH = 256, 16, 1024
"""Megabytes where the environment does not say: the machine's memory by the second, if that is
between the first and the third. The mass matrices of 65,536 humanoids are 268 MB."""


class _Piece(NamedTuple):
    """Memory, and where in it the first whole line begins: to ask an array for it takes 3 us."""

    raw: np.ndarray
    start: int


class _Lent:
    """A piece of memory that somebody has; it comes back when the last array in it is gone."""

    __slots__ = ("__array_interface__", "_piece", "_pool")

    def __init__(self, pool: ReusedMemory, piece: _Piece, size: int):
        self._pool, self._piece = pool, piece
        interface: dict[str, Any] = {"shape": (size,), "typestr": "|u1", "version": 3}
        interface["data"] = (piece.start, False)
        self.__array_interface__ = interface

    def __del__(self) -> None:
        self._pool.take_back(self._piece)


class ReusedMemory:
    """Pieces of memory by their size, `most` bytes of them."""

    def __init__(self, most: int):
        self.most = most
        self._idle: dict[int, list[_Piece]] = {}
        self._size = 0
        self._returned: deque[_Piece] = deque()
        """Pieces that came back, perhaps in the middle of another call, and are not sorted in yet."""
        self._lock = threading.Lock()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._begin_anew)

    @property
    def kept(self) -> int:
        """Bytes that wait to be used again."""
        with self._lock:
            self._sort_in()
            return self._size

    def bytes(self, size: int) -> np.ndarray:
        """(size,) uint8, aligned; its numbers are whatever the memory held."""
        whole = -(-(size + ALIGNMENT) // 4096) * 4096
        piece = None
        with self._lock:
            self._sort_in()
            waiting = self._idle.get(whole)
            if waiting:
                piece = waiting.pop()
                self._size -= whole
                if not waiting:
                    del self._idle[whole]
        if piece is None:
            raw = np.empty(whole, np.uint8)
            address = raw.__array_interface__["data"][0]
            piece = _Piece(raw, address + -address % ALIGNMENT)
        return np.asarray(_Lent(self, piece, size))

    def take_back(self, piece: _Piece) -> None:
        """Keep a piece, unless there is enough already. Never waits: a collection may come here from
        anywhere."""
        if piece.raw.size <= self.most:
            self._returned.append(piece)
        if self._lock.acquire(blocking=False):
            try:
                self._sort_in()
            finally:
                self._lock.release()

    def clear(self) -> None:
        """Give all that is kept back to the operating system."""
        with self._lock:
            self._sort_in()
            self._idle, self._size = {}, 0

    def _sort_in(self) -> None:
        """Pieces that came back to those of their size; older sizes make room for them."""
        while self._returned:
            piece = self._returned.popleft()
            whole = piece.raw.size
            waiting = self._idle.pop(whole, [])  # the size that came last goes last, too
            waiting.append(piece)
            self._idle[whole] = waiting
            self._size += whole
            while self._size > self.most:
                size = next(iter(self._idle))
                pieces = self._idle[size]
                pieces.pop()
                self._size -= size
                if not pieces:
                    del self._idle[size]

    def _begin_anew(self) -> None:
        """In a process that was forked, perhaps while another thread held the lock."""
        self._lock = threading.Lock()


def _most() -> int:
    """Bytes that are kept at most, as the environment says."""
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
