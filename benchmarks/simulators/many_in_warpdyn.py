"""Robots of a scene in warpdyn: four steps per launch, one step per launch, and four sweeps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import warp as wp

import warpdyn as wd

from ..cuda_graph import Graph
from .running import Running, SettledScene

NAME, PACKAGES = "warpdyn", ("warpdyn",)
SWEEPS = 4


def running(
    start: SettledScene, envs: int, threads: int, device: str = "cpu", *, moving: bool = False
) -> list[Running]:
    """Yield batches. `moving` (GPU): each robot has different targets and speeds."""
    if device == "cpu":
        wd.runtime.set_num_threads(threads)
    return [_running(start, envs, substeps, device, moving) for substeps in (4, 1)]


def _running(start: SettledScene, envs: int, substeps: int, device: str, moving: bool) -> Running:
    scene = start.scene
    sim = wd.Simulation(
        scene.model,
        envs,
        points=scene.points,
        control=wd.PD(*(scene.gains or (0.0, 0.0))),
        ground=wd.Ground(scene.friction),
        start=scene.start,
        dt=start.dt,
        substeps=substeps,
        sweeps=SWEEPS,
        device=None if device == "cpu" else device,
    )
    form = f"float32, {SWEEPS} sweeps, {substeps} step{'s' * (substeps > 1)} a launch"
    if device != "cpu":
        targets, speeds = scene.start[7:], np.zeros(scene.model.nv)
        if moving:
            targets, speeds = start.disturbances(envs)
        return on_gpu(sim, (start.xyzw, speeds), targets, substeps, form)
    sim.reset(q=start.xyzw)
    sim.targets[:] = scene.start[7:]
    return Running(form, envs, sim.step, lambda: sim.q[:, 2], substeps)


def on_gpu(
    sim: wd.Simulation,
    state: Sequence[np.ndarray],
    targets: Any,
    steps: int,
    form: str,
) -> Running:
    """A simulation on a GPU as a graph of one launch.

    `state` has positions and velocities; `targets` are those of the drives, or None. Each is a row for all
    robots or (envs, n).
    """
    device = str(sim.q.device)

    def rows(values: Any) -> wp.array:
        shape = (sim.envs, np.shape(values)[-1])
        return wp.array(
            np.ascontiguousarray(np.broadcast_to(np.float32(values), shape)), device=device
        )

    q, v = map(rows, state)
    if targets is not None:
        wp.copy(sim.targets, rows(targets))
    sim.reset(q=q, v=v)
    return Running(
        f"{form}, graph",
        sim.envs,
        Graph(sim.step, device),
        lambda: sim.q.numpy()[:, 2],
        steps,
        launches=True,
        restart=lambda: sim.reset(q=q, v=v),
        about=lambda: {
            "failures": float(sim.failures.numpy().sum()),
            "speed": float(np.abs(sim.v.numpy()).max()),
        },
    )
