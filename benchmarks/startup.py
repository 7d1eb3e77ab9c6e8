"""Compilation, first results, imports and latency for one robot, each in new processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from statistics import median
from typing import Any

from . import robots

FIVE = ("fk", "jacobian", "rnea", "aba", "crba")

COMPILE = """
import json, sys, time, warnings
import warp as wp
wp.config.log_level = wp.LOG_ERROR
warnings.simplefilter("ignore")
from benchmarks.robots import robot
from benchmarks.workload import Work, states_of
name, algorithms, device = json.loads(sys.argv[1])
seconds = {}
wp.init()
states = states_of(robot(name), 1)
for algorithm in algorithms:
    try:
        work = Work(robot(name), algorithm, states, device=device)
    except Exception:
        continue
    start = time.perf_counter()
    work.call()
    seconds[algorithm] = time.perf_counter() - start
print(json.dumps(seconds))
"""

FIRST_RESULT = """
import json, time
import warp as wp
wp.config.log_level = wp.LOG_ERROR
import numpy as np
import warpdyn as wd
start = time.perf_counter()
model = wd.load_robot("panda")
q = np.zeros((1, model.nq), np.float32)
wd.rnea(model, q, q, q)
print(json.dumps(time.perf_counter() - start))
"""

IMPORT = """
import json, time
import warp
start = time.perf_counter()
import warpdyn
print(json.dumps(time.perf_counter() - start))
"""

LATENCY = """
import json, os, time
import warp as wp
wp.config.log_level = wp.LOG_ERROR
import numpy as np
import warpdyn as wd
os.sched_setaffinity(0, [max(os.sched_getaffinity(0))])
model = wd.load_robot("panda")
q, v, a, tau = (np.zeros((1, model.nq)) for _ in range(4))
def seconds(run, loops=4000):
    samples = []
    for _ in range(9):
        start = time.perf_counter()
        for _ in range(loops):
            run()
        samples.append((time.perf_counter() - start) / loops)
    return sorted(samples)[4]
bound = wd.bind(wd.rnea, model, q, v, a, out=tau)
print(json.dumps([1e6 * seconds(lambda: wd.rnea(model, q, v, a)), 1e6 * seconds(bound)]))
"""

BUSY = """
import os, sys, time
os.sched_setaffinity(0, [int(sys.argv[1])])
start, done = time.perf_counter(), 0
while time.perf_counter() - start < 2:
    done += sum(range(1000)) > 0
print(done)
"""


def cores_worth() -> float:
    """Rate of busy processes on all cores divided by that of one process: the largest gain of threads."""
    cores = [str(core) for core in sorted(os.sched_getaffinity(0))]

    def work(cores: list[str]) -> int:
        started = [
            subprocess.Popen([sys.executable, "-c", BUSY, core], stdout=subprocess.PIPE)
            for core in cores
        ]
        return sum(int(process.communicate()[0]) for process in started)

    return work(cores) / work(cores[:1])


def run(code: str, cache: str | None, *arguments: str) -> Any:
    """JSON output of a new interpreter. `cache` is a folder for its kernels; None for the user's cache."""
    environment = dict(os.environ)
    if cache:
        environment |= {"WARPDYN_CACHE_DIR": f"{cache}/warpdyn", "WARP_CACHE_PATH": f"{cache}/warp"}
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"a benchmark process failed:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def compile_seconds(
    robot: str, algorithms: Sequence[str], device: str = "cpu"
) -> dict[str, tuple[float, float]]:
    """Seconds of each algorithm's first call, with an empty cache and with a full one."""
    with tempfile.TemporaryDirectory() as cache:
        arguments = json.dumps([robot, list(algorithms), device])
        cold, warm = run(COMPILE, cache, arguments), run(COMPILE, cache, arguments)
    return {
        algorithm: (cold[algorithm], warm[algorithm]) for algorithm in cold if algorithm in warm
    }


def figures(quick: bool = False) -> dict[str, float]:
    """Figures of `cases.STARTS`.

    Each cold figure has an empty cache, so it includes Warp's first kernel.
    """
    run(FIRST_RESULT, None)
    call, bound = run(LATENCY, None)
    found = {
        "latency of wd.rnea, NumPy, B = 1 [us]": call,
        "latency of the bound call, B = 1 [us]": bound,
        "first result after import, warm cache [s]": median(
            run(FIRST_RESULT, None) for _ in range(5)
        ),
        "import warpdyn above import warp [s]": median(run(IMPORT, None) for _ in range(5)),
    }
    if not quick and robots.is_installed():
        with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
            panda = run(COMPILE, first, json.dumps(["panda", FIVE, "cpu"]))
            talos = run(COMPILE, second, json.dumps(["talos_reduced", ["aba"], "cpu"]))
        found["cold compile of panda, five algorithms [s]"] = sum(panda.values())
        found["cold compile of talos_reduced, aba [s]"] = talos["aba"]
    return found
