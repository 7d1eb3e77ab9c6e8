"""State in to command out, beside a bare echo of the same message."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any

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
"""Draws of blocks for a confidence interval."""


def latency(folder: Path, messages: int, fifo: bool = False) -> dict[str, Any]:
    """State in to command out; every other state goes to a bare echo of the same message.

    fifo: node, echo and driver run with SCHED_FIFO, so that other programs do not delay them.
    """
    results: dict[str, Any] = {"fifo": fifo}
    if fifo:  # children inherit it; PermissionError where it is not allowed
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
        "state_timeout": 60.0,  # between its blocks no states come
        **(GUARDED if kind == "all guards" else {}),
    }
    node = Child("ros2_node.node", ros_arguments(parameters | RELIABLE), folder / "node.log")
    peer = Child("benchmarks.ros2.echo", [executor], folder / "echo.log")
    driver = Driver()
    try:
        node.wait_for("ready:")
        peer.wait_for("ready:")
        driver.matched()
        result = _compare(driver, node, peer, number, rate)
    finally:
        for child in (node, peer):
            child.end(signal.SIGINT if child is node else signal.SIGKILL)
        driver.close()
    if realtime:
        lines = node.log.read_text().splitlines()
        result["not_allowed"] = [x.partition("realtime: ")[2] for x in lines if "realtime: " in x]
    return result


def _compare(driver: Driver, node: Child, peer: Child, total: int, rate: float) -> dict[str, Any]:
    """Round trips in blocks of a second, in which every other state goes to the echo."""
    block = int(min(rate, total))
    children = {"node": node, "echo": peer}
    driver.alternating(list(children), int(rate), rate)
    trips: dict[str, list[np.ndarray]] = {"node": [], "echo": []}
    share: dict[str, list[float]] = {"node": [], "echo": []}
    lost, left_out = {"node": 0, "echo": 0}, 0
    for k in range(total // block):
        before = {name: cpu_seconds(child.process.pid) for name, child in children.items()}
        begun = time.perf_counter()
        times = driver.alternating(list(children), block, rate)
        passed = time.perf_counter() - begun
        for name, child in children.items():
            share[name].append((cpu_seconds(child.process.pid) - before[name]) / passed)
            if times[name] is None:  # which state had no answer is not known
                lost[name] += block - len(driver.arrivals[name])
        if times["node"] is None or times["echo"] is None:
            left_out += 1
            if times["node"] is None:  # a busy machine has stopped it
                driver.call("warpdyn/enable", True)
        else:
            for name in children:
                trips[name].append(times[name] * 1e6)
        print(f"\r  {rate:.0f} Hz: {(k + 1) * block} of {total}", end="", flush=True)
    print()
    result: dict[str, Any] = {
        "messages": total // block * block,
        "lost": lost,
        "blocks_left_out": left_out,
        "cpu_node": float(np.median(share["node"])),
        "cpu_echo": float(np.median(share["echo"])),
        "cpu_ratio_median_of_blocks": float(
            np.median(np.array(share["node"]) / np.array(share["echo"]))
        ),
        "load_average": os.getloadavg()[0],
    }
    if not trips["node"]:
        return result
    pairs = np.stack([np.stack(trips[name]) for name in children])
    low, high = _interval(pairs, 99.0)
    for percent in (50, 99, 99.9):
        node_us, echo_us = np.percentile(pairs, percent, axis=(1, 2)).tolist()
        result |= {
            f"node_p{percent}_us": node_us,
            f"echo_p{percent}_us": echo_us,
            f"above_echo_p{percent}_us": node_us - echo_us,
            f"times_echo_p{percent}": node_us / echo_us,
        }
    return result | {"times_echo_p99_from": low, "times_echo_p99_to": high}


def _interval(pairs: np.ndarray, percent: float) -> tuple[float, float]:
    """95 % confidence interval of the ratio of two percentiles, by resampling whole blocks.

    pairs: times of the node and of the echo (2, blocks, times).
    """
    random, ratios = np.random.default_rng(0), []
    for _ in range(RESAMPLES):
        chosen = pairs[:, random.integers(pairs.shape[1], size=pairs.shape[1])]
        node_us, echo_us = np.percentile(chosen, percent, axis=(1, 2))
        ratios.append(node_us / echo_us)
    low, high = np.percentile(ratios, (2.5, 97.5)).tolist()
    return low, high
