"""Measure the ROS 2 node: latency, many robots, start, stop, memory, closed loop, and faults.

    python -m benchmarks.ros2 latency fleet batch start drift float faults  # a quarter of an hour
    python -m benchmarks.ros2 soak                 # ten minutes of memory and latency
    python -m benchmarks.ros2 collision_stop       # time from a push to the stop
    python -m benchmarks.ros2 reactions            # times from other faults to the stop
    python -m benchmarks.ros2 minute               # a quadruped walks under a policy
    python -m benchmarks.ros2 latency soak --short # test run; nothing is stored

This needs the PyPI ROS wheels (scripts/ros_env.sh). Everything runs over DDS on this machine, and the
node, the echo and the plant are separate processes. Results, with the hardware, go to
benchmarks/results/ros2-<case>.json.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import rclpy
import warp

from ros2_node.demo.processes import on_this_machine

from .collision_stop import collision_stop
from .drift import drift, float_
from .faults import faults
from .latency import latency
from .lifetime import soak, start
from .many_robots import batch, fleet
from .minute import minute
from .reactions import reactions

RESULTS = Path(__file__).resolve().parents[1] / "results"


def hardware() -> dict[str, Any]:
    """Hardware and software of this machine."""
    model = [
        x.split(":")[1].strip()
        for x in Path("/proc/cpuinfo").read_text().splitlines()
        if "model name" in x
    ]
    return {
        "cpu": model[0] if model else platform.processor(),
        "cores": os.cpu_count(),
        "load_average": os.getloadavg()[0],
        "python": platform.python_version(),
        "warp": warp.__version__,
        "date": time.strftime("%Y-%m-%d"),
    }


CASES: dict[str, Callable[..., dict[str, Any]]] = {
    "latency": latency,
    "fleet": fleet,
    "batch": batch,
    "start": start,
    "drift": drift,
    "float": float_,
    "faults": faults,
    "collision_stop": collision_stop,
    "reactions": reactions,
    "soak": soak,
    "minute": minute,
}

SHORT: dict[str, dict[str, Any]] = {
    "latency": {"messages": 3000},
    "fleet": {"seconds": 2.0},
    "batch": {"seconds": 2.0},
    "start": {"runs": 1},
    "drift": {"seconds": 1.0},
    "float": {"seconds": 3.0, "rate": 200.0},
    "faults": {"number": 10},
    "collision_stop": {"trials": 3},
    "soak": {"seconds": 10.0},
    "minute": {"laps": 1},
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the cases, print and store the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("cases", nargs="+", choices=CASES)
    parser.add_argument("--messages", type=int, default=60_000, help="for latency, each rate")
    parser.add_argument(
        "--fifo", action="store_true", help="for latency: SCHED_FIFO for all processes"
    )
    parser.add_argument("--faults", type=int, default=2000, help="for faults")
    parser.add_argument("--seed", type=int, default=0, help="for faults")
    parser.add_argument("--law", default="", help="for faults: an impedance law; computed_torque")
    parser.add_argument("--seconds", type=float, default=600.0, help="for soak")
    parser.add_argument("--rate", type=float, default=1000.0, help="states a second, for float")
    parser.add_argument("--policy", default="quadruped_velocity", help="for minute")
    parser.add_argument("--dry", action="store_true", help="print only")
    parser.add_argument("--short", action="store_true", help="the least of each case; print only")
    options = parser.parse_args(arguments)
    on_this_machine(1 + os.getpid() % 100)
    RESULTS.mkdir(exist_ok=True)
    for case in options.cases:
        print(f"{case}: {(CASES[case].__doc__ or '').strip()}", flush=True)
        extra = {
            "latency": {"messages": options.messages, "fifo": options.fifo},
            "faults": {"number": options.faults, "seed": options.seed, "law": options.law},
            "soak": {"seconds": options.seconds},
            "float": {"rate": options.rate},
            "minute": {"policy": options.policy},
        }.get(case, {})
        if options.short:
            extra |= SHORT.get(case, {})
        if case not in ("drift", "float", "minute"):  # these cases start rclpy themselves
            rclpy.init()
        with tempfile.TemporaryDirectory() as folder:
            result = {
                "case": case,
                "hardware": hardware(),
                "result": CASES[case](Path(folder), **extra),
            }
        rclpy.try_shutdown()
        print(json.dumps(result["result"], indent=2), flush=True)
        if not (options.dry or options.short):
            (RESULTS / f"ros2-{case}.json").write_text(json.dumps(result, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
