"""Robots of a scene in warpdyn: a launch of four steps, of one, with four sweeps."""

from __future__ import annotations

import numpy as np

import warpdyn as wd

from .running import Running, Settled

NAME, PACKAGES = "warpdyn", ("warpdyn",)


def running(start: Settled, envs: int, threads: int) -> list[Running]:
    wd.runtime.set_num_threads(threads)
    return [_running(start, envs, substeps) for substeps in (4, 1)]


def _running(start: Settled, envs: int, substeps: int) -> Running:
    scene = start.scene
    sim = wd.Simulation(
        scene.model,
        envs,
        points=scene.points,
        control=wd.PD(*(scene.gains or (0.0, 0.0))),
        ground=wd.Ground(scene.friction),
        start=scene.start,
        **{"dt": start.dt, "substeps": substeps, "sweeps": 4},
    )
    w, x, y, z = start.data.qpos[3:7]
    sim.reset(q=np.array([*start.data.qpos[:3], x, y, z, w, *start.data.qpos[7:]]))
    sim.targets[:] = scene.start[7:]
    form = f"float32, 4 sweeps, {substeps} step{'s' * (substeps > 1)} a launch"
    return Running(form, envs, sim.step, lambda: sim.q[:, 2], substeps)
