"""Computed torque: the accelerations of the reference, corrected by errors of position and velocity."""

from __future__ import annotations

from typing import Annotated

import numpy as np

import warpdyn as wd


@wd.kernel
def computed_torque(
    robot: wd.kernels.Robot,
    q: np.ndarray,
    v: np.ndarray,
    q_desired: np.ndarray,
    v_desired: np.ndarray,
    a_desired: np.ndarray,
    f_ext: Annotated[np.ndarray, ("nlinks", 6)],
    gravity: Annotated[np.ndarray, (3,)],
    kp: Annotated[np.ndarray, ("nv",)] = 100.0,  # type: ignore[assignment]
    kd: Annotated[np.ndarray, ("nv",)] = 20.0,  # type: ignore[assignment]
) -> np.ndarray:
    """Torques that make the joints track ~/reference: the node's mode computed_torque.

    tau = M (a_d + kp (q_d - q) + kd (v_d - v)) + h. kp [1/s²]; kd [1/s].
    """
    error = robot.difference(q, q_desired)
    a = a_desired + kp * error + kd * (v_desired - v)
    tau: np.ndarray = robot.rnea(q, v, a, f_ext=f_ext, gravity=gravity)  # type: ignore[assignment]
    return tau
