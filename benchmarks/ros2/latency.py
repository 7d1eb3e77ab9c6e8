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


def latency(folder: Path, messages: int) -> dict[str, Any]:
    """State in to command out, in blocks that alternate with a bare echo of the same message."""
    results: dict[str, Any] = {}
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
    block = int(min(2.5 * rate, total))
    children = {"node": node, "echo": peer}
    for name in children:
        driver.block(name, int(rate), rate)
    trips: dict[str, list[np.ndarray]] = {"node": [], "echo": []}
    share: dict[str, list[float]] = {"node": [], "echo": []}
    lost, left_out = {"node": 0, "echo": 0}, {"node": 0, "echo": 0}
    for k in range(total // block):
        for name, child in children.items():
            process = child.process.pid
            before, begun = cpu_seconds(process), time.perf_counter()
            times = driver.block(name, block, rate)
            share[name].append((cpu_seconds(process) - before) / (time.perf_counter() - begun))
            if times is None:  # which state had no answer is not known
                lost[name] += block - len(driver.arrivals[name])
                left_out[name] += 1
                if name == "node":  # a busy machine has stopped it
                    driver.call("warpdyn/enable", True)
            else:
                trips[name].append(times * 1e6)
        print(f"\r  {rate:.0f} Hz: {(k + 1) * block} of {total}", end="", flush=True)
    print()
    ratios = np.array(share["node"]) / np.array(share["echo"])
    result: dict[str, Any] = {
        "messages": total // block * block,
        "lost": lost,
        "blocks_left_out": left_out,
        "cpu_node": float(np.median(share["node"])),
        "cpu_echo": float(np.median(share["echo"])),
        "cpu_ratio_median_of_blocks": float(np.median(ratios)),
        "load_average": os.getloadavg()[0],
    }
    if not (trips["node"] and trips["echo"]):
        return result
    both = {name: np.concatenate(t) for name, t in trips.items()}
    for percent in (50, 99, 99.9):
        node_us, echo_us = (float(np.percentile(both[name], percent)) for name in children)
        result |= {
            f"node_p{percent}_us": node_us,
            f"echo_p{percent}_us": echo_us,
            f"above_echo_p{percent}_us": node_us - echo_us,
            f"times_echo_p{percent}": node_us / echo_us,
        }
    blocks = [
        np.median(a) - np.median(b) for a, b in zip(trips["node"], trips["echo"], strict=False)
    ]
    # One pause of the machine moves the p99 of all blocks together. Of most blocks it moves nothing.
    tails = [
        np.percentile(a, 99) / np.percentile(b, 99)
        for a, b in zip(trips["node"], trips["echo"], strict=False)
    ]
    return result | {
        "above_echo_p50_us_median_of_blocks": float(np.median(blocks)),
        "times_echo_p99_median_of_blocks": float(np.median(tails)),
    }
