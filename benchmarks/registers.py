"""Registers and spills of the CUDA kernels on sm_90, from `nvcc`, without a GPU.

`python -m benchmarks.registers`. nvcc comes with the CUDA toolkit. The kernels are wrapped as plain
CUDA functions: same text, other entry point.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import warp as wp
from tqdm import tqdm

from warpdyn.codegen.source import Source, write
from warpdyn.execution.request.call import input_shapes
from warpdyn.execution.request.evaluate import record_call
from warpdyn.recording.order import values_alive

from .records import line
from .robots import robot
from .workload import Work, states_of

ROBOTS = ("ur5", "panda", "quadruped", "talos_reduced", "humanoid")
ALGORITHMS = (
    "fk",
    "jacobian",
    "rnea",
    "crba",
    "aba",
    "mass_matrix_inverse",
    "rnea_derivatives",
    "rnea_vjp",
    "aba_vjp",
)

REGISTERS, WARPS = 65536, 64
"""Registers of a multiprocessor of sm_90 (CUDA C++ Programming Guide, technical specifications)."""

WRAPPED = """#include <cmath>
struct Args {{ long long at[{length}]; __device__ long long operator[](int i) const {{ return at[i]; }} }};
extern "C" __global__ void kernel(const Args args) {{
const int tid = blockIdx.x * blockDim.x + threadIdx.x;
{source}
}}
"""


def compiled(source: Source) -> str:
    """What ptxas says of a kernel."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "kernel.cu")
        file.write_text(WRAPPED.format(length=source.layout.length, source=source.code))
        command = [
            "nvcc",
            "-arch=sm_90",
            "-O3",
            "-Xptxas",
            "-v",
            "-cubin",
            "-o",
            str(file.with_suffix(".cubin")),
            file,
        ]
        return subprocess.run(command, capture_output=True, text=True, check=True).stderr


def occupancy(registers: int) -> float:
    """Share of a multiprocessor's warps whose registers, 256 at a time, have room."""
    return min(WARPS, REGISTERS // (-(-32 * registers // 256) * 256)) / WARPS


def main() -> int:
    """Print the table."""
    if not shutil.which("nvcc"):
        print("nvcc is not installed", file=sys.stderr)
        return 2
    wp.config.log_level = wp.LOG_ERROR
    print(
        "| robot, algorithm | operations | values alive | registers | occupancy [%] | spill stores, loads [bytes] |"
    )
    print("|---|---|---|---|---|---|")
    for name, algorithm in tqdm([(r, a) for r in ROBOTS for a in ALGORITHMS], file=sys.stderr):
        call = Work(robot(name), algorithm, states_of(robot(name), 1)).described()
        program = record_call(call, input_shapes(call), True)
        said = compiled(write(program, algorithm, True, "cuda"))
        registers = int(re.search(r"Used (\d+) registers", said).group(1))
        spills = re.search(r"(\d+) bytes spill stores, (\d+) bytes spill loads", said).groups()
        cells = [
            f"{name} {algorithm}",
            f"{program.operations:,}",
            values_alive(program.statements),
            registers,
        ]
        cells += [f"{100 * occupancy(registers):.0f}", ", ".join(f"{int(x):,}" for x in spills)]
        print(line([str(cell) for cell in cells]), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
