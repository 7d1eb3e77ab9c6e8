"""Gravity compensation alive: the node and a MuJoCo arm, each a process, over DDS on this machine.

The arm falls for three seconds without torque. It is put back and held by its brakes, ~/enable lets the torques rise,
the brakes open, and it stays. Prints how far the joints moved in both phases and saves the plot.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

RAMP_TIME = 0.5
TOUCH = "warpdyn/commands"


@dataclass(frozen=True)
class Run:
    """What the plant recorded: times [s], positions (T, joints), torques; the largest drift [deg] in each phase."""

    names: list[str]
    times: np.ndarray
    position: np.ndarray
    torque: np.ndarray
    braked: np.ndarray
    fall: np.ndarray
    hold: np.ndarray
    torque_error: float
    """Largest difference of the last command from MuJoCo's own torque at rest [N·m]."""


def closed_loop(
    seconds: tuple[float, float],
    plant: dict[str, Any] | None = None,
    node: dict[str, Any] | None = None,
    robot: str = "panda",
    say: Callable[[str], None] = lambda text: None,
) -> Run:
    """Fall for seconds[0], hold for seconds[1]. `plant` and `node` are parameters of the two processes."""
    import rclpy

    from .processes import Child, Client, ros_arguments

    with tempfile.TemporaryDirectory(prefix="warpdyn_demo_") as folder:
        trace = Path(folder) / "trace.npz"
        base = {"robot_description_file": robot, "ramp_time": RAMP_TIME}
        node_arguments = ros_arguments({**base, **(node or {})})
        plant_arguments = ros_arguments(
            {"robot": robot, "trace": str(trace), "braked": True, **(plant or {})},
            {"~/commands": TOUCH},
        )
        rclpy.init()
        client = Client("demo")
        children: list[Child] = []
        try:
            arm = Child("ros2_node.demo.plant", plant_arguments, Path(folder) / "plant.log")
            children.append(arm)
            controller = Child("ros2_node.node", node_arguments, Path(folder) / "node.log")
            children.append(controller)
            say(f"node ready after {controller.wait_for('ready:'):.1f} s")
            client.until(
                lambda: arm.check() and client.node.count_subscribers(TOUCH),
                "the plant's subscription",
            )
            marks = [time.monotonic()]
            client.call("plant/brake", False)
            client.rest(seconds[0])
            marks.append(time.monotonic())
            client.call("plant/brake", True)
            client.call("plant/reset")
            client.call_until_good("warpdyn/enable", True)
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


def plot(run: Run, file: Path) -> None:
    """Joint angles and torques over time."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (above, below) = plt.subplots(
        2, 1, sharex=True, figsize=(9, 6), constrained_layout=True
    )
    for i, name in enumerate(run.names):
        above.plot(run.times, np.degrees(run.position[:, i]), label=name, linewidth=1.2)
        below.plot(run.times, run.torque[:, i], linewidth=1.2)
    for axes in (above, below):
        axes.fill_between(
            run.times,
            0,
            1,
            where=run.braked > 0.5,
            transform=axes.get_xaxis_transform(),
            color="0.9",
            label="brakes",
        )
        axes.grid(alpha=0.3)
    above.set_ylabel("joint angle [deg]")
    above.legend(fontsize=7, ncols=2, loc="center left", bbox_to_anchor=(1.0, 0.5))
    above.set_title(
        f"MuJoCo, with torques from warpdyn_node over DDS\n"
        f"without torque {run.fall.max():.0f} deg, with gravity compensation {run.hold.max():.3f} deg"
    )
    below.set_ylabel("command [N·m]")
    below.set_xlabel("time [s]")
    figure.savefig(file, dpi=120)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument(
        "--plot", type=Path, default=Path("demo_ros2.png"), help="where the plot goes"
    )
    parser.add_argument(
        "--robot", default="panda", help="bundled robot or URDF file; its base is fixed"
    )
    parser.add_argument("--hold", type=float, default=3.0, help="seconds to hold [s]")
    parser.add_argument(
        "--domain", type=int, default=1 + os.getpid() % 100, help="ROS_DOMAIN_ID of the demo"
    )
    options = parser.parse_args()
    from .processes import on_this_machine

    on_this_machine(options.domain)
    print(
        "ROS 2: warpdyn_node and a MuJoCo arm, two processes, over DDS on this machine", flush=True
    )
    run = closed_loop(
        (3.0, options.hold), robot=options.robot, say=lambda text: print(f"  {text}", flush=True)
    )
    print(
        f"  3 s without torque:           a joint moved {run.fall.max():7.2f} deg (the arm falls)"
    )
    print(
        f"  {options.hold:g} s after ~/enable, no brakes: a joint moved {run.hold.max():7.3f} deg (it holds)"
    )
    print(f"  last command against MuJoCo's own gravity torque: {run.torque_error:.1e} N·m at most")
    plot(run, options.plot)
    print(f"  plot: {options.plot.resolve()}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
