"""Duration of start and stop, and growth of memory in between."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
from std_msgs.msg import Float64MultiArray

from ros2_node.demo.processes import Child, ros_arguments

from .arm import RELIABLE, arm_urdf
from .driver import Driver
from .process_use import cpu_seconds, resident_megabytes


def start(folder: Path, runs: int = 7) -> dict[str, Any]:
    """Time from start to "ready" with cached kernels, and from SIGINT while enabled to the end of the process."""
    starts, ends, clean = [], [], []
    parameters = {
        "robot_description_file": str(arm_urdf(folder)),
        "start_enabled": True,
        "ramp_time": 0.5,
    }
    parameters["state_timeout"] = 60.0  # the node is still enabled at the signal
    for run in range(runs + 1):
        node = Child("ros2_node.node", ros_arguments(parameters), folder / f"start{run}.log")
        driver = Driver()
        commands: list[Any] = []
        try:
            starts.append(node.wait_for("ready:"))
            driver.node.create_subscription(
                Float64MultiArray, "warpdyn/commands", commands.append, driver.deep
            )
            driver.until(driver.to["node"].get_subscription_count, "matching")
            driver.wait_for_publisher("warpdyn/commands")
            driver.block("node", 800, 1000.0)
            ends.append(node.end())
            driver.rest(0.3)
            clean.append(len(commands) > 5 and not any(any(m.data) for m in commands[-5:]))
        finally:
            node.end()
            driver.close()
    return {
        "runs": runs,
        "first_start_s": starts[0],
        "warm_start_s": {"median": float(np.median(starts[1:])), "max": max(starts[1:])},
        "sigint_to_exit_s": {"median": float(np.median(ends[1:])), "max": max(ends[1:])},
        "last_five_commands_zero": clean,
    }


def soak(folder: Path, seconds: float = 600.0, rate: float = 1000.0) -> dict[str, Any]:
    """Resident memory, round trips and CPU time over ten minutes at 1 kHz, enabled."""
    parameters = {"robot_description_file": str(arm_urdf(folder)), "start_enabled": True}
    parameters["state_timeout"] = 60.0  # a busy machine must not count
    node = Child("ros2_node.node", ros_arguments(parameters | RELIABLE), folder / "soak.log")
    driver = Driver()
    samples: list[tuple[float, float]] = []
    trips: list[np.ndarray] = []
    lost, used = 0, 0.0
    try:
        node.wait_for("ready:")
        driver.until(driver.to["node"].get_subscription_count, "matching")
        process = node.process.pid
        driver.block("node", int(rate), rate)
        begun, used = time.perf_counter(), cpu_seconds(process)
        while (passed := time.perf_counter() - begun) < seconds:
            times = driver.block("node", int(5 * rate), rate)
            if times is None:
                lost += int(5 * rate) - len(driver.arrivals["node"])
            else:
                trips.append(times * 1e6)
            samples.append((passed, resident_megabytes(process)))
            print(
                f"\r  {passed:.0f} of {seconds:.0f} s, {samples[-1][1]:.2f} MB, lost {lost}",
                end="",
                flush=True,
            )
        print()
        used = (cpu_seconds(process) - used) / (time.perf_counter() - begun)
    finally:
        node.end()
        driver.close()
    after = [mb for at, mb in samples if at >= min(60.0, seconds / 5)]
    return {
        "seconds": seconds,
        "states": len(samples) * int(5 * rate),
        "lost": lost,
        "round_trip_us": {
            f"p{p}": float(np.percentile(np.concatenate(trips), p)) for p in (50, 99, 99.9, 100)
        }
        if trips
        else {},
        "cpu_node": used,
        "rss_mb_after_first_minute": after[0],
        "rss_mb_end": after[-1],
        "growth_mb": max(after) - after[0],
        "samples": [
            [round(t, 1), round(mb, 3)] for t, mb in samples[:: max(len(samples) // 60, 1)]
        ],
    }
