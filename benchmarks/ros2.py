"""Figures of the ROS 2 node: latency against a bare echo, many robots, start and stop, memory, closed loop.

    python benchmarks/ros2.py latency fleet batch start drift      # a few minutes
    python benchmarks/ros2.py soak                                 # ten minutes

Needs the PyPI ROS wheels (scripts/ros_env.sh). Everything runs over DDS on this machine; the node, the echo and the
plant are processes of their own. Results go to benchmarks/results/ros2-<case>.json, with the hardware.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import signal
import sys
import tempfile
import time
from array import array
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import psutil

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
from ros2_node.demo.processes import Child, Client, on_this_machine, ros_arguments  # noqa: E402

RESULTS = ROOT / "benchmarks" / "results"
ARM = [f"panda_joint{i}" for i in range(1, 8)]
Q = np.array([0.3, -0.7, 0.2, -2.0, 0.4, 1.5, 0.1])
RELIABLE = {
    f"qos_overrides./{topic}.{side}.{key}": value
    for topic, side in (
        ("joint_states", "subscription"),
        ("warpdyn/commands", "publisher"),
        ("warpdyn/torques", "publisher"),
    )
    for key, value in (("reliability", "reliable"), ("depth", 200))
}


def arm_urdf(folder: Path) -> Path:
    """The bundled panda with its fingers fixed: seven joints."""
    text = (ROOT / "warpdyn" / "robots" / "panda.urdf").read_text()
    head, fingers = text.split('<joint name="panda_finger_joint1"')
    fingers = fingers.replace('type="prismatic"', 'type="fixed"')
    begin = fingers.find("<mimic")
    while begin >= 0:
        fingers = fingers[:begin] + fingers[fingers.index("/>", begin) + 2 :]
        begin = fingers.find("<mimic")
    file = folder / "arm.urdf"
    file.write_text(head + '<joint name="panda_finger_joint1"' + fingers)
    return file


def echo(executor: str) -> None:
    """A node that sends every JointState back as it came."""
    import rclpy
    from rclpy.executors import SingleThreadedExecutor
    from rclpy.experimental import EventsExecutor
    from rclpy.qos import QoSProfile
    from sensor_msgs.msg import JointState

    rclpy.init()
    node = rclpy.create_node("echo")
    back = node.create_publisher(JointState, "echo/back", QoSProfile(depth=200))
    node.create_subscription(JointState, "echo/joint_states", back.publish, QoSProfile(depth=200))
    runner = EventsExecutor() if executor == "events" else SingleThreadedExecutor()
    runner.add_node(node)
    print("ready: echo", flush=True)
    while rclpy.ok():
        runner.spin_once(timeout_sec=0.2)


class Driver(Client):
    """Sends states at a fixed rate and takes the time until the answer of each."""

    def __init__(self) -> None:
        from rclpy.experimental import EventsExecutor
        from rclpy.qos import QoSProfile
        from sensor_msgs.msg import JointState
        from std_msgs.msg import Float64MultiArray

        super().__init__("driver")
        self.executor.remove_node(self.node)
        self.executor = EventsExecutor()
        self.executor.add_node(self.node)
        self.deep = QoSProfile(depth=1000)
        self.kind = JointState
        self.arrivals: dict[str, list[float]] = {"echo": [], "node": []}
        node = self.node
        self.to = {
            "echo": node.create_publisher(JointState, "echo/joint_states", self.deep),
            "node": node.create_publisher(JointState, "joint_states", self.deep),
        }
        note = {name: self._noter(name) for name in self.arrivals}
        node.create_subscription(JointState, "echo/back", note["echo"], self.deep)
        node.create_subscription(Float64MultiArray, "warpdyn/commands", note["node"], self.deep)

    def _noter(self, name: str) -> Callable[[Any], None]:
        arrivals = self.arrivals[name]
        return lambda message: arrivals.append(time.perf_counter())

    def matched(self) -> None:
        self.until(lambda: all(p.get_subscription_count() for p in self.to.values()), "matching")

    def answered(self, topic: str) -> None:
        self.until(lambda: self.node.count_publishers(topic), f"a publisher of {topic}")

    def block(self, name: str, number: int, rate: float) -> np.ndarray | None:
        """Round trips of `number` states at `rate` [s]; None when an answer was lost."""
        arrivals, sent = self.arrivals[name], []
        arrivals.clear()
        message = self.kind(
            name=ARM,
            position=array("d", Q),
            velocity=array("d", [0.0] * 7),
            effort=array("d", [0.0] * 7),
        )
        publisher, clock = self.to[name], self.node.get_clock()
        due = time.perf_counter()
        for _ in range(number):
            message.header.stamp = clock.now().to_msg()
            sent.append(time.perf_counter())
            publisher.publish(message)
            due += 1.0 / rate
            while (left := due - time.perf_counter()) > 0.0:
                self.executor.spin_once(timeout_sec=left)
        end = time.perf_counter() + 2.0
        while len(arrivals) < number and time.perf_counter() < end:
            self.executor.spin_once(timeout_sec=0.01)
        return np.array(arrivals) - np.array(sent) if len(arrivals) == number else None


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
        peer = Child("benchmarks.ros2", ["echo", "--executor", executor], folder / "echo.log")
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
    processes = {"node": psutil.Process(node.process.pid), "echo": psutil.Process(peer.process.pid)}
    lost = {"node": 0, "echo": 0}
    for k in range(total // block):
        for name in ("node", "echo"):
            before, begun = sum(processes[name].cpu_times()[:2]), time.perf_counter()
            times = driver.block(name, block, rate)
            share[name].append(
                (sum(processes[name].cpu_times()[:2]) - before) / (time.perf_counter() - begun)
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


def fleet(
    folder: Path, seconds: float = 20.0, robots: int = 64, rate: float = 100.0
) -> dict[str, Any]:
    """Many namespaces in one node: every state of every robot must be answered."""
    from sensor_msgs.msg import JointState

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
        process = psutil.Process(node.process.pid)
        before, begun, sent = sum(process.cpu_times()[:2]), time.perf_counter(), 0
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
        share = (sum(process.cpu_times()[:2]) - before) / wall
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
    from std_msgs.msg import Float64MultiArray

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
        from diagnostic_msgs.msg import DiagnosticArray

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
        process = psutil.Process(node.process.pid)
        before, begun = sum(process.cpu_times()[:2]), time.perf_counter()
        due = begun
        for _ in range(int(seconds * rate)):
            sent.append(time.perf_counter())
            publisher.publish(message)
            due += 1.0 / rate
            while (left := due - time.perf_counter()) > 0.0:
                driver.executor.spin_once(timeout_sec=left)
        wall = time.perf_counter() - begun
        share = (sum(process.cpu_times()[:2]) - before) / wall
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
    """Median of the computation alone, in this process [us]."""
    from ros2_node.control.dynamics import Batch, Dynamics, load_model
    from ros2_node.control.settings import Settings

    settings = Settings.of({"robot_description_file": str(arm_urdf(folder))})
    computed = Batch(Dynamics(load_model(settings), settings, 1), settings)
    state = np.zeros((robots, 2, 7))
    times = []
    for _ in range(200):
        begun = time.perf_counter()
        computed.compute(state)
        times.append(time.perf_counter() - begun)
    return float(np.median(times)) * 1e6


def start(folder: Path, runs: int = 7) -> dict[str, Any]:
    """Start to "ready" with kernels in the cache; SIGINT while enabled to the end of the process."""
    from std_msgs.msg import Float64MultiArray

    starts, ends, clean = [], [], []
    parameters = {
        "robot_description_file": str(arm_urdf(folder)),
        "start_enabled": True,
        "ramp_time": 0.5,
    }
    parameters["state_timeout"] = 60.0  # still enabled when the signal comes
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
            driver.answered("warpdyn/commands")
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
    """Resident memory over ten minutes at 1 kHz, enabled."""
    parameters = {"robot_description_file": str(arm_urdf(folder)), "start_enabled": True}
    node = Child("ros2_node.node", ros_arguments(parameters | RELIABLE), folder / "soak.log")
    driver = Driver()
    samples: list[tuple[float, float]] = []
    lost = 0
    try:
        node.wait_for("ready:")
        driver.until(driver.to["node"].get_subscription_count, "matching")
        process, begun = psutil.Process(node.process.pid), time.perf_counter()
        driver.block("node", int(rate), rate)
        while (passed := time.perf_counter() - begun) < seconds:
            if driver.block("node", int(5 * rate), rate) is None:
                lost += int(5 * rate) - len(driver.arrivals["node"])
            samples.append((passed, process.memory_info().rss / 1e6))
            print(
                f"\r  {passed:.0f} of {seconds:.0f} s, {samples[-1][1]:.2f} MB, lost {lost}",
                end="",
                flush=True,
            )
        print()
    finally:
        node.end()
        driver.close()
    after = [mb for at, mb in samples if at >= min(60.0, seconds / 5)]
    return {
        "seconds": seconds,
        "lost": lost,
        "rss_mb_after_first_minute": after[0],
        "rss_mb_end": after[-1],
        "growth_mb": max(after) - after[0],
        "samples": [
            [round(t, 1), round(mb, 3)] for t, mb in samples[:: max(len(samples) // 60, 1)]
        ],
    }


POSES = {
    "ready": [0.0, -0.785398, 0.0, -2.356194, 0.0, 1.570796, 0.785398],
    "stretched": [0.3, 0.9, 0.2, -0.6, 0.3, 1.2, 0.1],
    "sideways": [1.2, 0.4, -1.0, -1.6, 0.8, 2.2, -0.6],
}


def drift(folder: Path) -> dict[str, Any]:
    """MuJoCo panda, 0.5 N·m·s/rad of damping, gravity compensation alone for ten seconds."""
    from ros2_node.demo.__main__ import closed_loop

    results = {}
    for payload in (0.0, 2.0):
        for name, pose in POSES.items():
            load = {
                "payload.link": "panda_hand",
                "payload.mass": payload,
                "payload.com": [0.0, 0.0, 0.1],
            }
            plant = {"pose_joints": ARM, "pose": pose, "damping": 0.5} | (load if payload else {})
            run = closed_loop((1.0, 10.0), plant=plant, node=load if payload else {})
            results[f"{name}, {payload:g} kg"] = {
                "fall_deg": float(run.fall.max()),
                "hold_deg": float(run.hold.max()),
                "torque_error_nm": run.torque_error,
            }
            print(f"  {name}, {payload:g} kg: {results[f'{name}, {payload:g} kg']}", flush=True)
    return results


def hardware() -> dict[str, Any]:
    import warp

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
    "soak": soak,
}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("cases", nargs="+", choices=[*CASES, "echo"])
    parser.add_argument("--executor", default="events")
    parser.add_argument("--messages", type=int, default=60_000, help="for latency, each rate")
    parser.add_argument("--seconds", type=float, default=600.0, help="for soak")
    parser.add_argument("--dry", action="store_true", help="print only")
    options = parser.parse_args(arguments)
    if options.cases == ["echo"]:
        echo(options.executor)
        return 0
    import rclpy

    on_this_machine(1 + os.getpid() % 100)
    RESULTS.mkdir(exist_ok=True)
    for case in options.cases:
        print(f"{case}: {(CASES[case].__doc__ or '').strip()}", flush=True)
        extra = {
            "latency": {"messages": options.messages},
            "soak": {"seconds": options.seconds},
        }.get(case, {})
        if case != "drift":  # it starts rclpy itself
            rclpy.init()
        with tempfile.TemporaryDirectory() as folder:
            result = {
                "case": case,
                "hardware": hardware(),
                "result": CASES[case](Path(folder), **extra),
            }
        rclpy.try_shutdown()
        print(json.dumps(result["result"], indent=2), flush=True)
        if not options.dry:
            (RESULTS / f"ros2-{case}.json").write_text(json.dumps(result, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
