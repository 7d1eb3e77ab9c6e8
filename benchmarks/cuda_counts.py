"""Count memory sectors and instructions of CUDA kernels on the emulated device (tests/cuda_device).

    python -m benchmarks.cuda_counts [--machine-code] [--one-warp] [KERNEL ...]

The last line of the output is JSON. For each kernel and layout it has the memory sectors that a robot
loads and stores, the sectors that its arrays occupy, and the instructions per warp. With
`--machine-code` NVRTC also compiles for sm_90, and the record has registers, local memory, the length
of the source and the compile time. With `--one-warp` no program is split over several warps. The key
"many" has the counts of the form for many environments if it differs from the form for few.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Iterable
from math import prod
from pathlib import Path
from typing import Any

import warp as wp
from cuda_device.ptx_kernels import counters, library

import warpdyn as wd
from warpdyn.arrays import View
from warpdyn.codegen.cuda import STATIC_BYTES
from warpdyn.codegen.cuda_warps import CudaWarps, best_thread
from warpdyn.codegen.source import Source
from warpdyn.codegen.targets import FOR_FEW, target_of
from warpdyn.execution.compile.kernel import compile_kernel
from warpdyn.execution.launch.launch import prepare
from warpdyn.execution.request.call import Call, input_shapes
from warpdyn.execution.request.evaluate import record_call

from .cubin import read_cubin
from .cuda_kernels import ENVIRONMENTS, KERNELS, LAYOUTS, call_of, keep_programs_whole, on_device
from .sass import read_machine_code

B = 128
"""Four warps."""

SECTOR = 32


def count(
    call: Call[Any], layout: str, target: str | None = None
) -> tuple[dict[str, float], Source]:
    """Memory sectors per robot and instructions per warp, with the kernel's source.

    target: the form for many environments; None for few.
    """
    job = prepare(on_device(call, layout, B), target)
    job.launch_once()
    before = counters()
    library().emulated_cuda_measure(1)
    job.launch_once()
    wp.synchronize()
    library().emulated_cuda_measure(0)
    changed = {key: n - before[key] for key, n in counters().items()}
    return {
        "loaded": changed["load_sectors"] / B,
        "stored": changed["store_sectors"] / B,
        "to_load": occupied_sectors(job.inputs.values()),
        "to_store": occupied_sectors(job.out_views),
        "instructions": changed["instructions"] / changed["warps"],
        "warps": job.kernel.source.warps,
        "longest": longest_share(call, job.kernel.source.shared_bytes),
    }, job.kernel.source


def longest_share(call: Call[Any], shared_bytes: int) -> float:
    """Longest path of statements through a block of several warps, as a share of all its statements.

    The path goes from barrier to barrier. `shared_bytes`: dynamic shared memory of a launch.
    """
    program = record_call(call, input_shapes(call), True)
    most = max(FOR_FEW.values()) if shared_bytes else STATIC_BYTES
    thread = best_thread(program, True, most)
    return thread.cut.longest / thread.cut.work if isinstance(thread, CudaWarps) else 1.0


def occupied_sectors(views: Iterable[View]) -> float:
    """Sectors per robot that its numbers occupy in arrays with a row for each robot."""
    return sum(prod(x.shape) for x in views if x.shape and x.shape[0] == B) * 4 / SECTOR / B


def machine_code(source: Source) -> dict[str, Any]:
    """Facts about the machine code that NVRTC compiles for sm_90, and the CPU time of the compiler."""
    kernel = compile_kernel(source)
    with tempfile.TemporaryDirectory() as folder:
        begun = time.process_time()
        wp.compile_aot_module(kernel.module, arch=90, module_dir=folder, use_ptx=False)
        seconds = time.process_time() - begun
        (cubin,) = Path(folder).glob("*.cubin")
        code = read_machine_code(cubin)
        return {
            **read_cubin(cubin)._asdict(),
            **({} if code is None else code._asdict()),
            "shared_bytes": source.shared_bytes or 4 * staged_numbers(source.code),
            "characters": len(source.code),
            "operations": source.operations,
            "entries": sum(map(prod, source.results.values())),
            "seconds": round(seconds, 2),
        }


def staged_numbers(code: str) -> int:
    """Length of the shared array that a source declares; 0 if there is none."""
    _, _, rest = code.partition("__shared__ T stage[")
    return int(rest.partition("]")[0]) if rest else 0


def main(arguments: list[str]) -> None:
    """Print counts of the kernels as JSON."""
    wp.config.quiet = True
    wd.config.compile_messages = False
    compiled = "--machine-code" in arguments
    if "--one-warp" in arguments:
        keep_programs_whole()
    names = [x for x in arguments if not x.startswith("--")] or (*KERNELS, *ENVIRONMENTS)
    found: dict[str, dict[str, Any]] = {}
    for name in names:
        call, codes = call_of(name, B), dict[str, dict[str, Any]]()
        for layout in LAYOUTS:
            forms = []
            for target in (None, target_of("cuda")):
                counts, source = count(call, layout, target)
                if compiled and source.code not in codes:
                    codes[source.code] = machine_code(source)
                forms.append({**counts, **codes.get(source.code, {})})
            few, many = forms
            found[f"{name} {layout}"] = few if few == many else {**few, "many": many}
            print(name, layout, found[f"{name} {layout}"], file=sys.stderr, flush=True)
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1:])
