"""`warpdyn demo`: computes, checks and times dynamics, then draws a picture of gravity
compensation."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np

from ...execution.batched import bind
from ...functions.dynamics import aba, rnea
from ...functions.manifold import integrate
from ...model import Model
from ..command_line import (
    check_picture,
    choose_device,
    find_frame,
    read_model,
    refuse_immobile,
    write_file,
)
from ..hardware import hardware
from ..shared_options import Commands, add_command, add_device, add_frame, add_robot
from ..tables import print_measurements, say
from ..timing import Case, measure_cases
from ..workload import ARGUMENTS, position_bounds
from .demo_picture import Trajectories, picture

BATCH = 4096
STEP = 1e-3
"""Length of a simulation step [s]."""

DURATION = 2.0


def add_parser(commands: Commands) -> None:
    """Add `warpdyn demo`."""
    text = "compute, check and time 4,096 random states, then draw gravity compensation"
    sub = add_command(commands, "demo", text)
    add_robot(sub)
    add_frame(sub)
    add_device(sub)
    sub.add_argument(
        "-o",
        "--output",
        type=Path,
        default=Path("demo.png"),
        metavar="FILE",
        help="default: demo.png",
    )
    sub.set_defaults(run=demo)


def demo(args: argparse.Namespace) -> int:
    """Check and time five algorithms on 4,096 random states, then draw the picture."""
    check_picture(args.output)
    model = refuse_immobile(read_model(args))
    frame, device = find_frame(args, model), choose_device(args.device)
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
    """Positions of release (nq,) within limits, spread out like their lines in the picture."""
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
    """The picture in one sentence."""
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
