"""Batches of robots in simulators: the step that is timed, and a check that the robots stand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

from . import OnGround, in_mujoco

SETTLED = 4.0
"""Seconds after which a robot stands."""


@dataclass
class Running:
    """A batch. `advance` computes `steps` steps."""

    form: str
    """Precision, solver, what a call does."""
    envs: int
    advance: Callable[[], Any]
    heights: Callable[[], np.ndarray]
    """(envs,) or fewer: the bases' [m]."""
    steps: int = 1
    launches: bool = False
    """`advance` only starts the work on a GPU's current stream; it is then timed between two events."""
    finish: Callable[[Any], Any] | None = None
    """JAX on a GPU: waits for what `advance` returns."""
    restart: Callable[[], Any] | None = None
    """On a GPU: puts all robots where they began."""
    about: Callable[[], dict[str, Any]] = dict
    """Numbers to keep with the time, after the steps."""


@dataclass
class SettledScene:
    """A scene in MuJoCo that has settled. Other simulators begin in its state."""

    scene: OnGround
    dt: float
    robot: Any
    data: Any

    @property
    def height(self) -> float:
        return float(self.data.qpos[2])

    @property
    def xyzw(self) -> np.ndarray:
        """Configuration (nq,) of the settled scene, in the order of warpdyn and Newton."""
        w, x, y, z = self.data.qpos[3:7]
        return np.array([*self.data.qpos[:3], x, y, z, w, *self.data.qpos[7:]])

    def disturbances(self, envs: int) -> tuple[np.ndarray, np.ndarray]:
        """Drive targets and velocities (envs, n) that set each robot in motion."""
        draw, joints = np.random.default_rng(1), len(self.scene.start) - 7
        targets = np.array(self.scene.start[7:]) + draw.uniform(-0.1, 0.1, (envs, joints))
        speeds = np.zeros((envs, 6 + joints))
        speeds[:, 6:] = draw.uniform(-0.5, 0.5, (envs, joints))
        return targets, speeds

    @property
    def xml(self) -> str:
        """MJCF of the scene with its ground."""
        spec = in_mujoco.scene_spec(self.scene, self.dt)
        spec.compile()
        return spec.to_xml()


def room(data: Any) -> dict[str, int]:
    """Numbers of contacts and constraint rows for MuJoCo Warp's memory: twice those of the start."""
    return {"nconmax": 2 * data.ncon, "njmax": 8 * data.ncon}


def settle(scene: OnGround, dt: float) -> SettledScene:
    robot, data = in_mujoco.build(scene, dt)
    mujoco.mj_step(robot, data, nstep=round(SETTLED / dt))
    return SettledScene(scene, dt, robot, data)
