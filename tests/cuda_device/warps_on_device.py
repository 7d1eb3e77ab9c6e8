"""Programs cut into several warps, compared with the same programs in one warp, on the emulated
device. `warps_on_device.py ROBOT:FUNCTION:WARPS ...` prints JSON: call, warps, dtype, layout and
batch size -> whether all bits are the same, in both orders in which the emulated device runs the
warps of a block."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator

import numpy as np
import warp as wp
from cuda_device.ptx_kernels import library

import warpdyn as wd
from warpdyn.codegen import targets
from warpdyn.codegen.cuda import STATIC_BYTES, CudaThread
from warpdyn.codegen.cuda_warps import thread_of_cut
from warpdyn.codegen.source import Source
from warpdyn.codegen.warp_cut import Dependencies
from warpdyn.execution.compile.kernel import KernelCommand, compile_kernel
from warpdyn.execution.request.call import input_shapes
from warpdyn.execution.request.evaluate import record_call
from warpdyn.recording.program import Program

BATCHES = (1, 33, 100)
OF_POSITIONS = ("fk", "jacobian", "crba")
BEYOND = 3
"""Rows of results that must stay as they are."""


def program_of(model: wd.Model, name: str, single: bool) -> Program:
    """A recorded call."""
    sizes = (model.nq,) if name in OF_POSITIONS else (model.nq, model.nv, model.nv)
    options = {"frame": model.link_names[-1]} if name == "jacobian" else {}
    call = getattr(wd, name).describe(model, *(np.zeros((1, n)) for n in sizes), **options)
    return record_call(call, input_shapes(call), single)


def write_for_warps(program: Program, name: str, single: bool, warps: int) -> Source:
    """The program for so many warps, if shared memory is large enough."""
    described = targets.describe(program, f"{name}_{warps}", single, "cuda")
    threads: list[CudaThread] = [CudaThread(program, single)]
    if warps > 1:
        needs = Dependencies(program)
        parts = (
            thread_of_cut(program, single, cut, needs, STATIC_BYTES) for cut in needs.cuts(warps)
        )
        threads = [next(filter(None, parts), threads[0])]
    fields = {key: getattr(described, key) for key in described.__dataclass_fields__}
    return Source(**fields | {"code": threads[0].source(), "warps": threads[0].warps})


def fields(array: wp.array) -> list[int]:
    """Address and strides in elements."""
    size = wp.types.type_size_in_bytes(array.dtype)
    strides = [s // size for s in array.strides]
    return [array.ptr, *strides, *[0] * (4 - len(strides))]


def place(array: np.ndarray, in_rows: bool) -> wp.array:
    """An array on the device, in rows or with environments contiguous."""
    if in_rows:
        return wp.array(array, device="cuda:0")
    axes = (*range(1, array.ndim), 0)
    back = (array.ndim - 1, *range(array.ndim - 1))
    return wp.array(np.ascontiguousarray(array.transpose(axes)), device="cuda:0").transpose(back)


def command_of(source: Source) -> KernelCommand:
    """A launch of the source."""
    kernel = compile_kernel(source)
    # Otherwise NVRTC fuses a product and a sum where they are in the same part.
    kernel.module.options["fuse_fp"] = False
    kernel.module.mark_modified()
    length = source.layout.length
    return KernelCommand(kernel, wp.get_device("cuda:0"), length, warps=source.warps)


def results(
    source: Source,
    command: KernelCommand,
    arrays: list[np.ndarray],
    in_rows: bool,
    last_warp_first: bool,
) -> list[np.ndarray]:
    """The results of a launch, with rows beyond the batch."""
    library().emulated_cuda_last_warp_first(int(last_warp_first))
    count, dtype = len(arrays[0]), arrays[0].dtype
    inputs = [place(array, in_rows) for array in arrays]
    outs = [
        place(np.full((count + BEYOND, *shape), np.nan, dtype), in_rows)
        for shape in source.results.values()
    ]
    command.set([0, count, 0, 0, *(n for array in (*inputs, *outs) for n in fields(array))])
    command.set_threads(count)
    command.run()
    wp.synchronize()
    return [out.numpy() for out in outs]


def are_same(some: list[np.ndarray], others: list[np.ndarray]) -> bool:
    """True if all bits are the same."""
    return all(np.array_equal(a, b, equal_nan=True) for a, b in zip(some, others, strict=True))


def compare(robot: str, name: str, warps: int) -> Iterator[tuple[str, bool]]:
    """Compare every type, layout and batch size."""
    model, draw = wd.load_robot(robot), np.random.default_rng(0)
    for dtype in (np.float32, np.float64):
        single = dtype is np.float32
        program = program_of(model, name, single)
        both = [write_for_warps(program, name, single, n) for n in (1, warps)]
        one, cut = ((source, command_of(source)) for source in both)
        for count in BATCHES:
            q = np.asarray(wd.random_configuration(model, count))
            q[0, -1] = 1e6  # an angle beyond the range of the polynomials
            arrays = [q, *(draw.normal(size=(count, model.nv)) for _ in range(2))]
            arrays = [x.astype(dtype) for x in arrays[: len(both[0].inputs)]]
            for in_rows in (True, False):
                expected, *found = [
                    results(source, command, arrays, in_rows, order)
                    for source, command, order in ((*one, False), (*cut, False), (*cut, True))
                ]
                same = all(map(are_same, found, (expected, expected)))
                whole = all(
                    np.isfinite(x[:count]).all() and np.isnan(x[count:]).all() for x in expected
                )
                layout = "rows" if in_rows else "columns"
                yield (
                    f"{robot}:{name} {both[1].warps} {np.dtype(dtype)} {layout} {count}",
                    same and whole,
                )


if __name__ == "__main__":
    wd.config.compile_messages = False
    wp.config.log_level = wp.LOG_ERROR
    found: dict[str, bool] = {}
    for case in sys.argv[1:]:
        robot_name, function, number = case.split(":")
        found |= dict(compare(robot_name, function, int(number)))
    print(json.dumps(found))
