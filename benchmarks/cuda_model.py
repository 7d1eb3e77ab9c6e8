"""Times of CUDA kernels on an H100 by a model, for a project without a GPU.

    python -m benchmarks.cuda_model [ROBOT:FUNCTION ...]

Two things are facts: NVRTC's machine code for sm_90 says how many registers and how much local memory a
thread needs, and the emulated device (tests/cuda_device) counts instructions and sectors of memory. The
times follow from a model, and nothing of it has been measured on a GPU. A time is the largest of these:

- memory: bytes of all arrays at 3.35 TB/s (NVIDIA H100 data sheet, SXM);
- cache: sectors of 32 bytes at 5.5 TB/s, an assumption;
- issue: one instruction a cycle from each of the four schedulers of a multiprocessor;
- latency: waves of blocks, each with 700 cycles for its loads and 1.5 cycles for each instruction of
  its longest warp, from barrier to barrier, assumptions.

The emulated device counts PTX, of which ptxas makes other instructions. Local memory is stated and is
not part of the times. Results: benchmarks/results/cuda_model.json.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import warp as wp
from tqdm import tqdm

import warpdyn as wd
from warpdyn.codegen.cuda import CudaThread
from warpdyn.codegen.cuda_warps import CudaWarps, choose
from warpdyn.codegen.source import Source, write
from warpdyn.execution.compile.kernel import BLOCK, compile_kernel
from warpdyn.execution.request.call import input_shapes
from warpdyn.execution.request.evaluate import record_call
from warpdyn.recording.program import Program

from .cubin import KernelResources, read_cubin
from .records import line

ROOT = Path(__file__).resolve().parents[1]
RESULT = ROOT / "benchmarks/results/cuda_model.json"

CALLS = tuple(
    f"{robot}:{name}"
    for robot in ("panda", "quadruped")
    for name in ("fk", "jacobian", "rnea", "crba", "aba")
)

MULTIPROCESSORS, CLOCK, SCHEDULERS = 132, 1.7e9, 4
REGISTERS, SHARED_BYTES, MOST_BLOCKS = 65536, 228 * 1024, 32
"""Limits of a multiprocessor of sm_90 (CUDA C++ Programming Guide, technical specifications)."""

DRAM, L2 = 3.35e12, 5.5e12
"""Bytes a second."""

LOAD_CYCLES, CYCLES = 700, 1.5
"""Cycles of a load from memory, and of an instruction that waits for the one before."""

SECTOR = 32


class Modelled(NamedTuple):
    """A time [s] and what it is made of."""

    seconds: float
    bound: str


def resident_blocks(resources: KernelResources, shared_bytes: int, warps: int = 1) -> int:
    """Blocks that a multiprocessor holds at once."""
    by_registers = REGISTERS // (-(-resources.registers * 32 // 256) * 256 * warps)
    by_shared = SHARED_BYTES // (shared_bytes + 1024)  # the system takes 1 KB of each block
    return min(by_registers, by_shared, MOST_BLOCKS)


def modelled_time(
    count: int,
    resources: KernelResources,
    counted: dict[str, float],
    shared_bytes: int,
    longest: float = 1.0,
) -> Modelled:
    """The time of a launch for `count` environments. `longest`: instructions for which a block waits,
    from phase to phase, as a share of those of all its warps."""
    warps = int(counted.get("warps", 1))
    blocks = -(-count // BLOCK)
    waves = -(-blocks // (MULTIPROCESSORS * resident_blocks(resources, shared_bytes, warps)))
    all_instructions = warps * counted["instructions"]
    needed = (counted["to_load"] + counted["to_store"]) * SECTOR * count
    moved = (counted["loaded"] + counted["stored"]) * SECTOR * count
    per_multiprocessor = -(-blocks // MULTIPROCESSORS) * all_instructions
    times = {
        "memory": needed / DRAM,
        "cache": moved / L2,
        "issue": per_multiprocessor / SCHEDULERS / CLOCK,
        "latency": waves * (LOAD_CYCLES + CYCLES * longest * all_instructions) / CLOCK,
    }
    bound = max(times, key=times.__getitem__)
    return Modelled(times[bound], bound)


def program_of(call: str) -> Program:
    """The program of a call in float32."""
    robot, name = call.split(":")
    model = wd.load_robot(robot)
    zeros = [np.zeros((1, n), np.float32) for n in (model.nq, model.nv, model.nv)]
    arrays = zeros[:1] if name in ("fk", "jacobian", "crba") else zeros
    options = {"frame": model.link_names[-1]} if name == "jacobian" else {}
    described = getattr(wd, name).describe(model, *arrays, **options)
    return record_call(described, input_shapes(described), True)


def compiled_resources(call: str) -> tuple[KernelResources, int]:
    """Resources of a call's float32 kernel, and its shared memory [bytes]."""
    return resources_of(write(program_of(call), call.split(":")[1], True, "cuda"))


