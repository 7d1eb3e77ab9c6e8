"""Estimate the times of CUDA kernels on an H100, without a GPU.

    python -m benchmarks.cuda_model [KERNEL ...]

Two inputs are facts. NVRTC's machine code for sm_90 has the registers and the local memory of a thread,
and the emulated device (tests/cuda_device) counts instructions and memory sectors. The times follow from
a model. Real kernels take longer on an H100 (`gpu_times`), mainly because the model leaves out
instruction fetches. A time is the largest of these:

- memory: bytes of all arrays at 3.35 TB/s (NVIDIA H100 data sheet, SXM)
- cache: sectors of 32 bytes at 5.5 TB/s (assumption)
- issue: one instruction per cycle from each of the four schedulers of a multiprocessor
- latency: waves of blocks, each with 700 cycles for its loads and 1.5 cycles for each instruction of
  its longest warp, from barrier to barrier (assumptions)
- local: local memory in the L2 cache at 5.5 TB/s if the threads of a multiprocessor have more than
  200 KB of it, and at memory speed if all threads together have more than 50 MB (assumptions)

The emulated device counts PTX instructions; ptxas turns them into other machine instructions. The model
therefore takes the share of local-memory accesses from the machine code. NVIDIA's disassembler counts
them (`pip install nvidia-cuda-nvdisasm`). Without the disassembler, the times leave out local memory,
and blocks with loads are not counted.

The lower bound of a kernel is the larger of memory and issue, with warps on all schedulers. Results go
to benchmarks/results/cuda_model.json.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from warpdyn.execution.compile.kernel import BLOCK
from warpdyn.execution.launch.batch_target import FEW_PER_MULTIPROCESSOR

from .cuda_kernels import ENVIRONMENTS, KERNELS
from .records import line
from .sass import disassembler

ROOT = Path(__file__).resolve().parents[1]
RESULT = ROOT / "benchmarks/results/cuda_model.json"

MULTIPROCESSORS, CLOCK, SCHEDULERS = 132, 1.7e9, 4
REGISTERS, SHARED_BYTES, MOST_BLOCKS = 65536, 228 * 1024, 32
"""Limits of a multiprocessor of sm_90 (CUDA C++ Programming Guide, technical specifications)."""

DRAM, L2 = 3.35e12, 5.5e12
"""Bytes per second."""

L1_BYTES, L2_BYTES = 200_000, 50_000_000
"""Local memory that the caches of a multiprocessor and of the device hold."""

LOAD_CYCLES, CYCLES = 700, 1.5
"""Cycles of a load from memory, and of an instruction that waits for its predecessor."""

SECTOR = 32

BATCHES = (4096, 65536)


class ModelledTime(NamedTuple):
    """A time [s], the limit that sets it, and the kernel's lower bound [s]."""

    seconds: float
    bound: str
    least: float


def resident_blocks(registers: int, shared_bytes: int, warps: int = 1) -> int:
    """Number of blocks that a multiprocessor holds at once."""
    by_registers = REGISTERS // (-(-registers * 32 // 256) * 256 * warps)
    by_shared = SHARED_BYTES // (shared_bytes + 1024)  # the system takes 1 KB of each block
    return min(by_registers, by_shared, MOST_BLOCKS)


