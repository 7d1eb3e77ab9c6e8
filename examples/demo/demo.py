"""Check and time the dynamics, then draw gravity compensation.

python -m examples.demo.demo [ROBOT] [-o FILE]      (in warpdyn's folder, as scripts/demo.sh does)
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from warpdyn import Model, aba, bind, integrate, rnea
from warpdyn.cli.command_line import (
    check_picture,
    choose_device,
    find_frame,
    read_model,
    refuse_immobile,
    write_file,
)
from warpdyn.cli.hardware import hardware
from warpdyn.cli.main import CommandParser, carry_out
from warpdyn.cli.shared_options import add_device, add_frame, add_robot
from warpdyn.cli.tables import print_measurements, say
from warpdyn.cli.timing import Case, measure_cases
from warpdyn.cli.workload import ARGUMENTS, position_bounds

from .demo_picture import Trajectories, picture

BATCH = 4096
STEP = 1e-3
"""Length of a simulation step [s]."""

DURATION = 2.0

MOST_NUMBERS = 8
"""Torques to print."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the demo and return its exit code."""
    text = "Compute, check and time 4,096 random states, then draw gravity compensation."
    parser = CommandParser(prog="demo", description=text)
    add_robot(parser)
    add_frame(parser)
    add_device(parser)
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        default=Path("demo.png"),
        metavar="FILE",
        help="default: demo.png",
    )
    parser.set_defaults(run=demo)
    return carry_out(parser, arguments)


def demo(args: argparse.Namespace) -> int:
    """Check and time five algorithms on 4,096 random states, then draw the picture."""
    check_picture(args.output)
    model = refuse_immobile(read_model(args))
    frame, device = find_frame(args, model), choose_device(args.device)
    say(holding_torques(model))
    measurements = list(measure_cases(model, cases(device), frame))
    place = f"on {device}: {hardware(device)}"
    title = f"{model.name} ({model.nv} dof), {BATCH:,} random states, float32, {place}"
    print_measurements(title, measurements)
    if any(m.refusal for m in measurements):
        say("no picture of gravity compensation: forward dynamics is not defined for this robot")
        return 0
    if model.floating_base:
        say(
            "the base is free, and no joint torque holds it up: "
            "the picture is of the robot with its base fixed"
        )
        model = refuse_immobile(replace(model, floating_base=False))
    motion = simulate(model)
    write_file(args.output, lambda path: picture(model, motion, path))
    say(f"gravity compensation: {story(model, motion)}")
    print(f"picture: {args.output}")
    return 0


def holding_torques(model: Model) -> str:
    """First result without any compiled kernel: torques that hold the robot at rest."""
    still = np.zeros((1, model.nv))
    begun = time.perf_counter()
    tau = rnea(model, start_of(model)[None], still, still)[0]
    seconds = time.perf_counter() - begun
    numbers = ", ".join(f"{x:.3g}" for x in tau[:MOST_NUMBERS])
    more = ", ..." if len(tau) > MOST_NUMBERS else ""
    return (
        f"{model.name} is held at rest by tau = {numbers}{more} [N, N m] "
        f"(rnea's first call: {seconds:.2g} s). Five kernels are compiled next."
    )


def cases(device: str) -> list[Case]:
    """The five algorithms on `BATCH` states."""
    return [Case(algorithm, BATCH, "float32", "columns", device) for algorithm in ARGUMENTS]


def simulate(model: Model) -> Trajectories:
    """Two copies of the robot, released at rest: one without torque, one with tau = g(q).

    Semi-implicit Euler without friction; joints stop at their limits.
    """
    q = np.array([start_of(model)] * 2)
    v, still, tau, gravity, a = (np.zeros((2, model.nv)) for _ in range(5))
    moved, step = np.empty_like(q), np.empty_like(v)
    gravity_of = bind(rnea, model, q, still, still, out=gravity)
    accelerate = bind(aba, model, q, v, tau, out=a)
    move = bind(integrate, model, q, step, out=moved)
    steps = round(DURATION / STEP)
    positions = np.empty((steps + 1, 2, model.nq))
    positions[0] = q
    for n in range(steps):
        gravity_of()
        tau[1] = gravity[1]
        accelerate()
        v += STEP * a
        step[...] = STEP * v
        move()
        q[...] = moved  # a result must not overwrite the input from which it is computed
        stop_at_limits(model, q, v)
        positions[n + 1] = q
    return Trajectories(STEP * np.arange(steps + 1), positions[:, 0], positions[:, 1])


def start_of(model: Model) -> np.ndarray:
    """Initial positions (nq,) within limits, spread out as in the picture."""
    lower, upper = position_bounds(model)
    share = 0.6 + 0.15 * np.cos(1.7 * np.arange(model.nq))
    start = np.where(has_stops(model), lower + share * (upper - lower), model.neutral + share)
    for joint in model.moving_joints:
        if joint.kind.nq != joint.kind.nv:  # a quaternion cannot be changed entry by entry
            start[model.coordinates[joint.name].q] = joint.kind.neutral
    return start


def has_stops(model: Model) -> np.ndarray:
    """(nq,) True if a position has both limits."""
    return np.isfinite(model.position_lower) & np.isfinite(model.position_upper)


def stop_at_limits(model: Model, q: np.ndarray, v: np.ndarray) -> None:
    """Move joints beyond a limit back to it, in place, and stop them."""
    reached, stops = np.clip(q, *position_bounds(model)), has_stops(model)
    for joint in model.moving_joints:
        c = model.coordinates[joint.name]
        if joint.kind.single and stops[c.q.start]:
            stopped = reached[:, c.q.start] != q[:, c.q.start]
            q[stopped, c.q.start] = reached[stopped, c.q.start]
            v[stopped, c.v.start] = 0.0


def story(model: Model, motion: Trajectories) -> str:
    """Description of the picture in one sentence."""
    turning = (joint for joint in model.moving_joints if joint.kind.single and joint.kind.turns)
    angles = [model.coordinates[joint.name].q.start for joint in turning]
    if not angles:
        return "two seconds falling and two seconds held by tau = g(q)"
    fallen, held = (
        np.rad2deg(np.nanmax(np.abs(x - x[0])[:, angles])) for x in (motion.falling, motion.held)
    )
    return (
        f"without torque a joint turns by up to {fallen:.0f} degrees; "
        f"with tau = g(q) by {held:.1g} degrees"
    )


if __name__ == "__main__":
    sys.exit(main())