def resources_of(source: Source) -> tuple[KernelResources, int]:
    """Resources of a kernel, and its shared memory [bytes]."""
    with tempfile.TemporaryDirectory() as folder:
        kernel = compile_kernel(source)
        wp.compile_aot_module(kernel.module, arch=90, module_dir=folder, use_ptx=False)
        (cubin,) = Path(folder).glob("*.cubin")
        return read_cubin(cubin), 4 * program_stage(source.code)


def longest_share(thread: CudaThread) -> float:
    """Statements for which a block waits, as a share of those of all its warps."""
    return thread.cut.longest / thread.cut.work if isinstance(thread, CudaWarps) else 1.0


def program_stage(code: str) -> int:
    """Numbers of shared memory that a source declares."""
    _, _, rest = code.partition("__shared__ T stage[")
    return int(rest.partition("]")[0]) if rest else 0


def counts(calls: tuple[str, ...]) -> dict[str, dict[str, float]]:
    """Sectors and instructions that the emulated device counts, by call and layout; `--one-warp` among the
    calls: of programs that are not cut."""
    sys.path.insert(0, str(ROOT / "tests"))
    from cuda_device.emulated_processes import json_of  # noqa: PLC0415

    found: dict[str, dict[str, float]] = json_of("row_sectors.py", *calls)
    return found


def main(arguments: list[str]) -> int:
    """Print the table and write it."""
    wd.config.compile_messages = False
    wp.config.log_level = wp.LOG_ERROR
    calls = tuple(arguments) or CALLS
    resources = {call: compiled_resources(call) for call in tqdm(calls, desc="machine code")}
    records: list[dict[str, Any]] = []
    print(
        "| kernel, layout | registers | local [B] | sectors by needed | 4,096 [us] | 65,536 [us] |"
    )
    print("|---|---|---|---|---|---|")
    for name, counted in counts(calls).items():
        call, _, layout = name.partition(" ")
        needs, shared_bytes = resources[call]
        longest = longest_share(choose(program_of(call), True))
        moved = counted["loaded"] + counted["stored"]
        ratio = moved / (counted["to_load"] + counted["to_store"])
        few, many = (modelled_time(n, needs, counted, shared_bytes, longest) for n in (4096, 65536))
        records.append(
            {
                "call": call,
                "layout": layout,
                **needs._asdict(),
                "shared_bytes": shared_bytes,
                **{key: round(x, 3) for key, x in counted.items()},
                "modelled_us": {
                    "4096": [round(1e6 * few.seconds, 2), few.bound],
                    "65536": [round(1e6 * many.seconds, 2), many.bound],
                },
            }
        )
        cells = [name, needs.registers, needs.local_bytes, f"{ratio:.2f}"]
        cells += [f"{1e6 * x.seconds:.1f} {x.bound}" for x in (few, many)]
        print(line([str(cell) for cell in cells]), flush=True)
    RESULT.write_text(
        json.dumps({"modelled": "nothing measured on a GPU", "records": records}, indent=1) + "\n"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
