"""Native threads that compute slices of a launch without Python, so that none waits for the GIL.

C functions in `codegen/native_threads.h` start these threads and pass launches to them. A thread
that has done its last slice polls for the next launch for a while before it sleeps, because waking
it takes 50 to 100 us.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import signal
import threading
from collections.abc import Callable, Iterable

from ...codegen.arguments import HEADER
from ..compile.c_text import CText, c_text
from ..compile.compiling import Kernel
from ..compile.kernel import Command, records_launches
from ..run_once import run_once
from ..threads import get_num_threads

POLLS = 200
"""Number of times that a thread polls for the next launch before it sleeps, yielding in between: about 60 us
if no other thread runs."""

SYSTEM_FUNCTIONS = (
    "pthread_create",
    "pthread_join",
    "pthread_mutex_lock",
    "pthread_mutex_unlock",
    "pthread_cond_wait",
    "pthread_cond_signal",
    "sched_yield",
)
"""Names of the system's functions, in the order of the header."""

OBJECT_BYTES = 256
"""Bytes for a mutex, a condition or attributes, for which POSIX systems need at most 64."""

STACK = 16 << 20
"""Bytes of a thread's stack; a kernel takes up to 5 MiB (`codegen/cpu.py`), and the system's
default may be 2."""

_Words = ctypes.Array[ctypes.c_int64]


def _address(place: ctypes.Array[ctypes.c_char] | _Words) -> int:
    return ctypes.addressof(place)


class _System:
    """Addresses of the system's functions, and our functions that use them."""

    def __init__(self, library: ctypes.CDLL, found: list[int], text: CText):
        self.table = (ctypes.c_int64 * len(found))(*found)
        self.begin = (library.pthread_mutex_init, library.pthread_cond_init)
        self.attributes = ctypes.create_string_buffer(OBJECT_BYTES)
        library.pthread_attr_init(self.attributes)
        library.pthread_attr_setstacksize(self.attributes, ctypes.c_size_t(STACK))
        self.text = text  # must live as long as the functions are called
        start, share, stop = text.addresses
        pointer = ctypes.c_void_p
        self.start = ctypes.CFUNCTYPE(ctypes.c_int64, pointer)(start)
        self.share = ctypes.CFUNCTYPE(None, pointer)(share)
        self.stop = ctypes.CFUNCTYPE(None, pointer)(stop)


@run_once
def system() -> _System | None:
    """The functions for native threads; None without POSIX threads, or if this version of Warp does
    not reveal a kernel's address."""
    try:
        library = ctypes.CDLL(None)
        found = [
            ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0
            for name in SYSTEM_FUNCTIONS
        ]
    except (AttributeError, OSError, TypeError):
        return None
    first, count = HEADER.index("first"), HEADER.index("count")
    text = c_text("native_threads.h", "threads", 3, first=first, count=count)
    return None if text is None else _System(library, found, text)


class _NativeThread:
    """A thread, with its own memory for the life of the process."""

    def __init__(self, system: _System):
        self.system = system
        self.mutex, self.condition = (ctypes.create_string_buffer(OBJECT_BYTES) for _ in range(2))
        for begin, place in zip(system.begin, (self.mutex, self.condition), strict=True):
            begin(ctypes.c_void_p(_address(place)), None)
        places = map(_address, (self.mutex, self.condition, system.attributes))
        self.words = (ctypes.c_int64 * 9)(_address(system.table), 0, 0, 0, POLLS, 0, *places)
        # Signals are handled by Python's own threads.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        try:
            failed = system.start(_address(self.words))
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        if failed:
            raise OSError(failed, os.strerror(failed))

    def stop(self) -> None:
        """Wait until the thread ends."""
        self.system.stop(_address(self.words))


_workers: list[_NativeThread] = []
_lock = threading.Lock()
_ended = threading.Event()
"""Set when the process is about to end; then no more threads are started."""


def _first_threads(system: _System, number: int) -> list[_NativeThread]:
    """The first `number` threads, started if necessary; fewer if the system does not allow more."""
    with _lock:
        try:
            while len(_workers) < number and not _ended.is_set():
                _workers.append(_NativeThread(system))
        except OSError:
            pass
        return _workers[:number]


class SharedLaunch:
    """A launch on several threads, including the calling one; calling the object runs it."""

    def __init__(self, command: Command, workers: list[_NativeThread], least: int):
        """The launch of the command, with at least `least` environments for a thread."""
        bounds, arguments = command.bounds, list(command.arguments)
        self._threads = (ctypes.c_int64 * len(workers))(*(_address(x.words) for x in workers))
        words = (
            command.address or 0,
            len(bounds),
            len(arguments),
            arguments[HEADER.index("count")],
            least,
            len(workers),
            _address(self._threads),
            *bounds,
            *arguments,
        )
        self._words = (ctypes.c_int64 * len(words))(*words)
        self._held = command, workers
        self._share, self._at = workers[0].system.share, _address(self._words)

    def __call__(self) -> None:
        if records_launches():
            self._held[0].run()
        else:
            self._share(self._at)


def shared_launch(command: Command, least: int, threads: int) -> Callable[[], None] | None:
    """The launch of a command on this many threads; None if there are only Python threads."""
    found = system() if threads > 1 else None
    workers = _first_threads(found, threads - 1) if found else []
    return SharedLaunch(command, workers, least) if workers else None


def compile_threads(kernels: Iterable[Kernel]) -> None:
    """Compile the thread functions, or find them compiled, before the first shared launch, if one
    of these kernels may use threads."""
    if get_num_threads() > 1 and any(not kernel.on_cuda for kernel in kernels):
        system()


def _stop() -> None:
    """Stop the threads before the code that they run is unloaded."""
    with _lock:
        _ended.set()
        for worker in _workers:
            worker.stop()
        _workers.clear()


atexit.register(_stop)


def _reset_after_fork() -> None:
    """Reset the threads in a forked process; callers then run launches that are bound to
    threads."""
    global _lock
    _lock = threading.Lock()
    for worker in _workers:
        worker.words[2] = 0  # mark as awake, so that no thread tries to wake it
    _workers.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reset_after_fork)
