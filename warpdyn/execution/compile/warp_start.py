"""Warp's initialisation, without its line about a missing driver on machines that have no NVIDIA GPU."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import warp as wp
from warp._src import context

NO_DRIVER = "Could not find or load the NVIDIA CUDA driver"
"""What Warp's library says on stderr in each process where it loads no driver."""

DRIVER_SIGNS = (
    "/proc/driver/nvidia",
    "/dev/nvidiactl",
    "/dev/nvidia0",
    "/dev/nvhost-ctrl",
    "/dev/nvmap",
    "/dev/dxg",
)
"""What a kernel with an NVIDIA driver has: on servers, on Jetson, under WSL."""


def init_warp() -> None:
    """Initialise Warp. Where there is no sign of a driver, it does not say that it has none."""
    if getattr(context, "runtime", None) is not None or has_driver():
        wp.init()
        return
    with _without_line(NO_DRIVER):
        wp.init()


def has_driver() -> bool:
    """Whether an NVIDIA driver is installed, broken or not; True where nobody can tell."""
    if not sys.platform.startswith("linux") or any(map(os.path.exists, DRIVER_SIGNS)):
        return True
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError as error:
        return "No such file" not in str(error)  # else it is there and cannot be loaded
    return True


@contextmanager
def _without_line(text: str) -> Iterator[None]:
    """A block whose lines on stderr that hold a text are dropped; all others come at its end.

    Warp's library writes by itself, so that only the file descriptor can be caught. It is caught in
    memory, since a full disk is no reason not to start.
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
