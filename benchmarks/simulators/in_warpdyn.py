"""Scenes on the ground in warpdyn, float64, one robot."""

from __future__ import annotations

import numpy as np

import warpdyn as wd

from . import DISSIPATION, Motion, OnGround, collect

NAME, PACKAGES = "warpdyn", ("warpdyn",)
SAYS = "4 sweeps; stiffness of a point k, dissipation 0.01 s; float64"


def roll_out(scene: OnGround, dt: float, sweeps: int = 4) -> Motion:
    model = scene.model
    sim = wd.Simulation(
        model,
        1,
        points=scene.points,
        control=wd.PD(*scene.gains) if scene.gains else None,
        ground=wd.Ground(scene.friction, scene.stiffness, DISSIPATION),
        gravity=scene.gravity,
        start=scene.start,
        dtype="float64",
        dt=dt,
        substeps=1,
        sweeps=sweeps,
    )
    speed = np.zeros(model.nv)
    speed[:3] = scene.speed  # bases start upright: the base's axes are the world's
    sim.reset(v=speed)
    if scene.gains:
        sim.targets[:] = scene.start[7:]
    rows = []
    for _ in range(round(scene.seconds / dt)):
        sim.step()
        x, y, z, w = sim.q[0, 3:7]
        u = np.array([x, y, z])
        v = sim.v[0, :3]
        turned = v + 2 * np.cross(u, np.cross(u, v) + w * v)  # into the world's axes
        rows.append((sim.q[0, :3].copy(), turned, sim.forces[0].sum(0)))
    return collect(dt, rows)
