"""Many robots of a scene that other simulators step: what is timed, and that they still stand."""

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
    """A batch that `advance` takes a step on, or `steps` at once."""

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
class Settled:
    """A scene in MuJoCo, where it stands; others begin there."""

    scene: OnGround
    dt: float
    robot: Any
    data: Any

    @property
    def height(self) -> float:
        return float(self.data.qpos[2])

    @property
    def xyzw(self) -> np.ndarray:
        """(nq,), where it stands, as warpdyn's and Newton's."""
        w, x, y, z = self.data.qpos[3:7]
        return np.array([*self.data.qpos[:3], x, y, z, w, *self.data.qpos[7:]])

    def disturbed(self, envs: int) -> tuple[np.ndarray, np.ndarray]:
        """Targets of the drives and velocities (envs, n) that set each robot in motion."""
        draw, joints = np.random.default_rng(1), len(self.scene.start) - 7
        targets = np.array(self.scene.start[7:]) + draw.uniform(-0.1, 0.1, (envs, joints))
        speeds = np.zeros((envs, 6 + joints))
        speeds[:, 6:] = draw.uniform(-0.5, 0.5, (envs, joints))
        return targets, speeds

    @property
    def xml(self) -> str:
        """MJCF of the scene, its ground included."""
        spec = in_mujoco.described(self.scene, self.dt)
        spec.compile()
        return spec.to_xml()


def room(data: Any) -> dict[str, int]:
    """Contacts and rows of constraints for which MuJoCo Warp has memory: twice those of the start."""
    return {"nconmax": 2 * data.ncon, "njmax": 8 * data.ncon}


def settled(scene: OnGround, dt: float) -> Settled:
    robot, data = in_mujoco.built(scene, dt)
    mujoco.mj_step(robot, data, nstep=round(SETTLED / dt))
    return Settled(scene, dt, robot, data)
