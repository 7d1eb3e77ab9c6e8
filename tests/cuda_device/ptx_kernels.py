"""Kernels in PTX, run on the emulated device only through its C interface, without Warp's
Python."""

from __future__ import annotations

import ctypes
import json
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np
from cuda_device.emulated_warp import LIBRARY, site

NUMPY_TYPES = {
    "u8": np.uint8,
    "s8": np.int8,
    "u16": np.uint16,
    "s16": np.int16,
    "b16": np.uint16,
    "u32": np.uint32,
    "s32": np.int32,
    "b32": np.uint32,
    "u64": np.uint64,
    "s64": np.int64,
    "b64": np.uint64,
    "f32": np.float32,
    "f64": np.float64,
}

UPDATES: dict[str, np.ufunc] = {
    "add": np.add,
    "min": np.minimum,
    "max": np.maximum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}
"""NumPy functions for atomic updates and reductions, by the names of the instructions."""

HEADER = ".version 9.0\n.target sm_90\n.address_size 64\n"
CURRENT_STREAM = ctypes.c_void_p(2**64 - 1)

Operand = tuple[str, Sequence]
"""A PTX type, and a number for each thread."""


@cache
def library() -> ctypes.CDLL:
    """The emulated device. In a process with the emulated Warp it is the device of that Warp."""
    site()
    device = ctypes.CDLL(str(LIBRARY))
    for name in ("alloc_device", "cuda_load_module", "cuda_get_kernel"):
        getattr(device, f"wp_{name}").restype = ctypes.c_void_p
    for name in ("counters", "graph_nodes", "warp_version"):
        getattr(device, f"emulated_cuda_{name}").restype = ctypes.c_char_p
    device.wp_get_error_string.restype = ctypes.c_char_p
    for name in ("stream_create", "event_create"):
        getattr(device, f"wp_cuda_{name}").restype = ctypes.c_void_p
    for name in ("memcpy_h2d", "memcpy_d2h", "memset_device", "cuda_graph_begin_capture"):
        getattr(device, f"wp_{name}").restype = ctypes.c_bool
    for name in ("graph_end_capture", "graph_create_exec", "graph_launch", "stream_synchronize"):
        getattr(device, f"wp_cuda_{name}").restype = ctypes.c_bool
    device.wp_cuda_configure_kernel_shared_memory.restype = ctypes.c_bool
    for name in ("context_synchronize", "event_synchronize"):
        getattr(device, f"wp_cuda_{name}").restype = ctypes.c_bool
    device.wp_cuda_launch_kernel.restype = ctypes.c_size_t
    device.wp_cuda_context_check.restype = ctypes.c_uint64
    return device


def counters() -> dict[str, int]:
    """Counters of the operations of the device in this process."""
    return json.loads(library().emulated_cuda_counters())


def error_text() -> str:
    return library().wp_get_error_string().decode()


class DeviceError(Exception):
    """The failure of a kernel: CUDA's error number and text."""


class DeviceArray:
    """The values of a NumPy array in memory of the device."""

    def __init__(self, array: np.ndarray):
        self.host = np.ascontiguousarray(array)
        size = ctypes.c_size_t(self.host.nbytes)
        self.address = library().wp_alloc_device(None, size, None)
        start = ctypes.c_void_p(self.host.ctypes.data)
        assert library().wp_memcpy_h2d(
            None, ctypes.c_void_p(self.address), start, size, CURRENT_STREAM
        )

    def numpy(self) -> np.ndarray:
        made = np.empty_like(self.host)
        start, size = ctypes.c_void_p(made.ctypes.data), ctypes.c_size_t(made.nbytes)
        assert library().wp_memcpy_d2h(
            None, start, ctypes.c_void_p(self.address), size, CURRENT_STREAM
        ), error_text()
        return made

    def free(self) -> None:
        library().wp_free_device(None, ctypes.c_void_p(self.address))


class PtxKernel:
    """The kernel `run` of a PTX module; its parameters are addresses of 64 bits."""

    def __init__(self, text: str):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "module.ptx"
            file.write_text(HEADER + text)
            module = library().wp_cuda_load_module(None, str(file).encode())
        if not module:
            raise ValueError(error_text())
        self.module = ctypes.c_void_p(module)
        kernel = library().wp_cuda_get_kernel(None, self.module, b"run")
        if not kernel:
            raise ValueError(error_text())
        self.kernel = ctypes.c_void_p(kernel)

    def launch(
        self,
        *addresses: int,
        threads: int,
        block: int = 256,
        shared: int = 0,
        stream: ctypes.c_void_p = CURRENT_STREAM,
    ) -> int:
        """Start at least `threads` threads in whole blocks, and return CUDA's error number."""
        words = [ctypes.c_uint64(address) for address in addresses]
        pointers = (ctypes.c_void_p * max(len(words), 1))(*(ctypes.addressof(x) for x in words))
        sizes = (ctypes.c_size_t(threads), 0, block, 0, 1, shared)
        return library().wp_cuda_launch_kernel(None, self.kernel, *sizes, pointers, stream, None)

    def __call__(self, *arrays: np.ndarray, threads: int, block: int = 256, shared: int = 0):
        """Launch on copies of the arrays, and return what the copies then hold."""
        placed = [DeviceArray(array) for array in arrays]
        code = self.launch(
            *(array.address for array in placed), threads=threads, block=block, shared=shared
        )
        assert code == 0, error_text()
        if error := library().wp_cuda_context_check(None):
            library().emulated_cuda_forget_error()
            raise DeviceError(error, error_text())
        results = [array.numpy() for array in placed]
        for array in placed:
            array.free()
        return results if len(results) > 1 else results[0]


