"""How fast warpdyn is, beside its peers: `python -m benchmarks` measures, writes, reports.

`algorithms.py` lists what is computed, `cases.py` what is measured and what has to be reached;
`workload.py` is warpdyn's side, `peers/` has a file for each other library; `throughput.py` times
them in turns (`interleave.py`), `startup.py` compilation and starts, `first_calls.py` first results,
`memory.py` peak memory,
`roofline.py` the limits of the machine; `records.py` reads what a run has written; `report.py`,
`report_peers.py`, `plots.py` and `figures_page.py` tell. Apart: `compile_all.py` (every public function),
`accuracy.py` (against Pinocchio, many robots), `profiles.py` (instructions of CPU kernels),
`registers.py` (CUDA registers by nvcc), `ros2/` (the node). Simulations: `simulation.py` (beside MuJoCo's
step), `simulation_physics.py` and `simulation_peers.py` (the same scenes, `simulation_scenes.py`, in
`simulators/`, a file each).
"""

import os

# Benchmarks measure kernels, so that first calls wait for them; `first_calls.py` sets its own policy.
os.environ.setdefault("WARPDYN_COMPILE", "wait")
