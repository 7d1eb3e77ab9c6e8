"""Operational-space control: the hand gets a wanted acceleration, and the null space holds a posture."""

from __future__ import annotations

from typing import Annotated

import numpy as np

import warpdyn as wd


@wd.kernel
def task_and_posture(
    robot: wd.kernels.Robot,
    q: np.ndarray,
    v: np.ndarray,
    q_rest: np.ndarray,
    wanted: Annotated[np.ndarray, (6,)],
    *,
    frame: str,
    stiffness: float = 20.0,
    damping: float = 4.0,
) -> np.ndarray:
    """Torques that give `frame` the acceleration `wanted` and pull towards `q_rest` in the null space.

    Khatib, IEEE J. Robotics and Automation RA-3 (1987): tau = Jᵀ (Λ A + bias) + (1 - Jᵀ J̄ᵀ) tau0.
    """
    inertia, bias, inverse = robot.operational_space(q, v, frame=frame)
    J = robot.jacobian(q, frame=frame)
    posture = stiffness * robot.difference(q, q_rest) - damping * v
    return J.T @ (inertia @ wanted + bias - inverse.T @ posture) + posture


HAND = "panda_hand"
model, B = wd.load_robot("panda"), 1024
rng = np.random.default_rng(0)
rest = 0.5 * (model.position_lower + model.position_upper)
q = rest + rng.uniform(-0.3, 0.3, (B, model.nq))
v, q_rest = rng.uniform(-1, 1, (B, model.nv)), np.tile(rest, (B, 1))
wanted = rng.uniform(-2, 2, (B, 6))

tau = task_and_posture(model, q, v, q_rest, wanted, frame=HAND)

# Under these torques the hand has the wanted acceleration in every posture.
a = wd.aba(model, q, v, tau)
J = wd.jacobian(model, q, frame=HAND)
achieved = np.einsum("bij,bj->bi", J, a) + wd.frame_bias_acceleration(model, q, v, frame=HAND)
difference = np.abs(achieved - wanted).max()
print(f"the hand's acceleration is off by {difference:.1e} m/s², rad/s² at most")
