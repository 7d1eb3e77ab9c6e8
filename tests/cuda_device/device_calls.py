"""Streams, events and captures of the emulated device, through its C interface."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from cuda_device.ptx_kernels import CURRENT_STREAM, DeviceArray, PtxKernel, kernel_text, library

DEFAULT_STREAM = ctypes.c_void_p(None)

ADD_ONE = """.reg .b64 %at; .reg .b32 %n;
    mad.wide.u32 %at, %thread, 4, %a0;
    ld.global.u32 %n, [%at];
    add.u32 %n, %n, 1;
    st.global.u32 [%at], %n;"""


def add_one(array: DeviceArray, stream: ctypes.c_void_p = CURRENT_STREAM) -> int:
    """Put a kernel that adds 1 to each number on the stream. Returns CUDA's error number."""
    kernel = PtxKernel(kernel_text(1, ADD_ONE))
    count = array.host.size
    return kernel.launch(array.address, threads=count, block=count, stream=stream)


def new_stream() -> ctypes.c_void_p:
    return ctypes.c_void_p(library().wp_cuda_stream_create(None, 0))


class Event:
    def __init__(self) -> None:
        self.handle = ctypes.c_void_p(library().wp_cuda_event_create(None, 0))

    def record(self, stream: ctypes.c_void_p) -> None:
        library().wp_cuda_event_record(self.handle, stream, False)

    def wait_in(self, stream: ctypes.c_void_p) -> None:
        library().wp_cuda_stream_wait_event(stream, self.handle, False)


class Memory:
    """Uninitialised memory of the device."""

    def __init__(self, size: int, stream: ctypes.c_void_p = CURRENT_STREAM):
        self.size = size
        allocate = library().wp_alloc_device_async
        allocate.restype = ctypes.c_void_p
        self.address = allocate(None, ctypes.c_size_t(size), stream, None)

    def bytes(self) -> np.ndarray:
        """The contents of the memory, which a copy on the device reads."""
        made = np.empty(self.size, np.uint8)
        assert library().wp_memcpy_d2h(
            None,
            ctypes.c_void_p(made.ctypes.data),
            ctypes.c_void_p(self.address),
            ctypes.c_size_t(self.size),
            CURRENT_STREAM,
        )
        return made

    def free(self) -> None:
        library().wp_free_device(None, ctypes.c_void_p(self.address))


@contextmanager
def late_streams() -> Iterator[None]:
    """Delay work until a call waits for it."""
    library().emulated_cuda_run_late(1)
    try:
        yield
    finally:
        library().emulated_cuda_run_late(0)


class Graph:
    """A graph, with the names of its nodes."""

    def __init__(self, handle: ctypes.c_void_p):
        self.handle = handle
        self.launchable = ctypes.c_void_p()
        library().wp_cuda_graph_create_exec(None, None, handle, ctypes.byref(self.launchable))

    @property
    def nodes(self) -> list[str]:
        return library().emulated_cuda_graph_nodes(self.handle).decode().split(",")

    def launch(self, stream: ctypes.c_void_p) -> bool:
        return library().wp_cuda_graph_launch(self.launchable, stream)

    def destroy(self) -> None:
        library().wp_cuda_graph_destroy(None, self.handle)
        library().wp_cuda_graph_exec_destroy(None, self.launchable)


def begin_capture(stream: ctypes.c_void_p) -> bool:
    return library().wp_cuda_graph_begin_capture(None, stream, 0, 1)


def end_capture(stream: ctypes.c_void_p) -> Graph | None:
    """The graph, or None after an error in the capture."""
    handle = ctypes.c_void_p()
    made = library().wp_cuda_graph_end_capture(None, stream, ctypes.byref(handle))
    return Graph(handle) if made else None
