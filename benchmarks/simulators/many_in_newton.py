"""Robots of a scene in Newton: SolverMuJoCo, which is MuJoCo Warp on Newton's arrays."""

from __future__ import annotations

import numpy as np
import warp as wp

from .running import Running, Settled

import newton as nt  # isort: skip  (Warp's settings first)

NAME, PACKAGES = "Newton", ("newton", "mujoco-warp")
MOST = 512
"""Environments, so that a step of all ends in a second or two."""


def running(start: Settled, envs: int, threads: int) -> list[Running]:
    envs = min(envs, MOST)
    with wp.ScopedDevice("cpu"):
        one = nt.ModelBuilder(gravity=(0.0, 0.0, -9.81))
        nt.solvers.SolverMuJoCo.register_custom_attributes(one)
        one.add_mjcf(start.xml, enable_self_collisions=False)
        whole = nt.ModelBuilder(gravity=(0.0, 0.0, -9.81))
        whole.replicate(one, envs)
        model = whole.finalize()
        solver = nt.solvers.SolverMuJoCo(
            model, cone="elliptic", impratio=100.0, integrator="implicitfast", njmax=64, nconmax=8
        )
        states, control = [model.state(), model.state()], model.control()
    w, x, y, z = start.data.qpos[3:7]
    q = np.array([*start.data.qpos[:3], x, y, z, w, *start.data.qpos[7:]])
    states[0].joint_q.assign(np.tile(q, envs).astype(np.float32))
    targets = np.tile(start.scene.start[7:], envs).astype(np.float32)
    full = np.tile(q, (envs, 1)).astype(np.float32)
    full[:, 7:] = start.scene.start[7:]
    control.joint_target_q.assign(full.ravel())
    direct = getattr(getattr(control, "mujoco", None), "ctrl", None)
    if direct is not None:  # of actuators that it leaves to MuJoCo
        direct.assign(targets.reshape(direct.shape))

    def advance() -> None:
        with wp.ScopedDevice("cpu"):
            solver.step(states[0], states[1], control, None, start.dt)
        states.reverse()

    form = "float32, SolverMuJoCo: Newton, elliptic cones, its iterations"
    return [Running(form, envs, advance, lambda: states[0].joint_q.numpy().reshape(envs, -1)[:, 2])]