def kernel_text(parameters: int, body: str, before: str = "") -> str:
    """A module with the kernel `run` of so many addresses p0, p1 ..., which registers %a0, %a1 ...
    contain. %thread is the number of the thread in the grid, %t its number in the block."""
    names = ",\n".join(f".param .u64 p{k}" for k in range(parameters))
    loads = "\n".join(f"ld.param.u64 %a{k}, [p{k}];" for k in range(parameters))
    return f"""{before}
.visible .entry run({names}) {{
.reg .b64 %a<{parameters + 1}>;
.reg .b32 %thread, %t, %blocks, %size;
{loads}
mov.u32 %t, %tid.x;
mov.u32 %blocks, %ctaid.x;
mov.u32 %size, %ntid.x;
mad.lo.u32 %thread, %blocks, %size, %t;
{body}
ret;
}}
"""


def register_type(kind: str) -> str:
    return f".{kind}" if kind[0] == "f" else f".b{max(int(kind[1:]), 16)}"


def compute(instructions: str, result: str, *operands: Operand) -> np.ndarray:
    """Results %y of PTX instructions on operands %x0, %x1 .... Thread k gets the k-th number of
    each operand. The instructions may use predicates %p0 to %p3 and 32-bit registers %r0 to %r7."""
    arrays = [np.asarray(numbers, dtype=NUMPY_TYPES[kind]) for kind, numbers in operands]
    count = max(array.size for array in arrays)
    arrays = [np.ascontiguousarray(np.broadcast_to(array, (count,))) for array in arrays]
    lines = [
        ".reg .pred %p<4>, %inside;",
        ".reg .b32 %r<8>;",
        ".reg .b64 %at;",
        f"setp.lt.u32 %inside, %thread, {count};",
        "@!%inside ret;",
    ]
    for k, (kind, _) in enumerate(operands):
        size = np.dtype(NUMPY_TYPES[kind]).itemsize
        lines += [
            f".reg {register_type(kind)} %x{k};",
            f"mul.wide.u32 %at, %thread, {size};",
            f"add.u64 %at, %a{k}, %at;",
            f"ld.global.{kind} %x{k}, [%at];",
        ]
    size = np.dtype(NUMPY_TYPES[result]).itemsize
    lines += [
        f".reg {register_type(result)} %y;",
        instructions,
        f"mul.wide.u32 %at, %thread, {size};",
        f"add.u64 %at, %a{len(operands)}, %at;",
        f"st.global.{result} [%at], %y;",
    ]
    kernel = PtxKernel(kernel_text(len(operands) + 1, "\n".join(lines)))
    empty = np.zeros(count, NUMPY_TYPES[result])
    *_, made = kernel(*arrays, empty, threads=count)
    return made


def some_numbers(kind: str, count: int = 200, seed: int = 0) -> np.ndarray:
    """Numbers of a type: the ends of its range, small ones, and random bits. Floats have no NaN."""
    dtype = np.dtype(NUMPY_TYPES[kind])
    random = np.random.default_rng([seed, dtype.num])
    if dtype.kind == "f":
        sizes = np.exp(random.uniform(-20, 20, count)) * random.choice([-1.0, 1.0], count)
        special = [0.0, -0.0, 1.0, -1.0, 0.5, 2.5, -2.5, 3.5, 1e-30, 1e30, np.inf, -np.inf]
        return np.concatenate([special, sizes]).astype(dtype)
    info = np.iinfo(dtype)
    special = [
        0,
        1,
        2,
        3,
        7,
        31,
        32,
        33,
        63,
        64,
        255,
        info.max,
        info.min,
        info.max - 1,
        info.max // 2,
    ]
    bits = random.integers(info.min, info.max, count, dtype=dtype, endpoint=True)
    kept = [number for number in special if number <= info.max]
    return np.concatenate([np.array(kept, dtype=dtype), bits])


def pairs(kind: str) -> tuple[np.ndarray, np.ndarray]:
    """Two arrays of numbers of a type, so that special ones meet special and random ones."""
    first = some_numbers(kind)
    return np.concatenate([first, first]), np.concatenate(
        [np.roll(first, 1), some_numbers(kind, seed=1)]
    )
