"""Kernels in one warp next to the same kernels in several warps, by the model of `cuda_model`.

    python -m benchmarks.cuda_warps [ROBOT:FUNCTION ...]

Registers, local memory and instructions that access it are facts of NVRTC's machine code for sm_90. The
times are modelled, and no GPU has measured them. Results: benchmarks/results/cuda_warps.json.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import warp as wp

import warpdyn as wd
from warpdyn.codegen.cuda import CudaThread
from warpdyn.codegen.cuda_warps import choose
from warpdyn.codegen.source import Source, describe

from .cuda_model import ROOT, counts, longest_share, modelled_time, program_of, resources_of
from .records import line

RESULT = ROOT / "benchmarks/results/cuda_warps.json"

CALLS = tuple(
    f"{robot}:{name}"
    for robot in ("panda", "quadruped", "humanoid")
    for name in ("fk", "rnea", "aba", "crba", "rnea_derivatives", "aba_derivatives")
    if (robot, name) not in (("humanoid", "aba_derivatives"), ("humanoid", "rnea_derivatives"))
)
"""Without two that NVRTC compiles for minutes."""

HEADER = "| kernel | warps | registers | local [B] | local accesses | 4,096 [us] | 65,536 [us] |"


def source_of(thread: CudaThread, name: str) -> Source:
    """The source of a thread's function."""
    described = describe(thread.program, name, True, "cuda")
    written = {"code": thread.source(), "warps": thread.warps}
    return Source(
        **{key: getattr(described, key) for key in described.__dataclass_fields__} | written
    )


def record(call: str, thread: CudaThread, counted: dict[str, float]) -> dict[str, Any]:
    """A kernel's resources and modelled times."""
    needs, shared_bytes = resources_of(source_of(thread, call.split(":")[1]))
    longest = longest_share(thread)
    times = {n: modelled_time(n, needs, counted, shared_bytes, longest) for n in (4096, 65536)}
    return {
        "call": call,
        "warps": thread.warps,
        **needs._asdict(),
        "shared_bytes": shared_bytes,
        "instructions": round(counted["instructions"] * counted["warps"]),
        "longest": round(longest, 3),
        "modelled_us": {str(n): [round(1e6 * t.seconds, 2), t.bound] for n, t in times.items()},
    }


def main(arguments: list[str]) -> int:
    """Print the table and write it."""
    wd.config.compile_messages = False
    wp.config.log_level = wp.LOG_ERROR
    records = []
    print(HEADER + "\n|---|---|---|---|---|---|---|", flush=True)
    for call in arguments or CALLS:
        program = program_of(call)
        chosen = choose(program, True)
        threads: dict[tuple[str, ...], CudaThread] = {("--one-warp",): CudaThread(program, True)}
        if chosen.warps > 1:
            threads[()] = chosen
        for options, thread in threads.items():
            counted = counts((call, *options))[f"{call} rows"]
            made = record(call, thread, counted)
            records.append(made)
            cells = [call, *(made[x] for x in ("warps", "registers", "local_bytes"))]
            times = [f"{us:.1f} {bound}" for us, bound in made["modelled_us"].values()]
            print(line([*map(str, cells), str(made["local_accesses"]), *times]), flush=True)
    text = json.dumps({"modelled": "nothing measured on a GPU", "records": records}, indent=1)
    RESULT.write_text(text + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
