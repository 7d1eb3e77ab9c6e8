"""Warp's initialisation, without its message about a missing driver on machines without an NVIDIA
GPU."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import warp as wp
from warp._src import context

NO_DRIVER = "Could not find or load the NVIDIA CUDA driver"
"""Warp's message on stderr in each process that finds no driver."""

DRIVER_SIGNS = (
    "/proc/driver/nvidia",
    "/dev/nvidiactl",
    "/dev/nvidia0",
    "/dev/nvhost-ctrl",
    "/dev/nvmap",
    "/dev/dxg",
)
"""Files of a kernel with an NVIDIA driver: on servers, on Jetson, under WSL."""


def init_warp() -> None:
    """Initialise Warp. Without signs of a driver, its message about a missing driver is
    suppressed."""
    if getattr(context, "runtime", None) is not None or has_driver():
        wp.init()
        return
    with _without_line(NO_DRIVER):
        wp.init()


def has_driver() -> bool:
    """True if an NVIDIA driver is installed, working or not, or if this cannot be determined."""
    if not sys.platform.startswith("linux") or any(map(os.path.exists, DRIVER_SIGNS)):
        return True
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError as error:
        return "No such file" not in str(error)  # else it is there, but cannot be loaded
    return True


@contextmanager
def _without_line(text: str) -> Iterator[None]:
    """A block in which stderr lines with a given text are dropped; all other lines appear at its
    end.

    Warp's library writes directly, so only the file descriptor can be redirected. It is redirected
    to memory, because a full disk must not prevent the start.
    """
    try:
        sys.stderr.flush()
        written, stderr = os.memfd_create("warp start"), os.dup(2)
    except (OSError, AttributeError, ValueError):  # stderr is closed, or there is no such call
        yield
        return
    os.dup2(written, 2)
    try:
        yield
    finally:
        os.dup2(stderr, 2)
        os.close(stderr)
        with os.fdopen(written, "rb") as stream:
            stream.seek(0)
            for line in stream:
                if text.encode() not in line:
                    os.write(2, line)
