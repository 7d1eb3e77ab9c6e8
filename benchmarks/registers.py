"""Registers and spills of the CUDA kernels on sm_90, from `nvcc`, without a GPU: python -m benchmarks.registers

nvcc comes with the CUDA toolkit. The kernels are wrapped as plain CUDA functions: same text, other entry point.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import warpdyn as wd
from warpdyn.call import record_call
from warpdyn.tracing.kernel import Text, write

from . import robots

CALLS = {
    "rnea": (wd.rnea, ("q", "v", "a")),
    "aba": (wd.aba, ("q", "v", "tau")),
    "crba": (wd.crba, ("q",)),
    "fk": (wd.fk, ("q",)),
}

WRAPPED = """#include <cmath>
struct Args {{ long long at[{length}]; __device__ long long operator[](int i) const {{ return at[i]; }} }};
extern "C" __global__ void kernel(const Args args) {{
const int tid = blockIdx.x * blockDim.x + threadIdx.x;
{source}
}}
"""


def compiled(text: Text) -> str:
    """What ptxas says of a kernel."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "kernel.cu")
        file.write_text(WRAPPED.format(length=text.layout.length, source=text.source))
        command = ["nvcc", "-arch=sm_90", "-O3", "-Xptxas", "-v", "-cubin", "-o", str(file.with_suffix(".cubin")), file]
        return subprocess.run(command, capture_output=True, text=True, check=True).stderr


def main() -> int:
    """Print the table."""
    if not shutil.which("nvcc"):
        print("nvcc is not installed", file=sys.stderr)
        return 2
    print("| robot, algorithm | operations | values alive | registers | spill stores, loads [bytes] |")
    print("|---|---|---|---|---|")
    for robot in ("panda", "ur5", "talos_reduced", "quadruped", "humanoid"):
        model = robots.robot(robot).model
        for name, (function, arrays) in CALLS.items():
            call = function.describe(model, *[None] * len(arrays))
            program = record_call(call, {a: (model.nq if a == "q" else model.nv,) for a in arrays}, True)
            said = compiled(write(program, name, True, "cuda"))
            registers = re.search(r"Used (\d+) registers", said).group(1)
            stores, loads = re.search(r"(\d+) bytes spill stores, (\d+) bytes spill loads", said).groups()
            alive = program.values_alive(program.statements)
            print(f"| {robot} {name} | {program.operations} | {alive} | {registers} | {stores}, {loads} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
