"""Captures and graphs: what they record, which operations they refuse, and the effect of a
replay."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from cuda_device.device_calls import (
    DEFAULT_STREAM,
    Event,
    Memory,
    add_one,
    begin_capture,
    end_capture,
    late_streams,
    new_stream,
)
from cuda_device.ptx_kernels import DeviceArray, counters, error_text, library


def test_a_graph_replays_the_recorded_work() -> None:
    """The capture itself runs nothing."""
    stream, array = new_stream(), DeviceArray(np.zeros(4, np.uint32))
    assert begin_capture(stream)
    add_one(array, stream)
    add_one(array, stream)
    graph = end_capture(stream)
    assert graph is not None and graph.nodes == ["run", "run"]
    assert array.numpy().tolist() == [0] * 4
    for replay in (1, 2, 3):
        assert graph.launch(stream)
        assert library().wp_cuda_stream_synchronize(stream)
        assert array.numpy().tolist() == [2 * replay] * 4
    graph.destroy()
    array.free()


def test_a_graph_may_run_late() -> None:
    stream, array = new_stream(), DeviceArray(np.zeros(4, np.uint32))
    begin_capture(stream)
    add_one(array, stream)
    graph = end_capture(stream)
    assert graph is not None
    with late_streams():
        graph.launch(stream)
        graph.destroy()
        library().wp_cuda_stream_synchronize(stream)
    assert array.numpy().tolist() == [1] * 4


def refusals() -> list:
    def stream(captured, array):
        return library().wp_cuda_stream_synchronize(captured)

    def device(captured, array):
        return library().wp_cuda_context_synchronize(None)

    def event(captured, array):
        made = Event()
        made.record(captured)
        return library().wp_cuda_event_synchronize(made.handle)

    def default_stream(captured, array):
        return add_one(array, DEFAULT_STREAM) == 0

    def copy(captured, array):
        return library().wp_memset_device(
            None, ctypes.c_void_p(array.address), 0, ctypes.c_size_t(4), DEFAULT_STREAM
        )

    def uncaptured_work(captured, array):
        made, other = Event(), new_stream()
        add_one(array, other)
        made.record(other)
        made.wait_in(captured)
        return False

    return [
        (stream, 900),
        (device, 900),
        (event, 907),
        (default_stream, 906),
        (copy, 906),
        (uncaptured_work, 905),
    ]


@pytest.mark.parametrize("forbidden, code", refusals(), ids=lambda x: getattr(x, "__name__", x))
def test_forbidden_operations_end_a_capture(forbidden, code: int) -> None:
    """These are waits and the default stream. The capture is lost, and the next one works."""
    stream, array = new_stream(), DeviceArray(np.zeros(4, np.uint32))
    assert begin_capture(stream)
    assert not forbidden(stream, array)
    assert f"error {code}:" in error_text()
    assert add_one(array, stream) == 901
    assert end_capture(stream) is None
    assert "error 901:" in error_text()
    assert begin_capture(stream)
    add_one(array, stream)
    assert end_capture(stream) is not None


def test_the_default_stream_cannot_be_captured() -> None:
    assert not begin_capture(DEFAULT_STREAM)
    assert "error 900:" in error_text()


def test_the_memory_of_a_graph_exists_only_after_a_launch() -> None:
    """A use before the launch gives error 700, because the graph has not allocated the memory."""
    stream = new_stream()
    begin_capture(stream)
    memory = Memory(16, stream)
    library().wp_memset_device(
        None, ctypes.c_void_p(memory.address), 3, ctypes.c_size_t(16), stream
    )
    graph = end_capture(stream)
    assert graph is not None and graph.nodes == ["allocate", "memset"]
    with pytest.raises(AssertionError):
        memory.bytes()
    assert library().wp_cuda_context_check(None) == 700
    library().emulated_cuda_forget_error()
    graph.launch(stream)
    assert np.all(memory.bytes() == 3)
    before = counters()["live_bytes"]
    memory.free()
    assert counters()["live_bytes"] == before  # the graph still needs it
    graph.destroy()
    assert counters()["live_bytes"] == before - 16


def test_memory_freed_by_a_graph_is_gone_after_a_launch() -> None:
    stream = new_stream()
    begin_capture(stream)
    memory = Memory(16, stream)
    memory.free()
    graph = end_capture(stream)
    assert graph is not None and graph.nodes == ["allocate", "free"]
    graph.launch(stream)
    with pytest.raises(AssertionError):
        memory.bytes()
    library().emulated_cuda_forget_error()
    graph.destroy()


def test_memory_freed_during_a_capture_lives_until_its_end() -> None:
    stream, memory = new_stream(), Memory(16)
    before = counters()["frees"]
    begin_capture(stream)
    memory.free()
    assert counters()["frees"] == before
    end_capture(stream)
    assert counters()["frees"] == before + 1


def test_a_second_stream_joins_a_capture_through_an_event() -> None:
    stream, other, array = new_stream(), new_stream(), DeviceArray(np.zeros(4, np.uint32))
    begin_capture(stream)
    event = Event()
    event.record(stream)
    event.wait_in(other)
    add_one(array, other)
    assert library().wp_cuda_stream_is_capturing(other)
    event.record(other)
    event.wait_in(stream)
    add_one(array, stream)
    graph = end_capture(stream)
    assert graph is not None and graph.nodes == ["run", "run"]
    assert not library().wp_cuda_stream_is_capturing(other)
    assert array.numpy().tolist() == [0] * 4
