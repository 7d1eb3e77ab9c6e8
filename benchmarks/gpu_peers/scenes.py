"""Steps of the settled scenes of `benchmarks.scenes` on a GPU, in warpdyn and MuJoCo Warp."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import warp as wp

from .. import scenes
from ..simulators.many_in_warpdyn import on_gpu
from ..simulators.running import Running
from .steps import record_of

NAMES = ("grasp", "pile-3", "pile-5")
FAST = 0.05
"""Largest speed of a settled body [m/s, rad/s]."""


def records(
    key: str, names: Sequence[str], batches: Sequence[int], device: str
) -> Iterator[dict[str, Any]]:
    """Yield a record for each scene, batch size and setting of the simulator."""
    for name in names:
        scene = scenes.SCENES[name]()
        for envs in batches:
            line = {"scene": name, "envs": envs}
            begun = time.perf_counter()
            try:
                for each in MEASURED[key](scene, envs, device):
                    found = line | record_of(each, device, begun)
                    if not found["speed"] <= FAST:
                        found["why"] = f"a body moves at {found['speed']:.2f} m/s or rad/s"
                    yield found
                    begun = time.perf_counter()
            except Exception as error:  # any error of a peer is printed in the table
                yield line | {"why": f"{type(error).__name__}: {str(error)[:200]}"}


def _ours(scene: scenes.Scene, envs: int, device: str) -> Iterator[Running]:
    """Yield warpdyn's simulation."""
    one = scenes.simulation(scene, 1, device)

    def advance(target: np.ndarray | None) -> None:
        one.step(None if target is None else wp.array(np.float32(target)[None], device=device))

    targets = scenes.settle(scene, advance)
    state = one.q.numpy()[0], one.v.numpy()[0]
    sim = scenes.simulation(scene, envs, device)
    steps = scenes.SUBSTEPS
    form = f"float32, {scenes.SWEEPS} sweeps, {steps} steps a launch"
    yield on_gpu(sim, state, targets, steps, form)


def _theirs(scene: scenes.Scene, envs: int, device: str) -> Iterator[Running]:
    """Yield MuJoCo Warp's simulations."""
    import mujoco  # noqa: PLC0415  not needed for warpdyn

    from ..simulators.many_in_mujoco_warp import LIMITS, stepping  # noqa: PLC0415  a peer

    robot, data = scene.in_mujoco()
    scenes.settle(scene, scenes.mujoco_step(robot, data))
    robot.opt.solver = mujoco.mjtSolver.mjSOL_NEWTON
    for limits in LIMITS:
        yield stepping(robot, data, envs, limits, device)


MEASURED = {"warpdyn": _ours, "mujoco_warp": _theirs}
