"""The two forms of a kernel whose values only fit into dynamic shared memory.

`forms_of_batches.py` prints JSON: for "few" and "many" environments the target, the warps, the
dynamic shared memory [bytes], and the largest difference from the CPU relative to the largest
entry.
"""

from __future__ import annotations

import json

import numpy as np
import warp as wp

import warpdyn as wd
from warpdyn.execution.launch import batch_target
from warpdyn.execution.launch.launch import prepare

COUNT = 40


def main() -> None:
    wp.config.quiet = True
    model = wd.load_robot("quadruped")
    rng = np.random.default_rng(0)
    q = wd.random_configuration(model, COUNT, seed=0)
    v, a = rng.standard_normal((2, COUNT, model.nv))
    wanted = wd.rnea_derivatives(model, q, v, a)
    arrays = [wp.array(x, dtype=wp.float64, device="cuda:0") for x in (q, v, a)]
    found = {}
    for form, few in (("few", batch_target.FEW_PER_MULTIPROCESSOR), ("many", 0)):
        batch_target.FEW_PER_MULTIPROCESSOR = few
        job = prepare(wd.rnea_derivatives.describe(model, *arrays))
        job.launch_once()
        errors = [
            np.abs(x.numpy() - y).max() / np.abs(y).max()
            for x, y in zip(job.results, wanted, strict=True)
        ]
        source = job.kernel.source
        found[form] = {
            "target": source.target,
            "warps": source.warps,
            "shared_bytes": source.shared_bytes,
            "error": float(max(errors)),
        }
    print(json.dumps(found))


if __name__ == "__main__":
    main()
