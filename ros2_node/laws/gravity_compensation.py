"""Gravity compensation: the torques that carry the robot's weight."""

from __future__ import annotations

from typing import Annotated

import numpy as np

import warpdyn as wd


@wd.kernel
def gravity_compensation(
    robot: wd.kernels.Robot,
    q: np.ndarray,
    v: np.ndarray,
    f_ext: Annotated[np.ndarray, ("nlinks", 6)],
    gravity: Annotated[np.ndarray, (3,)],
) -> np.ndarray:
    """Torques that hold the robot against gravity: the node's mode gravity, g(q)."""
    tau: np.ndarray = robot.rnea(q, 0.0 * v, 0.0 * v, f_ext=f_ext, gravity=gravity)  # type: ignore[assignment]
    return tau
