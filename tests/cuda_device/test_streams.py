"""Streams that run as late as CUDA allows. Work without a wait has not happened."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator

import numpy as np
import pytest
from cuda_device.device_calls import (
    DEFAULT_STREAM,
    Event,
    add_one,
    late_streams,
    new_stream,
)
from cuda_device.ptx_kernels import DeviceArray, counters, library


@pytest.fixture(autouse=True)
def late() -> Iterator[None]:
    with late_streams():
        yield


def peek(array: DeviceArray) -> list[int]:
    """The present values without waiting. The emulated device's memory is the host's."""
    return np.frombuffer(ctypes.string_at(array.address, array.host.nbytes), np.uint32).tolist()


def numbers() -> DeviceArray:
    made = DeviceArray(np.zeros(4, np.uint32))
    library().wp_cuda_context_synchronize(None)
    return made


def test_work_runs_when_a_call_waits_for_its_stream() -> None:
    stream, array = new_stream(), numbers()
    add_one(array, stream)
    add_one(array, stream)
    assert peek(array) == [0] * 4
    assert library().wp_cuda_stream_synchronize(stream)
    assert peek(array) == [2] * 4


def test_streams_do_not_wait_for_each_other() -> None:
    """A second stream reads numbers that the first has not written yet. With an event it waits for
    them."""
    first, second = new_stream(), new_stream()
    one, other = numbers(), numbers()
    add_one(one, first)
    add_one(other, second)
    library().wp_cuda_stream_synchronize(second)
    assert (peek(one), peek(other)) == ([0] * 4, [1] * 4)
    event = Event()
    event.record(first)
    event.wait_in(second)
    add_one(other, second)
    library().wp_cuda_stream_synchronize(second)
    assert (peek(one), peek(other)) == ([1] * 4, [2] * 4)


def test_an_event_covers_the_work_before_it() -> None:
    stream, array, event = new_stream(), numbers(), Event()
    add_one(array, stream)
    event.record(stream)
    add_one(array, stream)
    assert library().wp_cuda_event_synchronize(event.handle)
    assert peek(array) == [1] * 4


def test_the_default_stream_synchronises_with_all_streams() -> None:
    first, second = new_stream(), new_stream()
    one, other = numbers(), numbers()
    add_one(one, first)
    add_one(one, DEFAULT_STREAM)
    add_one(other, second)
    assert peek(one) == [0] * 4
    library().wp_cuda_stream_synchronize(second)
    assert (peek(one), peek(other)) == ([2] * 4, [1] * 4)


def test_a_copy_to_the_host_waits_only_for_its_own_stream() -> None:
    first, second = new_stream(), new_stream()
    array, other = numbers(), numbers()
    add_one(array, first)
    add_one(other, second)
    before = counters()["waits"]
    made = np.empty(4, np.uint32)
    size = ctypes.c_size_t(made.nbytes)
    source = ctypes.c_void_p(array.address)
    library().wp_memcpy_d2h(None, ctypes.c_void_p(made.ctypes.data), source, size, first)
    assert counters()["waits"] - before == 1
    assert made.tolist() == [1] * 4 and peek(other) == [0] * 4


def test_host_values_are_read_during_the_call() -> None:
    """A copy from pageable memory may run later, but uses the values at the time of the call."""
    host = np.ones(4, np.uint32)
    array = numbers()
    stream, size = new_stream(), ctypes.c_size_t(host.nbytes)
    target = ctypes.c_void_p(array.address)
    library().wp_memcpy_h2d(None, target, ctypes.c_void_p(host.ctypes.data), size, stream)
    host[:] = 7
    assert peek(array) == [0] * 4
    library().wp_cuda_stream_synchronize(stream)
    assert peek(array) == [1] * 4


def test_freed_memory_remains_valid_for_earlier_work() -> None:
    stream, array = new_stream(), numbers()
    add_one(array, stream)
    array.free()
    assert library().wp_cuda_stream_synchronize(stream)
    assert library().wp_cuda_context_check(None) == 0
    assert peek(array) == [0x7F7F7F7F] * 4  # poisoned after the kernel


def test_a_stream_query_eventually_reports_completion() -> None:
    stream, array = new_stream(), numbers()
    add_one(array, stream)
    assert library().wp_cuda_stream_query(stream) == 600
    assert library().wp_cuda_stream_query(stream) == 0


def test_an_error_is_reported_when_the_work_runs() -> None:
    stream = new_stream()
    array = numbers()
    array.free()
    library().wp_cuda_context_synchronize(None)
    assert add_one(array, stream) == 0
    assert not library().wp_cuda_stream_synchronize(stream)
    assert library().wp_cuda_context_check(None) == 700
    library().emulated_cuda_forget_error()
