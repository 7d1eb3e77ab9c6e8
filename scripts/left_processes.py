"""Processes that are still alive after a test run."""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path


def end_processes_in(folder: Path) -> None:
    """Kill all processes that work in this folder or below it. A test may start processes in new sessions. These
    survive the end of the test's own session."""
    folder = folder.resolve()
    for each in Path("/proc").iterdir():
        if not each.name.isdigit():
            continue
        with contextlib.suppress(OSError):  # it has just ended, or is another user's
            # The kernel marks the name of a folder that is gone.
            place = Path(str((each / "cwd").readlink()).removesuffix(" (deleted)"))
            if place.is_relative_to(folder):
                os.kill(int(each.name), signal.SIGKILL)
