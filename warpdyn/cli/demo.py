"""`warpdyn demo`: a robot's dynamics computed, checked and timed, then gravity compensation shown in a picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ..execution.batched import bind
from ..functions.dynamics import aba, rnea
from ..model import Model
from .bench import Case
from .workload import ARGUMENTS, position_bounds

BATCH = 4096
STEP = 1e-3
"""Seconds."""

DURATION = 2.0


def cases(device: str) -> list[Case]:
    return [Case(algorithm, BATCH, "float32", "columns", device) for algorithm in ARGUMENTS]


@dataclass(frozen=True)
class Motion:
    """Joint positions over time: `falling` and `held`, both (steps, nq); `time` [s]."""

    time: np.ndarray
    falling: np.ndarray
    held: np.ndarray


def with_base_held(model: Model) -> Model:
    """No joint torque holds a free base up; the picture is of the robot with its base fixed to the world."""
    return replace(model, floating_base=False)


def simulate(model: Model) -> Motion:
    """Two copies of the robot, released at rest: one without torque, one with tau = g(q).

    Semi-implicit Euler; friction is left out; joints stop at their limits.
    """
    lower, upper = position_bounds(model)
    stops = np.isfinite(model.position_lower) & np.isfinite(model.position_upper)
    share = 0.6 + 0.15 * np.cos(
        1.7 * np.arange(model.nq)
    )  # joints start apart, so that their lines can be told apart
    start = np.where(stops, lower + share * (upper - lower), model.neutral + share)
    for joint in model.moving_joints:
        if joint.kind.nq != joint.kind.nv:
            start[model.coordinates[joint.name].q] = joint.kind.neutral
    q = np.array([start, start])
    v, still, tau, gravity, a = (np.zeros((2, model.nv)) for _ in range(5))
    gravity_of = bind(rnea, model, q, still, still, out=gravity)
    accelerate = bind(aba, model, q, v, tau, out=a)
    steps = round(DURATION / STEP)
    motion = np.empty((steps + 1, 2, model.nq))
    motion[0] = q
    for n in range(steps):
        gravity_of()
        tau[1] = gravity[1]
        accelerate()
        v += STEP * a
        advance(model, q, v)
        reached = np.clip(q, lower, upper)
        for joint in model.moving_joints:
            c = model.coordinates[joint.name]
            if joint.kind.single and stops[c.q.start]:
                stopped = reached[:, c.q.start] != q[:, c.q.start]
                q[stopped, c.q.start] = reached[stopped, c.q.start]
                v[stopped, c.v.start] = 0.0
        motion[n + 1] = q
    return Motion(STEP * np.arange(steps + 1), motion[:, 0], motion[:, 1])


def advance(model: Model, q: np.ndarray, v: np.ndarray) -> None:
    """Move the configurations `q` by the velocities `v` for one time step, in place."""
    for joint in model.moving_joints:
        c = model.coordinates[joint.name]
        if joint.kind.single:
            q[:, c.q] += STEP * v[:, c.v]
        else:
            for e in range(len(q)):
                q[e, c.q] = joint.kind.manifold.step(
                    q[e, c.q].tolist(), (STEP * v[e, c.v]).tolist()
                )


def picture(model: Model, motion: Motion, path: Path) -> None:
    """Falling beside held: a row of axes for angles, one for positions where the robot has sliding joints."""
    from matplotlib.figure import Figure

    rows = [row for row in _rows(model) if row[1]]
    canvas = Figure(figsize=(11, 1.2 + 3.6 * max(len(rows), 1)), layout="constrained")
    canvas.suptitle(f"{model.name}: released at rest, joints stop at their limits")
    axes = canvas.subplots(max(len(rows), 1), 2, sharex=True, squeeze=False)
    for (label, columns, scale), (left, right) in zip(rows, axes, strict=True):
        for side, values in ((left, motion.falling), (right, motion.held)):
            for k in columns:
                side.plot(motion.time, scale * values[:, k], label=model.q_names[k])
            side.grid(alpha=0.3)
        left.set_ylabel(label)
        right.sharey(left)
        if len(columns) <= 12:
            right.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize="small")
    axes[0, 0].set_title("no torque: it falls")
    axes[0, 1].set_title("gravity compensation, tau = g(q): it stays")
    for side in axes[-1]:
        side.set_xlabel("time [s]")
    canvas.savefig(path, dpi=110)


def _rows(model: Model) -> Sequence[tuple[str, list[int], float]]:
    """Axis label, columns of q and scale: angles in degrees, slides in metres."""
    angles: list[int] = []
    slides: list[int] = []
    for joint in model.moving_joints:
        column = model.coordinates[joint.name].q.start
        if joint.kind.single:
            (angles if joint.kind.turns else slides).append(column)
    return ("joint angle [deg]", angles, 180 / np.pi), ("joint position [m]", slides, 1.0)


def story(model: Model, motion: Motion) -> str:
    """The picture in one sentence."""
    _, angles, _ = _rows(model)[0]
    if not angles:
        return "two seconds falling and two seconds held by tau = g(q)"
    fallen, held = (
        np.rad2deg(np.nanmax(np.abs(x - x[0])[:, angles])) for x in (motion.falling, motion.held)
    )
    return (
        f"without torque a joint turns by up to {fallen:.0f} degrees; with tau = g(q) by {held:.1g}"
    )
