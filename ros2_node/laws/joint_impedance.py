"""Joint impedance: joints as springs and dampers around a reference."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import numpy as np

import warpdyn as wd

from .mean_damping import damping_by_ratio

Number = Annotated[np.ndarray, ()]


@wd.kernel
def joint_impedance(
    robot: wd.kernels.Robot,
    q: np.ndarray,
    v: np.ndarray,
    q_desired: np.ndarray,
    v_desired: np.ndarray,
    a_desired: np.ndarray,
    f_ext: Annotated[np.ndarray, ("nlinks", 6)],
    gravity: Annotated[np.ndarray, (3,)],
    stiffness: Annotated[np.ndarray, ("nv",)],
    damping: Annotated[np.ndarray, ("nv",)] = 0.0,  # type: ignore[assignment]
    damping_ratio: Number = 0.7,  # type: ignore[assignment]
) -> np.ndarray:
    """Torques that make the joints behave like springs and dampers around ~/reference.

    tau = M a_d + C v_d + g + K (q_d - q) + D (v_d - v), so that M ë + (C + D) ė + K e equals the
    external torques, and the arm is passive (Paden and Panja, Globally Asymptotically Stable PD+
    Controller, Int. J. Control 47, 1988).
    stiffness: K [N·m/rad, N/m].  D: `damping` [N·m·s/rad, N·s/m], plus the damping that gives every
    mode of M and K the `damping_ratio`.
    """
    # C v is quadratic in velocity, so the symmetric product C(v) v_d is a difference of two
    # squares.
    bias = robot.rnea(q, 0.5 * (v + v_desired), a_desired, f_ext=f_ext, gravity=gravity)
    bias = bias - robot.rnea(q, 0.5 * (v - v_desired), 0.0 * v, gravity=(0.0, 0.0, 0.0))
    D = damping_by_ratio(robot.crba(q), np.diag(stiffness), damping_ratio)
    rate = v_desired - v
    return bias + stiffness * robot.difference(q, q_desired) + D @ rate + damping * rate


largest_joint_impedance = {"stiffness": 1e5, "damping": 1e4, "damping_ratio": 10.0}
"""Numbers above these are mistakes: ten times those of the stiffest arm joints."""


def check_joint_impedance(inputs: Mapping[str, np.ndarray]) -> None:
    """Raise a ValueError for a spring or damper that would drive the arm."""
    for name in ("stiffness", "damping", "damping_ratio"):
        if (inputs[name] < 0.0).any():
            raise ValueError(f"{name} must be at least 0, got {inputs[name].min():g}")