def modelled_time(count: int, kernel: Mapping[str, float]) -> ModelledTime:
    """Time of a launch for `count` environments."""
    warps, blocks = int(kernel.get("warps", 1)), -(-count // BLOCK)
    resident = resident_blocks(int(kernel["registers"]), int(kernel["shared_bytes"]), warps)
    waves = -(-blocks // (MULTIPROCESSORS * resident))
    needed = (kernel["to_load"] + kernel["to_store"]) * SECTOR * count
    moved = (kernel["loaded"] + kernel["stored"]) * SECTOR * count
    instructions = kernel["instructions"] * warps
    per_multiprocessor = -(-blocks // MULTIPROCESSORS) * instructions
    waits = kernel.get("longest", 1.0) * instructions
    times = {
        "memory": needed / DRAM,
        "cache": moved / L2,
        "issue": per_multiprocessor / SCHEDULERS / CLOCK,
        "latency": waves * (LOAD_CYCLES + CYCLES * waits) / CLOCK,
        "local": local_time(kernel, count, min(resident, -(-blocks // MULTIPROCESSORS))),
    }
    bound = max(times, key=times.__getitem__)
    on_all = blocks * instructions / (MULTIPROCESSORS * SCHEDULERS) / CLOCK
    return ModelledTime(times[bound], bound, max(times["memory"], on_all))


def local_time(kernel: Mapping[str, float], count: int, resident: int) -> float:
    """Time of local memory beyond the L1 cache. `resident`: blocks of a multiprocessor at once."""
    warps = int(kernel.get("warps", 1))
    on_multiprocessor = kernel["local_bytes"] * BLOCK * warps * resident
    if on_multiprocessor <= L1_BYTES:
        return 0.0
    accesses = kernel.get("local_share", 0.0) * kernel["instructions"] * warps
    rate = DRAM if on_multiprocessor * MULTIPROCESSORS > L2_BYTES else L2
    return accesses * 4 * count / rate


def counts(names: Iterable[str]) -> dict[str, dict[str, float]]:
    """Counts of the emulated device and resources of the machine code, by kernel and layout."""
    sys.path.insert(0, str(ROOT / "tests"))
    from cuda_device.emulated_processes import last_json, run_emulated  # noqa: PLC0415

    found: dict[str, dict[str, float]] = last_json(
        run_emulated("-m", "benchmarks.cuda_counts", "--machine-code", *names)
    )
    return found


def record(name: str, kernel: Mapping[str, Any]) -> dict[str, Any]:
    """Facts and modelled times of a kernel in one layout."""
    call, _, layout = name.partition(" ")
    many = kernel.get("many", kernel)
    forms = {n: kernel if n <= FEW_PER_MULTIPROCESSOR * MULTIPROCESSORS else many for n in BATCHES}
    times = {str(n): modelled_time(n, form) for n, form in forms.items()}
    return {
        "call": call,
        "layout": layout,
        **{key: round(x, 4) for key, x in kernel.items() if key != "many"},
        "modelled_us": {n: [round(1e6 * x.seconds, 2), x.bound] for n, x in times.items()},
        "modelled_by_bound": {n: round(x.seconds / x.least, 2) for n, x in times.items()},
    }


def table(records: Iterable[Mapping[str, Any]]) -> Iterable[str]:
    """Table of docs/gpu.md."""
    columns = [
        "kernel, layout",
        "warps",
        "registers",
        "local [B]",
        "load blocks",
        "sectors by needed",
    ]
    yield line([*columns, *(f"{n:,} [us]" for n in BATCHES)])
    yield "|---" * (len(columns) + len(BATCHES)) + "|"
    for x in records:
        moved = (x["loaded"] + x["stored"]) / (x["to_load"] + x["to_store"])
        cells = [f"{x['call']} {x['layout']}", x.get("warps", 1), x["registers"], x["local_bytes"]]
        cells += [x.get("load_blocks", "-"), f"{moved:.2f}"]
        cells += [f"{time:.1f} {bound}" for time, bound in x["modelled_us"].values()]
        yield line([str(cell) for cell in cells])


def means(records: Iterable[Mapping[str, Any]]) -> dict[str, float]:
    """Geometric means over KERNELS of modelled times divided by lower bounds, by batch size and layout."""
    found: dict[str, list[float]] = {}
    for x in records:
        if x["call"] in KERNELS:
            for n, ratio in x["modelled_by_bound"].items():
                found.setdefault(f"{n} {x['layout']}", []).append(ratio)
    return {key: round(float(np.exp(np.mean(np.log(each)))), 2) for key, each in found.items()}


def main(names: list[str]) -> int:
    """Print the table and write the results."""
    if disassembler() is None:
        print(
            "Blocks with loads and the time of local memory are left out. They need NVIDIA's "
            "disassembler: pip install nvidia-cuda-nvdisasm",
            file=sys.stderr,
        )
    found = counts(names or (*KERNELS, *ENVIRONMENTS))
    # Records of kernels that were not asked for stay in the file.
    before = json.loads(RESULT.read_text())["records"] if names else []
    merged = {f"{x['call']} {x['layout']}": x for x in before}
    merged |= {name: record(name, kernel) for name, kernel in found.items()}
    records = list(merged.values())
    print(*table(records), sep="\n")
    print(means(records))
    content = {"modelled": "nothing measured on a GPU", "means": means(records), "records": records}
    RESULT.write_text(json.dumps(content, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
