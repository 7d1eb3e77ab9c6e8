"""Speed of warpdyn compared with other libraries. `python -m benchmarks` measures and writes a report.

Inputs: `algorithms.py` lists the algorithms, `cases.py` the cases and the targets, `robots.py` the
robots. `workload.py` calls warpdyn; `peers/` has one file for each other library.

Measurements: `throughput.py` times warpdyn and its peers in turns (`interleave.py`), `startup.py`
compilation and the start of a process, `first_calls.py` first results, `memory.py` peak memory, and
`roofline.py` the limits of the machine.

Reports: `records.py` reads the records of a run. `report.py`, `report_peers.py`, `plots.py` and
`figures_page.py` write tables and pictures.

Commands of their own: `compile_all.py` (first call of every public function), `accuracy.py` (errors
against Pinocchio), `profiles.py` (instructions of CPU kernels), `cuda_model.py` (CUDA kernels without
a GPU), `gpu_times.py` (CUDA kernels on a GPU) and `ros2/` (the node). `simulation.py` compares
simulation steps with MuJoCo's. `simulation_physics.py` and `simulation_peers.py` run the scenes of
`simulation_scenes.py` in the engines of `simulators/`.
"""

import os

# Benchmarks measure kernels, so first calls wait for them. `first_calls.py` sets its own policy.
os.environ.setdefault("WARPDYN_COMPILE", "wait")
