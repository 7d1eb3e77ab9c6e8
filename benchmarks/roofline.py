"""Limits of the machine, measured by Warp kernels: memory copies and multiply-adds."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import warp as wp

from .interleave import CORES

SIZES = tuple(1 << k for k in range(16, 29, 2))
"""Bytes read and written together, from cache to memory."""

LANES = """
typedef float lanes __attribute__((vector_size(64)));
"""

COPY = (
    LANES
    + """
const lanes* from = (const lanes*)args[0]; lanes* to = (lanes*)args[1];
const long long n = args[2], loops = args[3];
for (long long k = 0; k < loops; ++k) {
    if (args[4]) for (long long i = 0; i < n; ++i) __builtin_nontemporal_store(from[i], to + i);
    else for (long long i = 0; i < n; ++i) to[i] = from[i];
    __asm__ volatile("" ::: "memory");
}
"""
)

CHAINS = 12
"""Independent multiply-adds, enough to hide how long one takes."""

FMA = (
    LANES
    + """
const lanes* given = (const lanes*)args[0];
const lanes x = given[0], y = given[1];
"""
)
FMA += "".join(f"lanes a{i} = x + {i}.0f;\n" for i in range(CHAINS))
FMA += "const long long loops = args[3];\nfor (long long k = 0; k < loops; ++k) {\n"
FMA += "".join(f"a{i} = __builtin_elementwise_fma(a{i}, x, y);\n" for i in range(CHAINS))
FMA += "}\n*(lanes*)args[1] = " + " + ".join(f"a{i}" for i in range(CHAINS)) + ";\n"

OPERATIONS = CHAINS * 16 * 2
"""Operations of one pass of the loop of FMA."""

COPY_GPU = "((float4*)args[1])[tid] = ((const float4*)args[0])[tid];"

FMA_GPU = """
float a[8], x = ((const float*)args[0])[tid % 16], y = ((const float*)args[0])[16 + tid % 16];
for (int i = 0; i < 8; ++i) a[i] = x + (float)i;
for (long long k = 0; k < args[3]; ++k)
    for (int i = 0; i < 8; ++i) a[i] = fmaf(a[i], x, y);
float sum = 0;
for (int i = 0; i < 8; ++i) sum += a[i];
((float*)args[1])[tid] = sum;
"""

Args = wp.types.vector(length=5, dtype=wp.int64)


@wp.func_native(snippet=COPY)
def copy_lanes(args: Args, tid: int): ...


@wp.func_native(snippet=FMA)
def fma_lanes(args: Args, tid: int): ...


@wp.func_native(snippet=COPY_GPU)
def copy_thread(args: Args, tid: int): ...


@wp.func_native(snippet=FMA_GPU)
def fma_thread(args: Args, tid: int): ...


@wp.kernel(module="unique", enable_backward=False)
def copy_on_cpu(args: Args):
    copy_lanes(args, wp.tid())


@wp.kernel(module="unique", enable_backward=False)
def fma_on_cpu(args: Args):
    fma_lanes(args, wp.tid())


@wp.kernel(module="unique", enable_backward=False)
def copy_on_gpu(args: Args):
    copy_thread(args, wp.tid())


@wp.kernel(module="unique", enable_backward=False)
def fma_on_gpu(args: Args):
    fma_thread(args, wp.tid())


Clock = Callable[[], float]


def limits(device: str = "cpu", clock: Clock = time.perf_counter) -> dict[str, Any]:
    """Bytes per second of copies by size (read and written), and operations per second.

    `clock`: clock for a core. `time.process_time` leaves out other processes.
    """
    return _of_gpu(device) if wp.get_device(device).is_cuda else _of_core(clock)


def _of_core(clock: Clock) -> dict[str, Any]:
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, CORES[-1:])
    memory = np.ones(SIZES[-1] // 4 + 64, np.float32)
    start = -memory.ctypes.data % 64 // 4
    source, target = memory[start:], memory[start + SIZES[-1] // 8 :]

    def seconds(kernel: Any, vectors: int, loops: int, stream: int) -> float:
        args = Args(source.ctypes.data, target.ctypes.data, vectors, loops, stream)
        command = wp.launch(kernel, dim=1, inputs=[args], device="cpu", record_cmd=True)
        return min(_time_run(command.launch, clock) for _ in range(5))

    def rate(size: int) -> float:
        loops = max(1, (1 << 27) // size)
        return max(
            size * loops / seconds(copy_on_cpu, size // 128, loops, stream) for stream in (0, 1)
        )

    copies = {size: rate(size) for size in SIZES}
    source[:32] = 0.5
    loops = 1 << 21
    peak = OPERATIONS * loops / seconds(fma_on_cpu, 0, loops, 0)
    os.sched_setaffinity(0, before)
    return {"copy": copies, "operations": peak, "unit": "one core, float32"}


def _of_gpu(device: str) -> dict[str, Any]:
    size, threads, loops = 1 << 30, 1 << 20, 4096
    with wp.ScopedDevice(device):
        source, target = (wp.zeros(size // 4, dtype=float) for _ in range(2))

        def seconds(kernel: Any, dim: int, loops: int) -> float:
            args = Args(source.ptr, target.ptr, 0, loops, 0)

            def run() -> None:
                wp.launch(kernel, dim=dim, inputs=[args])
                wp.synchronize()

            run()
            return min(_time_run(run) for _ in range(5))

        copy = 2 * size / seconds(copy_on_gpu, size // 16, 0)
        peak = 16 * loops * threads / seconds(fma_on_gpu, threads, loops)
    return {"copy": {2 * size: copy}, "operations": peak, "unit": "the GPU, float32"}


def _time_run(run: Callable[[], Any], clock: Clock = time.perf_counter) -> float:
    start = clock()
    run()
    return clock() - start


def bandwidth(measured: dict[str, Any], size: float) -> float:
    """Bytes per second of a copy of this size, interpolated between the measured sizes."""
    sizes = sorted(measured["copy"], key=float)
    return float(
        np.interp(
            np.log(size), np.log([float(s) for s in sizes]), [measured["copy"][s] for s in sizes]
        )
    )


def floor_ns(
    measured: dict[str, Any], operations: float, size: float, batch: int
) -> tuple[float, str]:
    """Lower bound of the time per robot [ns], and the limit that sets it."""
    compute = 1e9 * operations / measured["operations"]
    memory = 1e9 * size / bandwidth(measured, size * batch)
    return max((compute, "arithmetic"), (memory, "memory"))
