"""Live demo of gravity compensation: the node and a MuJoCo arm in two processes, over local DDS.

The arm falls for three seconds without torque. Then it is reset and held by its brakes, ~/enable ramps
up the torques, the brakes open, and the arm holds its position. The demo prints how far the joints
moved in both phases and saves the plot.

    python -m examples.demo.live_arm [--robot ROBOT]    (in warpdyn's folder, as scripts/ros_demo.sh does)
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

import numpy as np

from ros2_node.demo.processes import ProcessError, on_this_machine
from warpdyn import ModelError

from .closed_loop import Run, closed_loop


def plot(run: Run, file: Path) -> None:
    """Plot joint angles and torques over time."""
    import matplotlib

    # A backend without a window, so that the demo also runs without a display.
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
    parser.add_argument("--plot", type=Path, default=Path("demo_ros2.png"), help="file of the plot")
    parser.add_argument(
        "--robot", default="panda", help="bundled robot or URDF file; its base is fixed"
    )
    parser.add_argument("--hold", type=float, default=3.0, help="seconds to hold [s]")
    parser.add_argument(
        "--domain", type=int, default=1 + os.getpid() % 100, help="ROS_DOMAIN_ID of the demo"
    )
    options = parser.parse_args()
    # Before rclpy starts, so that this process and its children do not reach other machines.
    on_this_machine(options.domain)
    print(
        "ROS 2: warpdyn_node and a MuJoCo arm, two processes, over DDS on this machine", flush=True
    )
    try:
        run = closed_loop(
            (3.0, options.hold),
            robot=options.robot,
            say=lambda text: print(f"  {text}", flush=True),
        )
    except (ProcessError, ModelError) as error:
        print(f"the demo stopped: {error}", file=sys.stderr)
        return 2
    fell, held = verdict(run)
    moved = f"a joint moved {run.fall.max():7.2f} deg"
    print(f"  3 s without torque:           {moved} ({'it falls' if fell else 'it does NOT fall'})")
    moved = f"a joint moved {run.hold.max():7.3f} deg"
    print(
        f"  {options.hold:g} s after ~/enable, no brakes: {moved} "
        f"({'it holds' if held else 'it does NOT hold'})"
    )
    print(f"  last command against MuJoCo's own gravity torque: {run.torque_error:.1e} N·m at most")
    plot(run, options.plot)
    print(f"  plot: {options.plot.resolve()}")
    if not held:
        print(
            "  the torques did not hold it: look at the plot, and at the limits in its description"
        )
    elif not fell:
        print("  nothing pulls at its joints in this pose, so that the experiment shows little")
    return 0 if fell and held else 1


def verdict(run: Run) -> tuple[bool, bool]:
    """Verdicts of the two phases: True if it fell without torque, by more than a degree, and True
    if it held with torque, within a hundredth of the fall and half a degree."""
    fall, hold = run.fall.max(initial=0.0), run.hold.max(initial=0.0)
    return bool(fall > 1.0), bool(hold < 0.5 and hold < max(0.01 * fall, 0.05))


if __name__ == "__main__":
    raise SystemExit(main())
