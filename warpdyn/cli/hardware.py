"""Description of the machine on which figures were measured."""

from __future__ import annotations

import platform
from pathlib import Path

import warp as wp

from ..execution.threads import get_num_threads


def hardware(device: str) -> str:
    """Name of the device; for the CPU also the number of threads."""
    if device != "cpu":
        return wp.get_device(device).name
    threads = get_num_threads()
    return f"{processor()}, {threads} thread{'s' if threads > 1 else ''}"


def processor() -> str:
    """The processor's name, as it reports it."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:  # not Linux
        pass
    return platform.processor() or platform.machine()
