"""State in to command out, beside a bare echo of the same message."""

from __future__ import annotations

import signal
import time
from pathlib import Path
from typing import Any

import numpy as np

from ros2_node.demo.processes import Child, ros_arguments

from .arm import RELIABLE, arm_urdf
from .driver import Driver
from .process_use import cpu_seconds


def latency(folder: Path, messages: int) -> dict[str, Any]:
    """State in to command out, in blocks that alternate with a bare echo of the same message."""
    results: dict[str, Any] = {}
    for executor in ("events", "single"):
        parameters = {
            "robot_description_file": str(arm_urdf(folder)),
            "executor": executor,
            "start_enabled": True,
        }
        parameters["state_timeout"] = 60.0  # between its blocks no states come
        node = Child("ros2_node.node", ros_arguments(parameters | RELIABLE), folder / "node.log")
        peer = Child("benchmarks.ros2.echo", [executor], folder / "echo.log")
        driver = Driver()
        try:
            node.wait_for("ready:")
            peer.wait_for("ready:")
            driver.matched()
            for rate in (1000.0, 500.0):
                if executor == "single" and rate != 1000.0:
                    continue
                total = {("events", 1000.0): messages, ("events", 500.0): messages // 3}.get(
                    (executor, rate), messages // 6
                )
                results[f"{executor} {rate:.0f} Hz"] = _compare(driver, node, peer, total, rate)
        finally:
            for child in (node, peer):
                child.end(signal.SIGINT if child is node else signal.SIGKILL)
            driver.close()
    return results


def _compare(driver: Driver, node: Child, peer: Child, total: int, rate: float) -> dict[str, Any]:
    block = int(min(2.5 * rate, total))
    for name in ("node", "echo"):
        driver.block(name, int(rate), rate)
    trips: dict[str, list[np.ndarray]] = {"node": [], "echo": []}
    share: dict[str, list[float]] = {"node": [], "echo": []}
    processes = {"node": node.process.pid, "echo": peer.process.pid}
    lost = {"node": 0, "echo": 0}
    for k in range(total // block):
        for name in ("node", "echo"):
            before, begun = cpu_seconds(processes[name]), time.perf_counter()
            times = driver.block(name, block, rate)
            share[name].append(
                (cpu_seconds(processes[name]) - before) / (time.perf_counter() - begun)
            )
            if times is None:
                lost[name] += block - len(driver.arrivals[name])
            else:
                trips[name].append(times * 1e6)
        print(f"\r  {rate:.0f} Hz: {(k + 1) * block} of {total}", end="", flush=True)
    print()
    both = {name: np.concatenate(t) for name, t in trips.items()}
    p50 = {name: float(np.median(t)) for name, t in both.items()}
    p99 = {name: float(np.percentile(t, 99)) for name, t in both.items()}
    blocks = [
        np.median(a) - np.median(b) for a, b in zip(trips["node"], trips["echo"], strict=False)
    ]
    return {
        "messages": total // block * block,
        "lost": lost["node"],
        "node_p50_us": p50["node"],
        "node_p99_us": p99["node"],
        "echo_p50_us": p50["echo"],
        "echo_p99_us": p99["echo"],
        "above_echo_p50_us": p50["node"] - p50["echo"],
        "above_echo_p99_us": p99["node"] - p99["echo"],
        "above_echo_p50_us_median_of_blocks": float(np.median(blocks)),
        "cpu_node": float(np.median(share["node"])),
        "cpu_echo": float(np.median(share["echo"])),
    }
