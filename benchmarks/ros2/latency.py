"""Time from a state to its command, compared with a bare echo of the same message."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ros2_node.demo.processes import Child, ros_arguments

from .arm import RELIABLE, arm_urdf
from .driver import Driver
from .process_use import cpu_seconds

GUARDED = {
    "mode": "computed_torque",
    "effort_source": "message",
    "collision_threshold": 200.0,
}
"""Parameters with which every guard is computed: positions against velocities, the push before
position limits, tracking errors and collisions, in addition to those that mode gravity has. The
collision threshold is beyond the gravity torques, because the messages' efforts are zero."""


FIFO_PRIORITY = 10
RESAMPLES = 1000
"""Draws of runs and blocks for a confidence interval."""
RUNS = 8
"""Pairs of a node and an echo, each with new processes: two pairs differ by more than the blocks of one."""


class Run(NamedTuple):
    """Blocks of one second of a node and an echo, and the lost answers."""

    trips: list[list[np.ndarray]]
    """Round trips of the node and of the echo in each complete block [us]."""
    shares: list[list[float]]
    """Shares of a core of the node and of the echo in each block."""
    lost: dict[str, int]
    left_out: int
    """Blocks that lack an answer."""


def latency(folder: Path, messages: int, fifo: bool = False) -> dict[str, Any]:
    """Time from a state to its command. Every other state goes to a bare echo of the same message.

    fifo: node, echo and driver run with SCHED_FIFO, so that other programs do not delay them.
    """
    results: dict[str, Any] = {"fifo": fifo}
    if fifo:  # child processes inherit it; PermissionError if it is not allowed
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(FIFO_PRIORITY))
    wanted = (
        ("events", "all guards", 1000.0, messages),
        ("events", "", 1000.0, messages),
        ("events", "", 500.0, messages // 3),
        ("events", "realtime", 1000.0, messages),
        ("single", "", 1000.0, messages // 6),
    )
    for executor, kind, rate, number in wanted:
        name = f"{executor} {rate:.0f} Hz {kind}".strip()
        print(f"  {name}", flush=True)
        results[name] = _beside_echo(folder, executor, kind, rate, max(number, 500))
    return results


def _beside_echo(
    folder: Path, executor: str, kind: str, rate: float, number: int
) -> dict[str, Any]:
    realtime = kind == "realtime"
    parameters = {
        "robot_description_file": str(arm_urdf(folder)),
        "executor": executor,
        "start_enabled": True,
        "realtime": realtime,
        "state_timeout": 60.0,  # no states arrive between its blocks
        **(GUARDED if kind == "all guards" else {}),
    }
    runs, arguments = [], ros_arguments(parameters | RELIABLE)
    wanted = RUNS if number >= RUNS * rate else 1  # a run lasts at least one second
    for k in range(wanted):
        print(f"\r    run {k + 1} of {wanted}", end="", flush=True)
        runs.append(_run(folder, executor, arguments, number // wanted, rate))
    print()
    result = _summary(runs, rate)
    if realtime:
        lines = (folder / "node.log").read_text().splitlines()
        result["not_allowed"] = [x.partition("realtime: ")[2] for x in lines if "realtime: " in x]
    return result


def _run(folder: Path, executor: str, arguments: list[str], number: int, rate: float) -> Run:
    """Run with new processes."""
    node = Child("ros2_node.node", arguments, folder / "node.log")
    peer = Child("benchmarks.ros2.echo", [executor], folder / "echo.log")
    driver: Driver | None = None
    try:
        node.wait_for("ready:")
        peer.wait_for("ready:")
        driver = Driver()
        driver.wait_until_matched()
        return _blocks(driver, {"node": node, "echo": peer}, number, rate)
    finally:
        for child in (node, peer):
            child.end(signal.SIGINT if child is node else signal.SIGKILL)
        if driver is not None:
            driver.close()


def _blocks(driver: Driver, children: dict[str, Child], total: int, rate: float) -> Run:
    """Blocks of one second, in which every other state goes to the echo."""
    block = int(min(rate, total))
    driver.alternating(list(children), int(rate), rate)
    trips: list[list[np.ndarray]] = []
    shares: list[list[float]] = []
    lost, left_out = dict.fromkeys(children, 0), 0
    for _ in range(total // block):
        before = [cpu_seconds(child.process.pid) for child in children.values()]
        begun = time.perf_counter()
        times = driver.alternating(list(children), block, rate)
        passed = time.perf_counter() - begun
        used = [cpu_seconds(child.process.pid) for child in children.values()]
        shares.append([(b - a) / passed for a, b in zip(before, used, strict=True)])
        complete = [1e6 * each for each in times.values() if each is not None]
        if len(complete) == len(children):
            trips.append(complete)
            continue
        left_out += 1  # the state without an answer is not known
        for name, each in times.items():
            if each is None:
                lost[name] += block - len(driver.arrivals[name])
        if times["node"] is None:  # a busy machine caused a stop
            driver.call("warpdyn/enable", True)
    return Run(trips, shares, lost, left_out)


def _summary(runs: Sequence[Run], rate: float) -> dict[str, Any]:
    """Percentiles of all round trips, their ratios, and CPU times."""
    shares = np.array([share for run in runs for share in run.shares])
    node, echo = np.median(shares, axis=0).tolist()
    result: dict[str, Any] = {
        "runs": len(runs),
        "messages": sum(each[0].size for run in runs for each in run.trips),
        "lost": {name: sum(run.lost[name] for run in runs) for name in ("node", "echo")},
        "blocks_left_out": sum(run.left_out for run in runs),
        "cpu_node": node,
        "cpu_echo": echo,
        "cpu_node_us_per_message": 1e6 * node / rate,
        "cpu_echo_us_per_message": 1e6 * echo / rate,
        "cpu_ratio_median_of_blocks": float(np.median(shares[:, 0] / shares[:, 1])),
        "load_average": os.getloadavg()[0],
    }
    pairs = [np.array(run.trips) for run in runs if run.trips]
    if not pairs:
        return result
    low, high = _interval(pairs, 99.0)
    for percent in (50, 99, 99.9):
        node_us, echo_us = np.percentile(np.concatenate(pairs), percent, axis=(0, 2)).tolist()
        result |= {
            f"node_p{percent}_us": node_us,
            f"echo_p{percent}_us": echo_us,
            f"above_echo_p{percent}_us": node_us - echo_us,
            f"times_echo_p{percent}": node_us / echo_us,
        }
    by_run = [np.percentile(each, 99.0, axis=(0, 2)) for each in pairs]
    result["times_echo_p99_of_runs"] = [float(n / e) for n, e in by_run]
    return result | {"times_echo_p99_from": low, "times_echo_p99_to": high}


def _interval(pairs: Sequence[np.ndarray], percent: float) -> tuple[float, float]:
    """95 % confidence interval of the ratio of two percentiles, by resampling of runs and of their blocks.

    pairs: times of the node and of the echo (blocks, 2, times) in each run.
    """
    random, ratios = np.random.default_rng(0), []
    for _ in range(RESAMPLES):
        runs = [pairs[k] for k in random.integers(len(pairs), size=len(pairs))]
        chosen = [run[random.integers(len(run), size=len(run))] for run in runs]
        node_us, echo_us = np.percentile(np.concatenate(chosen), percent, axis=(0, 2))
        ratios.append(node_us / echo_us)
    low, high = np.percentile(ratios, (2.5, 97.5)).tolist()
    return low, high
