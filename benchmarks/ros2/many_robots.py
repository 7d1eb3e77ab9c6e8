"""Many namespaces in one node, and thousands of robots in one message."""

from __future__ import annotations

import time
from array import array
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from ros2_node.control.fleet import Fleet
from ros2_node.control.settings.node_settings import Settings
from ros2_node.demo.processes import Child, ros_arguments

from .arm import ARM, Q, arm_urdf
from .driver import Driver
from .process_use import cpu_seconds


def fleet(
    folder: Path, seconds: float = 20.0, robots: int = 64, rate: float = 100.0
) -> dict[str, Any]:
    """Many namespaces in one node. Every state of every robot must be answered."""
    spaces = [f"r{i}" for i in range(robots)]
    parameters: dict[str, Any] = {
        "robot_description_file": str(arm_urdf(folder)),
        "namespaces": spaces,
    }
    parameters |= {"publish_link_poses": False}
    for space in spaces:
        for topic, side in (("joint_states", "subscription"), ("warpdyn/torques", "publisher")):
            parameters[f"qos_overrides./{space}/{topic}.{side}.depth"] = 20
            parameters[f"qos_overrides./{space}/{topic}.{side}.reliability"] = "reliable"
    node = Child("ros2_node.node", ros_arguments(parameters), folder / "fleet.log")
    driver = Driver()
    counts = [0] * robots
    try:
        started = node.wait_for("ready:")

        def counter(i: int) -> Callable[[Any], None]:
            def count(message: Any) -> None:
                counts[i] += 1

            return count

        publishers = [
            driver.node.create_publisher(JointState, f"{s}/joint_states", driver.deep)
            for s in spaces
        ]
        for i, s in enumerate(spaces):
            driver.node.create_subscription(
                JointState, f"{s}/warpdyn/torques", counter(i), driver.deep
            )
        driver.until(lambda: all(p.get_subscription_count() for p in publishers), "matching")
        driver.until(
            lambda: all(driver.node.count_publishers(f"{s}/warpdyn/torques") for s in spaces),
            "matching back",
        )
        driver.rest(1.0)
        message = JointState(name=ARM, position=array("d", Q))
        process = node.process.pid
        before, begun, sent = cpu_seconds(process), time.perf_counter(), 0
        due = time.perf_counter()
        for _ in range(int(seconds * rate)):
            message.header.stamp = driver.node.get_clock().now().to_msg()
            for publisher in publishers:
                publisher.publish(message)
                sent += 1
            due += 1.0 / rate
            driver.executor.spin_once(timeout_sec=0.0)
            while (left := due - time.perf_counter()) > 0.0:
                driver.executor.spin_once(timeout_sec=left)
        wall = time.perf_counter() - begun
        driver_end = time.perf_counter() + 5.0
        while sum(counts) < sent and time.perf_counter() < driver_end:
            driver.executor.spin_once(timeout_sec=0.01)
        share = (cpu_seconds(process) - before) / wall
        return {
            "robots": robots,
            "rate_hz": sent / robots / wall,
            "sent": sent,
            "lost": sent - sum(counts),
            "cpu_node": share,
            "start_s": started,
        }
    finally:
        node.end()
        driver.close()


def batch(
    folder: Path, seconds: float = 20.0, robots: int = 4096, rate: float = 100.0
) -> dict[str, Any]:
    """One flat message with the states of thousands of robots."""
    parameters = {"robot_description_file": str(arm_urdf(folder)), "publish_link_poses": False}
    for topic, side in (("batch/state", "subscription"), ("batch/torques", "publisher")):
        parameters[f"qos_overrides./warpdyn/{topic}.{side}.depth"] = 10
    node = Child("ros2_node.node", ros_arguments(parameters), folder / "batch.log")
    driver = Driver()
    trips: list[float] = []
    sent: list[float] = []
    status: list[Any] = []
    try:
        node.wait_for("ready:")
        publisher = driver.node.create_publisher(
            Float64MultiArray, "warpdyn/batch/state", driver.deep
        )
        driver.node.create_subscription(
            Float64MultiArray,
            "warpdyn/batch/torques",
            lambda m: trips.append(time.perf_counter()),
            driver.deep,
        )
        driver.node.create_subscription(DiagnosticArray, "/diagnostics", status.append, driver.deep)
        driver.until(lambda: publisher.get_subscription_count() and status, "matching")
        driver.until(lambda: driver.node.count_publishers("warpdyn/batch/torques"), "matching back")
        driver.rest(0.5)
        state = np.zeros((robots, 2, 7))
        state[:, 0] = Q
        message = Float64MultiArray(data=array("d", state.tobytes()))
        process = node.process.pid
        before, begun = cpu_seconds(process), time.perf_counter()
        due = begun
        for _ in range(int(seconds * rate)):
            sent.append(time.perf_counter())
            publisher.publish(message)
            due += 1.0 / rate
            while (left := due - time.perf_counter()) > 0.0:
                driver.executor.spin_once(timeout_sec=left)
        wall = time.perf_counter() - begun
        share = (cpu_seconds(process) - before) / wall
        end = time.perf_counter() + 3.0
        while len(trips) < len(sent) and time.perf_counter() < end:
            driver.executor.spin_once(timeout_sec=0.01)
        driver.rest(1.2)
        values = {v.key: v.value for v in status[-1].status[0].values}
        round_trip = (
            np.array(trips) - np.array(sent) if len(trips) == len(sent) else np.array([np.nan])
        )
        median = float(values["batch time"].split()[1])
        return {
            "robots": robots,
            "joints": 7,
            "rate_hz": len(sent) / wall,
            "sent": len(sent),
            "lost": len(sent) - len(trips),
            "round_trip_p50_ms": float(np.median(round_trip)) * 1e3,
            "round_trip_p99_ms": float(np.percentile(round_trip, 99)) * 1e3,
            "callback": values["batch time"],
            "callback_share_of_cycle": median * 1e-6 * rate,
            "kernel_us": _kernel_time(folder, robots),
            "cpu_node": share,
        }
    finally:
        node.end()
        driver.close()


def _kernel_time(folder: Path, robots: int) -> float:
    """Median time of the computation alone, in this process [us]."""
    settings = Settings.of({"robot_description_file": str(arm_urdf(folder))})
    computed = Fleet(settings, "", [Counter()]).batch
    state = np.zeros((robots, 2, 7))
    times = []
    for _ in range(200):
        begun = time.perf_counter()
        computed.compute(state)
        times.append(time.perf_counter() - begun)
    return float(np.median(times)) * 1e6
