"""Compare kernels in one warp with the same kernels in several warps, by the model of `cuda_model`.

    python -m benchmarks.cuda_warps [ROBOT:FUNCTION ...]

Registers and local memory come from NVRTC's machine code for sm_90. The times are modelled;
`gpu_times --one-warp` measures them. Results go to benchmarks/results/cuda_warps.json.
"""

from __future__ import annotations

import json
import sys

from .cuda_kernels import KERNELS
from .cuda_model import ROOT, counts, record, table

RESULT = ROOT / "benchmarks/results/cuda_warps.json"


def main(names: list[str]) -> int:
    """Print and write a table of the kernels that are split, each in one warp and in several."""
    cut = {
        name: kernel
        for name, kernel in counts(names or KERNELS).items()
        if kernel["warps"] > 1 and name.endswith("rows")
    }
    calls = [name.partition(" ")[0] for name in cut]
    whole = counts(("--one-warp", *calls)) if calls else {}
    records = [record(name, each[name]) for name in cut for each in (whole, cut)]
    print(*table(records), sep="\n")
    content = {"modelled": "nothing measured on a GPU", "records": records}
    RESULT.write_text(json.dumps(content, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
