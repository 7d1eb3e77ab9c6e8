"""Teaching: an arm that is led by hand."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import numpy as np

import warpdyn as wd

Number = Annotated[np.ndarray, ()]

FELT = 0.3
"""Largest deflection of the spring of `coupling` from ~/reference [rad, m]."""


@wd.kernel
def teaching(
    robot: wd.kernels.Robot,
    q: np.ndarray,
    v: np.ndarray,
    q_posture: np.ndarray,
    f_ext: Annotated[np.ndarray, ("nlinks", 6)],
    gravity: Annotated[np.ndarray, (3,)],
    damping: Annotated[np.ndarray, ("nv",)] = 0.2,  # type: ignore[assignment]
    max_speed: Annotated[np.ndarray, ("nv",)] = 1.0,  # type: ignore[assignment]
    braking_time: Number = 0.05,  # type: ignore[assignment]
    coupling: Annotated[np.ndarray, ("nv",)] = 0.0,  # type: ignore[assignment]
) -> np.ndarray:
    """Torques for leading the arm by hand: they carry its weight, damp a little, and brake joints
    faster than `max_speed`.

    damping [N·m·s/rad, N·s/m]; max_speed [rad/s, m/s].  braking_time [s]: above that speed each
    joint is braked so that its speed halves in about this time. The braking uses 1 / (M⁻¹)_kk, the
    inertia of a joint with all other joints free, so that n joints are stable with cycles shorter
    than 2 / n of this time.
    coupling [N·m/rad, N/m]: a spring to ~/reference, through which a hand feels another arm that it
    leads; its force does not grow beyond FELT.
    The node adds friction compensation (`friction.scale`), as for every law.
    """
    alone = 1.0 / np.diag(wd.kernels.solve_symmetric(robot.crba(q), np.eye(robot.nv)))
    beyond = v - np.clip(v, -max_speed, max_speed)
    weight = robot.rnea(q, 0.0 * v, 0.0 * v, f_ext=f_ext, gravity=gravity)
    felt = coupling * np.clip(robot.difference(q, q_posture), -FELT, FELT)
    return weight + felt - damping * v - alone / braking_time * beyond


largest_teaching = {"damping": 1e4, "max_speed": 100.0, "braking_time": 10.0, "coupling": 1e5}
"""Numbers above these are mistakes."""


def check_teaching(inputs: Mapping[str, np.ndarray]) -> None:
    """Raise a ValueError for damping that would drive the arm, or for an invalid speed or braking
    time."""
    for name in ("damping", "max_speed", "coupling"):
        if (inputs[name] < 0.0).any():
            raise ValueError(f"{name} must be at least 0, got {inputs[name].min():g}")
    if inputs["braking_time"] < 0.01:
        raise ValueError(f"braking_time must be at least 0.01 s, got {inputs['braking_time']:g}")
