"""What calls ask of memory, in a process with the emulated Warp: `row_sectors.py [ROBOT:FUNCTION ...]` prints JSON.

A call's name -> sectors loaded and stored, sectors that its arrays fill, instructions of a warp and warps of a block.
With `--one-warp` no program is cut into several warps.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile

import numpy as np
import warp as wp
from cuda_device.ptx_kernels import counters, library

import warpdyn as wd
from warpdyn.codegen.cuda import CudaThread
from warpdyn.codegen.source import TARGETS, Backend
from warpdyn.recording.program import Program

B = 128
CALLS = (
    *(f"panda:{x}" for x in ("fk", "jacobian", "rnea", "crba", "aba", "rnea_derivatives")),
    *(f"quadruped:{x}" for x in ("fk", "rnea", "crba", "aba")),
)
OF_POSITIONS = ("fk", "jacobian", "crba")


def measure(robot: str, name: str, in_rows: bool) -> dict[str, float]:
    """Sectors and instructions of a call."""
    model, draw = wd.load_robot(robot), np.random.default_rng(0)
    q = np.asarray(wd.random_configuration(model, B))
    arrays = [q, draw.normal(size=(B, model.nv)), draw.normal(size=(B, model.nv))]
    placed = [
        wp.array(x.astype(np.float32), device="cuda:0")
        if in_rows
        else wp.array(np.ascontiguousarray(x.T.astype(np.float32)), device="cuda:0").transpose()
        for x in arrays[: 1 if name in OF_POSITIONS else 3]
    ]
    options = {"frame": model.link_names[-1]} if name == "jacobian" else {}
    results = getattr(wd, name)(model, *placed, **options)
    before = counters()
    library().emulated_cuda_measure(1)
    results = getattr(wd, name)(model, *placed, **options)
    wp.synchronize()
    library().emulated_cuda_measure(0)
    changed = {key: n - before[key] for key, n in counters().items()}
    results = results if isinstance(results, tuple) else (results,)
    needed = [sum(x.size for x in each) * 4 / 32 for each in (placed, results)]
    return {
        "loaded": changed["load_sectors"] / B,
        "stored": changed["store_sectors"] / B,
        "to_load": needed[0] / B,
        "to_store": needed[1] / B,
        "instructions": changed["instructions"] / changed["warps"],
        "warps": changed["warps"] / (B / 32),
    }


def write_in_one_warp(program: Program, single: bool) -> str:
    """CUDA's form of a program, for blocks of one warp."""
    return CudaThread(program, single).source()


def main(calls: list[str]) -> None:
    """Print the counts."""
    if "--one-warp" in calls:
        calls.remove("--one-warp")
        os.environ["WARPDYN_CACHE_DIR"] = tempfile.mkdtemp()  # the cache has the programs in parts
        TARGETS["cuda"] = Backend(write_in_one_warp, "cuda")
    found = {
        f"{call} {'rows' if in_rows else 'side by side'}": measure(*call.split(":"), in_rows)
        for call in calls or CALLS
        for in_rows in (True, False)
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1:])
