"""Robots of a scene in Genesis on its CPU backend."""

from __future__ import annotations

import tempfile
from pathlib import Path

import genesis as gs
import numpy as np

from .running import Running, SettledScene

NAME, PACKAGES = "Genesis", ("genesis-world",)
MOST = 512
"""Environments, so that a step of all ends in a second or two."""


def running(start: SettledScene, envs: int, threads: int) -> list[Running]:
    envs = min(envs, MOST)
    gs.init(backend=gs.cpu, precision="32", logging_level="warning")
    world = gs.Scene(
        sim_options=gs.options.SimOptions(dt=start.dt, substeps=1),
        rigid_options=gs.options.RigidOptions(
            dt=start.dt,
            enable_self_collision=False,
            friction_cone=gs.friction_cone.elliptic,
            impratio=100.0,
        ),
        show_viewer=False,
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "scene.xml"
        path.write_text(start.xml)
        robot = world.add_entity(gs.morphs.MJCF(file=str(path)))
        world.build(n_envs=envs)
    names = start.scene.model.joint_names
    drives = [robot.get_joint(name).dofs_idx_local[0] for name in names]
    kp, kd = start.scene.gains or (0.0, 0.0)
    robot.set_dofs_kp(np.full(len(drives), kp), drives)
    robot.set_dofs_kv(np.full(len(drives), kd), drives)
    q = np.tile(start.data.qpos, (envs, 1))
    robot.set_qpos(q[:, : robot.n_qs])
    robot.control_dofs_position(np.tile(start.scene.start[7:], (envs, 1)), drives)
    form = "float32, Newton, its iterations, elliptic cones"
    return [Running(form, envs, world.step, lambda: robot.get_qpos().cpu().numpy()[:, 2])]
