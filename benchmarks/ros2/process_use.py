"""CPU time and memory of another process, as Linux reports them."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path


def cpu_seconds(process: int) -> float:
    """CPU time of all current threads [s], counted in nanoseconds."""
    total = 0
    for thread in Path(f"/proc/{process}/task").iterdir():
        with suppress(FileNotFoundError, ProcessLookupError):  # the thread has ended
            total += int((thread / "schedstat").read_text().split()[0])
    return total * 1e-9


def resident_megabytes(process: int) -> float:
    """Resident memory [MB]."""
    status = Path(f"/proc/{process}/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("VmRSS:"))
    return float(line.split()[1]) * 1024e-6
