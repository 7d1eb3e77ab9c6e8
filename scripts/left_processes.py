"""Processes that a test run has left behind."""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path


def end_processes_in(folder: Path) -> None:
    """Kill all processes whose working folder is this one or inside it. A test's processes may be sessions of their
    own, which the end of the test's session does not reach."""
    folder = folder.resolve()
    for each in Path("/proc").iterdir():
        if not each.name.isdigit():
            continue
        with contextlib.suppress(OSError):  # it has just ended, or is another user's
            # The kernel marks the name of a folder that is gone.
            place = Path(str((each / "cwd").readlink()).removesuffix(" (deleted)"))
            if place.is_relative_to(folder):
                os.kill(int(each.name), signal.SIGKILL)
