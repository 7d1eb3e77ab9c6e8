"""The experiment of the demo and of the benchmarks: an arm falls, is put back, and is held by the
node."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import rclpy

import warpdyn
from ros2_node.demo.plant import READY
from ros2_node.demo.processes import Child, Client, ros_arguments

RAMP_TIME = 0.5
COMMANDS = "warpdyn/commands"


@dataclass(frozen=True)
class Run:
    """Recording of the plant: times [s], positions (T, joints), torques; the largest drift [deg] in
    each phase."""

    names: list[str]
    times: np.ndarray
    position: np.ndarray
    torque: np.ndarray
    braked: np.ndarray
    fall: np.ndarray
    hold: np.ndarray
    torque_error: float
    """Largest difference between the last command and MuJoCo's own torque at rest [N·m]."""


def closed_loop(
    seconds: tuple[float, float],
    plant: dict[str, Any] | None = None,
    node: dict[str, Any] | None = None,
    robot: str = "panda",
    say: Callable[[str], None] = lambda text: None,
) -> Run:
    """Fall for seconds[0], then hold for seconds[1]. `plant` and `node` are parameters of the two processes."""
    with tempfile.TemporaryDirectory(prefix="warpdyn_demo_") as folder:
        trace = Path(folder) / "trace.npz"
        # The arm is simulated, so bundled robots without effort limits may be used.
        base = {"robot_description_file": robot, "ramp_time": RAMP_TIME, "unlimited_effort": True}
        node_arguments = ros_arguments({**base, **(node or {})})
        plant_arguments = ros_arguments(
            {"robot": robot, "trace": str(trace), "braked": True, **start(robot), **(plant or {})},
            {"~/commands": COMMANDS},
        )
        rclpy.init()
        children: list[Child] = []
        client = Client("demo", children)
        try:
            arm = Child("ros2_node.demo.plant", plant_arguments, Path(folder) / "plant.log")
            children.append(arm)
            controller = Child("ros2_node.node", node_arguments, Path(folder) / "node.log")
            children.append(controller)
            say(f"node ready after {controller.wait_for('ready:'):.1f} s")
            client.until(
                lambda: client.node.count_subscribers(COMMANDS), "the plant's subscription"
            )
            marks = [time.monotonic()]
            client.call("plant/brake", False)
            client.rest(seconds[0])
            marks.append(time.monotonic())
            client.call("plant/brake", True)
            client.call("plant/reset")
            client.switch_on("warpdyn/enable")
            client.rest(RAMP_TIME + 0.5)
            client.call("plant/brake", False)
            marks.append(time.monotonic())
            client.rest(seconds[1])
            marks.append(time.monotonic())
            say(f"node stopped in {controller.end():.2f} s")
            arm.end()
        finally:
            for child in children:
                child.end()
            client.close()
            rclpy.try_shutdown()
        return _read(trace, marks)


def start(robot: str) -> dict[str, Any]:
    """Parameters of the plant that start a robot inside its limits and away from balance.

    The pose is the maker's "ready" pose if the plant knows it (Franka's); otherwise each hinge is
    two fifths of the way through its limits, or half a radian from zero without limits.
    """
    bundled = robot in warpdyn.robot_names()
    model = (warpdyn.load_robot if bundled else warpdyn.load)(robot, floating_base=False)
    pose = {}
    for joint in model.moving_joints:
        column = model.coordinates[joint.name].q.start
        lower, upper = model.position_lower[column], model.position_upper[column]
        if joint.kind.single and joint.kind.angles == (True,):
            bounded = np.isfinite(upper - lower) and upper - lower < 2 * np.pi
            pose[joint.name] = float(lower + 0.4 * (upper - lower)) if bounded else 0.5
    if not pose or set(READY) <= set(pose):
        return {}
    return {"pose_joints": list(pose), "pose": list(pose.values())}


def _read(file: Path, marks: list[float]) -> Run:
    with np.load(file) as saved:
        trace, names, hinges = saved["trace"], [str(n) for n in saved["names"]], saved["hinges"]
    n = len(names)
    times, braked = trace[:, 0], trace[:, 1]
    position, torque, bias = (trace[:, 2 + i * n : 2 + (i + 1) * n] for i in range(3))

    def drift(begin: float, end: float) -> np.ndarray:
        inside = position[(times >= begin) & (times <= end)]
        return np.degrees(np.abs(inside - inside[0]).max(axis=0))[hinges]

    shown = slice(np.searchsorted(times, marks[0] - 0.2), np.searchsorted(times, marks[3]))
    last = np.searchsorted(times, marks[3]) - 1
    return Run(
        names=[names[i] for i in hinges],
        times=times[shown] - marks[0],
        position=position[shown][:, hinges],
        torque=torque[shown][:, hinges],
        braked=braked[shown],
        fall=drift(marks[0], marks[1]),
        hold=drift(marks[2], marks[3]),
        torque_error=float(np.abs(torque[last] - bias[last])[hinges].max()),
    )
