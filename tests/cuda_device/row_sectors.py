"""Sectors of memory that calls move, by those that they need: JSON, in a process with the emulated Warp."""

from __future__ import annotations

import json
import sys

import numpy as np
import warp as wp
from cuda_device.ptx_kernels import counters, library

import warpdyn as wd

B = 128
CALLS = {
    "panda": ("fk", "jacobian", "rnea", "crba", "aba", "rnea_derivatives"),
    "quadruped": ("fk", "rnea", "crba", "aba"),
}
OF_POSITIONS = ("fk", "jacobian", "crba")


def moved(robot: str, name: str, in_rows: bool) -> tuple[float, float]:
    """Loads and stores of a call, by the sectors that its arrays fill."""
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
    return changed["load_sectors"] / needed[0], changed["store_sectors"] / needed[1]


if __name__ == "__main__":
    found = {
        f"{robot} {name} {'rows' if in_rows else 'side by side'}": moved(robot, name, in_rows)
        for robot in sys.argv[1:] or CALLS
        for name in CALLS[robot]
        for in_rows in (True, False)
    }
    print(json.dumps(found))
