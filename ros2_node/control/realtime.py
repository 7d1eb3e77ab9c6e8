"""Real-time scheduling of the node's process, and its memory locked in RAM, where the system allows them."""

from __future__ import annotations

import ctypes
import errno
import os
import resource
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

PRIORITY = 49
"""Priority of SCHED_FIFO: one below the loop of ros2_control's controller manager (50), which the node must
never keep waiting."""
CURRENT_AND_FUTURE = 3
"""MCL_CURRENT | MCL_FUTURE of mlockall."""
CAP_IPC_LOCK = 14
"""The bit of the capability that lifts the limit on locked memory."""


def make_realtime(
    threads: Iterable[int] | None = None,
    schedule: Callable[[int], None] | None = None,
    lock: Callable[[], None] | None = None,
) -> list[str]:
    """Give all present threads of this process SCHED_FIFO, and lock its memory.

    Threads that start later, such as those that compile kernels or build models, keep normal
    scheduling. Returns a line for each request that the system refuses. threads, schedule, lock:
    for tests.
    """
    refused = []
    try:
        for thread in _threads() if threads is None else threads:
            with suppress(ProcessLookupError):  # the thread has ended meanwhile
                (schedule or _first_in_first_out)(thread)
    except OSError as error:
        refused.append(
            f"realtime: SCHED_FIFO {PRIORITY} is not allowed ({error.strerror}); it needs rtprio "
            f"{PRIORITY} in /etc/security/limits.conf, or CAP_SYS_NICE. The node goes on without it"
        )
    try:
        (lock or _lock_memory)()
    except OSError as error:
        refused.append(
            f"realtime: memory cannot be locked ({error.strerror}); it needs memlock unlimited in "
            "/etc/security/limits.conf, or CAP_IPC_LOCK. The node goes on without it"
        )
    return refused


def is_lock_lasting(limit: int, capabilities: int) -> bool:
    """True if no limit [B] applies to a lock of all present and future memory. With a limit, the
    lock may succeed now, but a later allocation beyond the limit, such as that of another model,
    would fail and end the process."""
    return limit == resource.RLIM_INFINITY or bool(capabilities >> CAP_IPC_LOCK & 1)


def _capabilities() -> int:
    status = Path("/proc/self/status").read_text()
    return int(status.partition("CapEff:")[2].split()[0], 16)


def _threads() -> list[int]:
    return [int(task.name) for task in Path("/proc/self/task").iterdir()]


def _first_in_first_out(thread: int) -> None:
    policy = os.SCHED_FIFO | os.SCHED_RESET_ON_FORK
    os.sched_setscheduler(thread, policy, os.sched_param(PRIORITY))


def _lock_memory() -> None:
    if not is_lock_lasting(resource.getrlimit(resource.RLIMIT_MEMLOCK)[0], _capabilities()):
        raise OSError(errno.EPERM, "it is limited")
    library = ctypes.CDLL(None, use_errno=True)
    if library.mlockall(CURRENT_AND_FUTURE):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
