"""Robots of a scene in Newton: SolverMuJoCo, which is MuJoCo Warp on Newton's arrays; on CUDA a graph."""

from __future__ import annotations

import numpy as np
import warp as wp

from ..cuda_graph import Graph
from ..peers import CannotDo
from ..peers.newton import MOST_ON_GPU
from .running import Running, SettledScene, room

import newton as nt  # isort: skip  (Warp's settings first)

NAME, PACKAGES = "Newton", ("newton", "mujoco-warp")
MOST = 512
"""Environments on a CPU, so that a step of all ends in a second or two."""


def running(start: SettledScene, envs: int, threads: int, device: str = "cpu") -> list[Running]:
    if device == "cpu":
        envs = min(envs, MOST)
    elif envs > MOST_ON_GPU:
        raise CannotDo(f"building a model of more than {MOST_ON_GPU:,} worlds takes minutes")
    with wp.ScopedDevice(device):
        one = nt.ModelBuilder(gravity=(0.0, 0.0, -9.81))
        nt.solvers.SolverMuJoCo.register_custom_attributes(one)
        one.add_mjcf(start.xml, enable_self_collisions=False)
        whole = nt.ModelBuilder(gravity=(0.0, 0.0, -9.81))
        whole.replicate(one, envs)
        model = whole.finalize()
        solver = nt.solvers.SolverMuJoCo(
            model,
            cone="elliptic",
            impratio=100.0,
            integrator="implicitfast",
            **room(start.data),
        )
        states, control = [model.state(), model.state()], model.control()
    q = start.xyzw
    states[0].joint_q.assign(np.tile(q, envs).astype(np.float32))
    targets = np.tile(start.scene.start[7:], envs).astype(np.float32)
    full = np.tile(q, (envs, 1)).astype(np.float32)
    full[:, 7:] = start.scene.start[7:]
    control.joint_target_q.assign(full.ravel())
    direct = getattr(getattr(control, "mujoco", None), "ctrl", None)
    if direct is not None:  # of actuators that it leaves to MuJoCo
        direct.assign(targets.reshape(direct.shape))

    def advance() -> None:
        with wp.ScopedDevice(device):
            solver.step(states[0], states[1], control, None, start.dt)
        states.reverse()

    form = "float32, SolverMuJoCo: Newton, elliptic cones, its iterations"
    heights = lambda: states[0].joint_q.numpy().reshape(envs, -1)[:, 2]  # noqa: E731
    if device == "cpu":
        return [Running(form, envs, advance, heights)]
    first = states[0]
    begin = [(x, wp.clone(x)) for x in (first.joint_q, first.joint_qd)]

    def restart() -> None:
        for values, copy in begin:
            wp.copy(values, copy)

    graph = Graph(advance, device, times=2)  # each step writes the other state
    form += ", graph of two"
    return [Running(form, envs, graph, heights, 2, launches=True, restart=restart)]
