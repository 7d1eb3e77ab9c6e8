"""Memory is poisoned when it is allocated and when it is freed, and kernels may not access other
memory."""

from __future__ import annotations

import numpy as np
import pytest
from cuda_device.device_calls import Memory
from cuda_device.ptx_kernels import (
    DeviceArray,
    DeviceError,
    PtxKernel,
    counters,
    kernel_text,
    library,
)

READ = ".reg .b32 %n; ld.global.u32 %n, [%a0+{offset}];"


def error_number(body: str, *arrays: np.ndarray, parameters: int | None = None) -> int:
    """The error number with which a kernel of one thread ends."""
    kernel = PtxKernel(kernel_text(len(arrays) if parameters is None else parameters, body))
    with pytest.raises(DeviceError) as error:
        kernel(*arrays, threads=1, block=1)
    assert "kernel run" in str(error.value)
    return error.value.args[0]


def test_new_memory_contains_nan() -> None:
    """It is NaN in both float types, so a result from memory that was never written is noticed."""
    memory = Memory(64)
    assert np.all(memory.bytes() == 0xFF)
    assert np.isnan(memory.bytes().view(np.float32)).all()
    assert np.isnan(memory.bytes().view(np.float64)).all()
    memory.free()


def test_allocations_are_counted() -> None:
    before = counters()
    memory = Memory(1000)
    memory.free()
    after = counters()
    assert after["allocations"] - before["allocations"] == 1
    assert after["allocated_bytes"] - before["allocated_bytes"] == 1000
    assert after["frees"] - before["frees"] == 1
    assert after["live_bytes"] == before["live_bytes"]


@pytest.mark.parametrize("size, offset", [(4, 4), (4, -4), (1000, 1000), (256, 256), (6, 4)])
def test_a_byte_outside_an_allocation_is_error_700(size: int, offset: int) -> None:
    """This holds even if other memory of the device follows it."""
    array = np.zeros(size, np.uint8)
    assert error_number(READ.format(offset=offset), array) == 700


def test_the_last_bytes_of_an_allocation_can_be_read() -> None:
    kernel = PtxKernel(kernel_text(1, READ.format(offset=996)))
    kernel(np.zeros(1000, np.uint8), threads=1, block=1)


@pytest.mark.parametrize("access", ["st.global.u32 [%a0+4], 1;", "red.global.add.u32 [%a0+4], 1;"])
def test_stores_outside_are_error_700(access: str) -> None:
    assert error_number(access, np.zeros(1, np.uint32)) == 700


def test_reading_freed_memory_is_error_700() -> None:
    array = DeviceArray(np.zeros(4, np.uint32))
    array.free()
    kernel = PtxKernel(kernel_text(1, READ.format(offset=0)))
    assert (
        kernel.launch(array.address, threads=1, block=1) == 0
    )  # the error comes later, as in CUDA
    assert library().wp_cuda_context_check(None) == 700
    library().emulated_cuda_forget_error()


def test_reading_host_memory_is_error_700() -> None:
    """The kernel gets the address of a NumPy array."""
    host = np.zeros(64, np.uint32)
    kernel = PtxKernel(kernel_text(1, READ.format(offset=0)))
    kernel.launch(host.ctypes.data, threads=1, block=1)
    assert library().wp_cuda_context_check(None) == 700
    library().emulated_cuda_forget_error()


def test_misaligned_addresses_are_error_716() -> None:
    assert error_number(READ.format(offset=2), np.zeros(4, np.uint32)) == 716


@pytest.mark.parametrize(
    "body",
    [
        ".shared .align 4 .b8 row[8]; .reg .b32 %n; ld.shared.u32 %n, [row+8];",
        ".local .align 4 .b8 row[16]; .reg .b32 %n; ld.local.u32 %n, [row+16];",
        ".local .align 4 .b8 row[16]; st.local.u32 [row+-4], 0;",
        ".reg .b64 %n; mov.u64 %n, p0; ld.param.u64 %n, [%n+8];",
        ".reg .b32 %n; mov.u64 %a0, 16; ld.u32 %n, [%a0];",
    ],
)
def test_other_memory_spaces_have_bounds_too(body: str) -> None:
    assert error_number(body, np.zeros(1, np.uint32)) == 700


@pytest.mark.parametrize(
    "body, code",
    [
        ("trap;", 719),
        (".reg .pred %p; setp.ne.u32 %p, %t, 0; @%p ret; bar.sync 0, 64;", 702),
        ("shfl.sync.bfly.b32 %t, %t, 1, 31, 3;", 0),
    ],
)
def test_traps_and_hanging_barriers_end_a_kernel(body: str, code: int) -> None:
    """A barrier hangs if it waits for threads that never come. It does not wait for lanes that do
    not exist."""
    if code:
        assert error_number(body, np.zeros(1, np.uint32)) == code
    else:
        PtxKernel(kernel_text(1, body))(np.zeros(1, np.uint32), threads=1, block=1)


def test_all_calls_after_an_error_return_it() -> None:
    """The error lasts until the process ends, as in CUDA."""
    kernel = PtxKernel(kernel_text(1, "trap;"))
    array = DeviceArray(np.zeros(1, np.uint32))
    assert kernel.launch(array.address, threads=1, block=1) == 0
    assert kernel.launch(array.address, threads=1, block=1) == 719
    with pytest.raises(AssertionError, match="719"):
        array.numpy()
    library().emulated_cuda_forget_error()
    assert array.numpy() == 0
    array.free()


SHARED = ".extern .shared .align 16 .b8 dynamic[];"


def test_the_limits_of_a_block_are_those_of_cuda() -> None:
    """They are 1,024 threads, 48 KiB of static shared memory, and 227 KiB in total if the kernel is
    configured for it."""
    kernel = PtxKernel(kernel_text(0, "st.shared.u32 [dynamic], %t;", SHARED))
    assert kernel.launch(threads=1024, block=1024) == 0
    library().wp_cuda_context_check(None)
    library().emulated_cuda_forget_error()  # the kernel had no shared memory
    assert kernel.launch(threads=1056, block=1056) == 1
    assert kernel.launch(threads=1, block=1, shared=48 * 1024) == 0
    assert kernel.launch(threads=1, block=1, shared=48 * 1024 + 16) == 1
    assert library().wp_cuda_configure_kernel_shared_memory(kernel.kernel, 227 * 1024)
    assert kernel.launch(threads=1, block=1, shared=227 * 1024) == 0
    assert not library().wp_cuda_configure_kernel_shared_memory(kernel.kernel, 228 * 1024)
    with pytest.raises(ValueError, match="more than 48 KiB of static shared memory"):
        PtxKernel(kernel_text(0, ".shared .align 4 .b8 large[49200];"))


def test_copies_beyond_an_allocation_are_refused() -> None:
    array = DeviceArray(np.zeros(4, np.uint32))
    array.host = np.zeros(5, np.uint32)
    with pytest.raises(AssertionError, match="error 1: invalid argument"):
        array.numpy()
    array.free()
