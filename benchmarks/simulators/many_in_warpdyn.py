"""Robots of a scene in warpdyn: a launch of four steps, of one, with four sweeps."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import warp as wp

import warpdyn as wd

from ..cuda_graph import Graph
from .running import Running, Settled

NAME, PACKAGES = "warpdyn", ("warpdyn",)
SWEEPS = 4


def running(start: Settled, envs: int, threads: int, device: str = "cpu") -> list[Running]:
    if device == "cpu":
        wd.runtime.set_num_threads(threads)
    return [_running(start, envs, substeps, device) for substeps in (4, 1)]


def _running(start: Settled, envs: int, substeps: int, device: str) -> Running:
    scene = start.scene
    sim = wd.Simulation(
        scene.model,
        envs,
        points=scene.points,
        control=wd.PD(*(scene.gains or (0.0, 0.0))),
        ground=wd.Ground(scene.friction),
        start=scene.start,
        **{"dt": start.dt, "substeps": substeps, "sweeps": SWEEPS},
        device=None if device == "cpu" else device,
    )
    form = f"float32, {SWEEPS} sweeps, {substeps} step{'s' * (substeps > 1)} a launch"
    if device != "cpu":
        state = start.xyzw, np.zeros(scene.model.nv)
        return on_gpu(sim, state, scene.start[7:], substeps, form)
    sim.reset(q=start.xyzw)
    sim.targets[:] = scene.start[7:]
    return Running(form, envs, sim.step, lambda: sim.q[:, 2], substeps)


def on_gpu(
    sim: wd.Simulation,
    state: Sequence[np.ndarray],
    targets: Sequence[float] | None,
    steps: int,
    form: str,
) -> Running:
    """A simulation on a GPU, from this position and velocity of all robots, as a graph of one launch."""
    device = str(sim.q.device)

    def rows(row: Sequence[float]) -> wp.array:
        return wp.array(np.tile(np.float32(row), (sim.envs, 1)), device=device)

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
