"""Real-time scheduling and locked memory, with and without permission."""

from __future__ import annotations

import ctypes
import errno
import os
import resource
import subprocess
import sys

import pytest

from ros2_node.control import realtime
from ros2_node.control.realtime import PRIORITY, is_lock_lasting, make_realtime

MCL_CURRENT, MCL_FUTURE = 1, 2
"""Of Linux's sys/mman.h."""

ASK = """
import os
from ros2_node.control.realtime import make_realtime
refused = make_realtime()
print(len(refused), os.sched_getscheduler(0) & 15, os.sched_getparam(0).sched_priority)
print([line.split()[1] for line in open("/proc/self/status") if line.startswith("VmLck")][0])
"""


def refuse(*arguments):
    raise PermissionError(1, "Operation not permitted")


@pytest.mark.parametrize("allowed", [True, False])
def test_all_threads_and_memory_are_requested_and_refusals_reported(allowed):
    """A refusal is one line. It says what the system lacks, and that the node continues without
    it."""
    threads, locked = [], []
    refused = make_realtime(
        (11, 12),
        threads.append if allowed else refuse,
        (lambda: locked.append(True)) if allowed else refuse,
    )
    if allowed:
        assert threads == [11, 12] and locked and not refused
    else:
        scheduling, memory = refused
        assert f"SCHED_FIFO {PRIORITY} is not allowed" in scheduling and "rtprio" in scheduling
        assert "memlock" in memory and all("goes on without it" in line for line in refused)


def test_a_thread_that_has_ended_is_skipped():
    """The threads after it are scheduled all the same."""
    scheduled = []

    def schedule(thread):
        if thread == 12:
            raise ProcessLookupError(3, "No such process")
        scheduled.append(thread)

    assert not make_realtime((11, 12, 13), schedule, lambda: None) and scheduled == [11, 13]


def test_memory_is_not_locked_under_a_limit():
    """mlockall may succeed under a limit that has room today, and a later allocation would end the
    node."""
    assert is_lock_lasting(resource.RLIM_INFINITY, 0) and is_lock_lasting(1 << 20, 1 << 14)
    assert not is_lock_lasting(1 << 40, 0) and not is_lock_lasting(1 << 40, ~(1 << 14))
    code = ASK.replace("refused = make", "import ros2_node.control.realtime as r, resource; "
                       "r._capabilities = lambda: 0; resource.getrlimit = lambda which: (1 << 40,) * 2\n"
                       "refused = make")  # fmt: skip
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split()[-1] == "0", "no memory is locked"


def test_a_process_has_every_setting_that_was_not_refused():
    """The check runs in its own process, and holds whatever this machine allows."""
    run = subprocess.run([sys.executable, "-c", ASK], capture_output=True, text=True, check=True)
    numbers, locked = run.stdout.strip().splitlines()
    refused, policy, priority = map(int, numbers.split())
    has = (policy == os.SCHED_FIFO and priority == PRIORITY) + (int(locked) > 0)
    assert has + refused == 2


class Library:
    """A C library whose mlockall returns a given status."""

    def __init__(self, status: int) -> None:
        self.status, self.asked = status, []

    def mlockall(self, flags: int) -> int:
        self.asked.append(flags)
        ctypes.set_errno(errno.ENOMEM)
        return self.status


@pytest.mark.parametrize("status", [0, -1])
def test_memory_is_locked_without_a_limit(monkeypatch, status):
    """All present and later memory is locked. An error of the system is reported in its words."""
    library = Library(status)
    monkeypatch.setattr(realtime, "is_lock_lasting", lambda limit, capabilities: True)
    monkeypatch.setattr(ctypes, "CDLL", lambda name, use_errno: library)
    refused = make_realtime((1,), lambda thread: None)
    assert library.asked == [MCL_CURRENT | MCL_FUTURE]
    if status:
        (line,) = refused
        assert os.strerror(errno.ENOMEM) in line
    else:
        assert not refused
